import { z } from 'zod';
import { Count, Timestamp } from '../values/primitives.ts';
import { canonicalJson } from './canonical.ts';
import { EntryHash } from './entry.ts';

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const MANIFEST_VERSION = 1;
export const MANIFEST_FILE = 'manifest.json';
export const PEOPLE_FILE = 'people.json';
/** A sentence for each entry. Exports of earlier releases have none. */
export const SENTENCES_FILE = 'history.txt';
export const entriesFileName = (format: ExportFormat): string => `entries.${format}`;

/** A plain file name without a folder: every file is next to the manifest. */
const FileName = z.string().regex(/^[a-z]+\.[a-z]+$/, 'a plain file name');

/** Description of an export. It is signed, so that changing the entries and the manifest together is detected. */
export const Manifest = z.strictObject({
  manifest_version: z.literal(MANIFEST_VERSION),
  workspace_id: z.string(),
  format: z.enum(EXPORT_FORMATS),
  entries: Count.min(1),
  first_sequence: Count,
  last_sequence: Count,
  /** Hash of the entry before the first exported one. */
  previous_hash: EntryHash,
  /** Hash of the last entry. Through the chain it covers every entry before it. */
  head_hash: EntryHash,
  entries_by_type: z.record(z.string(), Count),
  files: z.array(z.strictObject({ name: FileName, bytes: Count, sha256: EntryHash })),
  exported_at: Timestamp,
  /** First 16 hexadecimal digits of the SHA-256 of the public key (SPKI, DER). */
  public_key_id: z.string(),
  /** SPKI in DER, base64. It proves nothing by itself: compare its id with the one that the operator published. */
  public_key: z.base64(),
  /** Ed25519 signature over the canonical text of all other fields, base64. */
  signature: z.base64(),
});
export type Manifest = z.infer<typeof Manifest>;

export const manifestSigningText = ({ signature: _signature, ...rest }: Manifest): string =>
  canonicalJson(rest);

/** Returns the text of the manifest file. Every writer uses this one format. */
export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** The person behind a member id of an export. Values that are unknown, or were erased before the export, are `null`. */
export type ExportedPerson = {
  readonly member_id: string;
  readonly name: string | null;
  readonly email: string | null;
};
