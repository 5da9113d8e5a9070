import { parse } from 'csv-parse/sync';
import { type Hash, createHash, sign } from 'node:crypto';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createReadStream } from 'node:fs';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { GENESIS_HASH, HistoryEntry, canonicalRecordText, chainHash } from '#contracts/audit/entry.ts';
import { type Names, sentenceOf } from '#contracts/audit/sentence.ts';
import { csvLines, textOfCsvField } from '#application/exports/csv-lines.ts';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportedPerson,
  MANIFEST_FILE,
  MANIFEST_VERSION,
  type Manifest,
  PEOPLE_FILE,
  SENTENCES_FILE,
  entriesFileName,
  manifestSigningText,
  manifestText,
} from '#contracts/audit/manifest.ts';
import { type SigningKey, publicKeyId, publicKeyText } from '#application/audit/signing-key.ts';
import { terminalLine } from '#platform/process/terminal-output.ts';
import { fileLines } from './file-lines.ts';

/** Converts history entries to lines of an export and back. An entry has exactly one valid line. */
const CSV_COLUMNS = [
  'sequence',
  'recorded_at',
  'type',
  'actor_kind',
  'actor_id',
  'resource_category',
  'resource_id',
  'resource_revision',
  'data',
  'request_id',
  'correlation_id',
  'causation_id',
  'workspace_id',
  'fact_id',
  'position',
  'schema_version',
  'hash',
] as const;
/** Line end of audit exports in every format. */
const LINE_END = '\n';

const csvLineOf = (entry: HistoryEntry): string => {
  const { actor, resource, data, ...plain } = entry;
  const cells: Readonly<Record<(typeof CSV_COLUMNS)[number], string | number>> = {
    ...plain,
    actor_kind: actor.kind,
    actor_id: actor.id,
    resource_category: resource.category,
    resource_id: resource.id,
    resource_revision: resource.revision,
    data: canonicalJson(data),
  };
  return csvLines([CSV_COLUMNS.map((column) => cells[column])], LINE_END).slice(0, -LINE_END.length);
};

const entryOfCsv = (line: string): unknown => {
  const [fields = []] = parse(line);
  const cells = fields.map(textOfCsvField);
  if (cells.length !== CSV_COLUMNS.length)
    throw new Error(`it has ${cells.length} cells instead of ${CSV_COLUMNS.length}`);
  const {
    actor_kind,
    actor_id,
    resource_category,
    resource_id,
    resource_revision,
    sequence,
    schema_version,
    data,
    ...plain
  } = Object.fromEntries(CSV_COLUMNS.map((column, index) => [column, cells[index] as string])) as Record<
    (typeof CSV_COLUMNS)[number],
    string
  >;
  return {
    ...plain,
    sequence: Number(sequence),
    schema_version: Number(schema_version),
    actor: { kind: actor_kind, id: actor_id },
    resource: { category: resource_category, id: resource_id, revision: resource_revision },
    data: JSON.parse(data),
  };
};

export const headerOf = (format: ExportFormat): string | null =>
  format === 'csv' ? CSV_COLUMNS.join() : null;

export const lineOf = (format: ExportFormat, entry: HistoryEntry): string =>
  format === 'csv' ? csvLineOf(entry) : canonicalJson(entry);

/** Parses a line. Throws unless it is byte for byte the output of `lineOf`. */
export const entryOf = (format: ExportFormat, line: string): HistoryEntry => {
  const entry = HistoryEntry.parse(format === 'csv' ? entryOfCsv(line) : JSON.parse(line));
  if (lineOf(format, entry) !== line) throw new Error('it is not in the canonical form of exports');
  return entry;
};

const WRITE_CHARACTERS = 256 * 1024;
const PRIVATE_MODE = 0o600;

export type ExportInput = {
  readonly workspaceId: string;
  readonly format: ExportFormat;
  readonly directory: string;
  readonly entries: AsyncIterable<HistoryEntry>;
  /** Decrypted members; `null` without a vault, and then the export contains no names. */
  readonly people: readonly ExportedPerson[] | null;
  /** Names for the sentences of entries. */
  readonly readNames: (entries: readonly HistoryEntry[]) => Promise<Names>;
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

/** Entries whose names are read together. */
const NAMED_TOGETHER = 500;

/** Reads the entries that were written, so that the sentences and the state of the chain are about these. */
const writeSentences = async function* ({
  format,
  directory,
  workspaceId,
  readNames,
  exportedAt,
}: ExportInput): AsyncGenerator<string> {
  yield `History of workspace ${workspaceId}, exported at ${exportedAt.toISOString()}\n\n`;
  let chain = { sequence: 0, hash: GENESIS_HASH, brokenAt: null as number | null };
  let waiting: HistoryEntry[] = [];
  const tell = async (): Promise<string> => {
    const names = await readNames(waiting);
    const lines = waiting.map((entry) =>
      terminalLine(`${entry.sequence}  ${entry.recorded_at}  ${sentenceOf(entry, names)}`),
    );
    waiting = [];
    return lines.map((line) => `${line}\n`).join('');
  };
  const sum = { bytes: 0, sha256: '' };
  let isHeader = headerOf(format) !== null;
  for await (const line of fileLines(join(directory, entriesFileName(format)), sum)) {
    if (line === null) throw new Error('the entries that were just written are not valid UTF-8');
    if (isHeader) {
      isHeader = false;
      continue;
    }
    const entry = entryOf(format, line.text);
    const expected = chain.sequence + 1;
    const isNext =
      entry.sequence === expected &&
      chainHash(chain.hash, expected, canonicalRecordText(entry)) === entry.hash;
    const brokenAt = chain.brokenAt ?? (isNext ? null : expected);
    chain = { sequence: entry.sequence, hash: entry.hash, brokenAt };
    waiting.push(entry);
    if (waiting.length >= NAMED_TOGETHER) yield await tell();
  }
  yield await tell();
  yield chain.brokenAt === null
    ? `\nThe chain is whole up to entry ${chain.sequence}, with the head hash ${chain.hash}.\n`
    : `\nThe chain is broken at entry ${chain.brokenAt}.\n`;
};

/** Writes the entries, the people and, last, the signed manifest. A folder without a manifest is an unfinished export. */
export const writeExport = async (input: ExportInput): Promise<Manifest> => {
  const { workspaceId, format, directory, people, signingKey, exportedAt } = input;
  await mkdir(directory, { recursive: true });
  // Removes the files of an earlier export in this folder: its people may have been erased since.
  const before = [MANIFEST_FILE, PEOPLE_FILE, SENTENCES_FILE, ...EXPORT_FORMATS.map(entriesFileName)];
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
  files.push(await writeFile(directory, SENTENCES_FILE, writeSentences(input)));

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

const BLOCK_BYTES = 512;
/** Maximum file size: the size field has eleven octal digits. */
const FILE_MAX_BYTES = 8 ** 11 - 1;
const FILE_MODE = 0o600;
/** Offset of the checksum: the sum of the header's bytes, computed with this field filled with spaces. */
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

const tarHeader = (name: string, bytes: number, modified: Date): Buffer => {
  if (bytes > FILE_MAX_BYTES) throw new Error(`${name} is too large for one archive`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100, 'ascii');
  header.write(octal(FILE_MODE, 7), 100, 'ascii');
  header.write(octal(0, 7) + octal(0, 7), 108, 'ascii');
  header.write(octal(bytes, 11) + octal(Math.floor(modified.getTime() / 1_000), 11), 124, 'ascii');
  header.fill(' ', CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES);
  header.write('0', 156, 'ascii');
  header.write('ustar\x0000', 257, 'ascii');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, CHECKSUM_AT, 'ascii');
  return header;
};

export const streamTar = async function* (
  directory: string,
  names: readonly string[],
): AsyncGenerator<Buffer> {
  for (const name of names) {
    const path = join(directory, name);
    const { size, mtime } = await stat(path);
    yield tarHeader(name, size, mtime);
    yield* createReadStream(path) as AsyncIterable<Buffer>;
    yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
};
