import { createHash, type Hash, sign } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { GENESIS_HASH, type HistoryEntry } from '#contracts/audit/entry.ts';
import {
  entriesFileName,
  EXPORT_FORMATS,
  type ExportedPerson,
  type ExportFormat,
  type Manifest,
  manifestText,
  MANIFEST_FILE,
  MANIFEST_VERSION,
  PEOPLE_FILE,
  manifestSigningText,
} from '#contracts/audit/manifest.ts';
import { headerOf, lineOf } from './entry-lines.ts';
import { publicKeyId, publicKeyText, type SigningKey } from './signing-key.ts';

const WRITE_CHARACTERS = 256 * 1024;
const PRIVATE_MODE = 0o600;

export type ExportInput = {
  readonly workspaceId: string;
  readonly format: ExportFormat;
  readonly directory: string;
  readonly entries: AsyncIterable<HistoryEntry>;
  /** Decrypted members; `null` without a vault, and then the export contains no names. */
  readonly people: readonly ExportedPerson[] | null;
  readonly signingKey: SigningKey;
  readonly exportedAt: Date;
};

type WrittenFile = Manifest['files'][number];

const writeFile = async (
  directory: string,
  name: string,
  texts: AsyncIterable<string> | Iterable<string>,
): Promise<WrittenFile> => {
  const sum: Hash = createHash('sha256');
  let bytes = 0;
  await using handle = await open(join(directory, name), 'w', PRIVATE_MODE);
  let waiting = '';
  const flush = async (): Promise<void> => {
    const buffer = Buffer.from(waiting, 'utf8');
    waiting = '';
    sum.update(buffer);
    bytes += buffer.length;
    await handle.appendFile(buffer);
  };
  for await (const text of texts) {
    waiting += text;
    if (waiting.length >= WRITE_CHARACTERS) await flush();
  }
  await flush();
  await handle.sync();
  return { name, bytes, sha256: sum.digest('hex') };
};

/** Writes the entries, the people and, last, the signed manifest. A folder without a manifest is an unfinished export. */
export const writeExport = async (input: ExportInput): Promise<Manifest> => {
  const { workspaceId, format, directory, people, signingKey, exportedAt } = input;
  await mkdir(directory, { recursive: true });
  // Removes the files of an earlier export in this folder: its people may have been erased since.
  const before = [MANIFEST_FILE, PEOPLE_FILE, ...EXPORT_FORMATS.map(entriesFileName)];
  await Promise.all(before.map((name) => rm(join(directory, name), { force: true })));
  const byType = new Map<string, number>();
  let first: HistoryEntry | undefined;
  let last: HistoryEntry | undefined;
  const lines = async function* (): AsyncGenerator<string> {
    const header = headerOf(format);
    if (header !== null) yield `${header}\n`;
    for await (const entry of input.entries) {
      first ??= entry;
      last = entry;
      byType.set(entry.type, (byType.get(entry.type) ?? 0) + 1);
      yield `${lineOf(format, entry)}\n`;
    }
  };
  const files = [await writeFile(directory, entriesFileName(format), lines())];
  if (people !== null) files.push(await writeFile(directory, PEOPLE_FILE, [`${canonicalJson(people)}\n`]));

  const unsigned: Omit<Manifest, 'signature'> = {
    manifest_version: MANIFEST_VERSION,
    workspace_id: workspaceId,
    format,
    entries: [...byType.values()].reduce((sum, count) => sum + count, 0),
    first_sequence: first?.sequence ?? 0,
    last_sequence: last?.sequence ?? 0,
    previous_hash: GENESIS_HASH,
    head_hash: last?.hash ?? GENESIS_HASH,
    entries_by_type: Object.fromEntries(byType),
    files,
    exported_at: exportedAt.toISOString(),
    public_key_id: publicKeyId(signingKey.publicKey),
    public_key: publicKeyText(signingKey.publicKey),
  };
  const text = manifestSigningText({ ...unsigned, signature: '' });
  const signature = sign(null, Buffer.from(text, 'utf8'), signingKey.privateKey).toString('base64');
  const manifest: Manifest = { ...unsigned, signature };
  await writeFile(directory, MANIFEST_FILE, [manifestText(manifest)]);
  return manifest;
};
