import { z } from 'zod';
import { Count, Timestamp } from '../values/primitives.ts';
import { canonicalJson } from './canonical.ts';
import { EntryHash } from './entry.ts';

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const MANIFEST_VERSION = 1;
export const MANIFEST_FILE = 'manifest.json';
export const PEOPLE_FILE = 'people.json';
export const entriesFileOf = (format: ExportFormat): string => `entries.${format}`;

/** Beside the manifest, never elsewhere. */
const FileName = z.string().regex(/^[a-z]+\.[a-z]+$/, 'a plain file name');

/** What an export says about itself; signed, so that nobody can change both the entries and this. */
export const Manifest = z.strictObject({
  manifest_version: z.literal(MANIFEST_VERSION),
  workspace_id: z.string(),
  format: z.enum(EXPORT_FORMATS),
  entries: Count.min(1),
  first_sequence: Count,
  last_sequence: Count,
  /** Of the entry before the first. */
  previous_hash: EntryHash,
  /** Of the last entry: it stands for every entry before it. */
  head_hash: EntryHash,
  entries_by_type: z.record(z.string(), Count),
  files: z.array(z.strictObject({ name: FileName, bytes: Count, sha256: EntryHash })),
  exported_at: Timestamp,
  /** First 16 hexadecimal digits of the SHA-256 of the public key (SPKI, DER). */
  public_key_id: z.string(),
  /** SPKI in DER, base64. It proves nothing on its own: compare its id with what the operator told you. */
  public_key: z.base64(),
  /** Ed25519 over the canonical text of everything else here, base64. */
  signature: z.base64(),
});
export type Manifest = z.infer<typeof Manifest>;

export const signedTextOf = ({ signature: _signature, ...rest }: Manifest): string => canonicalJson(rest);

/** The one way in which the file is written. */
export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** The people behind the member ids of an export, as far as they were not erased when it was made. */
export type ExportedPerson = {
  readonly member_id: string;
  readonly name: string | null;
  readonly email: string | null;
};
