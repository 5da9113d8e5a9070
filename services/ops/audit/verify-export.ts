import { type KeyObject, verify } from 'node:crypto';
import { z } from 'zod';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HistoryEntry, canonicalRecordText, chainHash } from '#contracts/audit/entry.ts';
import {
  MANIFEST_FILE,
  Manifest,
  entriesFileName,
  manifestSigningText,
  manifestText,
} from '#contracts/audit/manifest.ts';
import { type FileLine, type FileSum, fileLines } from './file-lines.ts';
import { entryOf, headerOf } from './write-export.ts';
import { publicKeyId, readPublicKey } from '#application/audit/signing-key.ts';

/** A difference between an export and its original; `sequence` is `null` when it concerns no single entry. */
export type Fault = {
  readonly sequence: number | null;
  readonly kind:
    | 'changed'
    | 'missing'
    | 'cut_short'
    | 'reordered'
    | 'repeated'
    | 'unreadable'
    | 'manifest'
    | 'signature'
    | 'file';
  readonly message: string;
};

export const FAULTS_MAX = 100;

type CheckedEntry = { readonly entry: HistoryEntry; readonly computed: string | null };

const reasonOf = (error: unknown): string => {
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  if (issue) return `${issue.path.join('.')}: ${issue.message}`;
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] as string;
};

/** Returns a fault for each missing sequence number. Missing numbers at the end mean that the export was truncated. */
const gapFaults = (seen: ReadonlySet<number>, manifest: Manifest): Fault[] => {
  const { first_sequence, last_sequence } = manifest;
  const faults: Fault[] = [];
  // In a tampered manifest, `last_sequence` can be any number, so the entries present are the bound.
  let last = first_sequence - 1;
  for (const sequence of seen) if (sequence <= last_sequence) last = Math.max(last, sequence);
  for (let sequence = first_sequence; sequence < last && faults.length < FAULTS_MAX; sequence += 1) {
    if (seen.has(sequence)) continue;
    faults.push({ sequence, kind: 'missing', message: `entry ${sequence} is missing` });
  }
  if (last < last_sequence) {
    const what = `the export is truncated: entries ${last + 1} to ${last_sequence} are missing`;
    faults.push({ sequence: last + 1, kind: 'cut_short', message: what });
  }
  return faults;
};

/** Checks an export line by line and collects its faults. Call `take` for each line, then `finish`. */
export class EntryCheck {
  readonly faults: Fault[] = [];
  readonly #manifest: Manifest;
  readonly #seen = new Set<number>();
  #line = 0;
  #headerDue: boolean;
  #before: CheckedEntry | null = null;
  #highest = 0;
  #types = new Map<string, number>();

  constructor(manifest: Manifest) {
    this.#manifest = manifest;
    this.#headerDue = headerOf(manifest.format) !== null;
  }

  #fault(sequence: number | null, kind: Fault['kind'], message: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ sequence, kind, message });
  }

  take(line: FileLine | null): void {
    this.#line += 1;
    if (this.#headerDue) {
      this.#headerDue = false;
      if (line?.text !== headerOf(this.#manifest.format)) {
        this.#fault(null, 'changed', 'line 1, the column names, was changed');
      }
      return;
    }
    const expected = (this.#before?.entry.sequence ?? this.#highest) + 1;
    if (line !== null && !line.ended) {
      this.#fault(
        expected,
        'cut_short',
        `the export is truncated within line ${this.#line}, after entry ${expected - 1}`,
      );
      return;
    }
    try {
      if (line === null) throw new Error('it is not valid UTF-8');
      this.#takeEntry(this.#numbered(entryOf(this.#manifest.format, line.text), expected));
    } catch (error) {
      this.#fault(
        expected,
        'unreadable',
        `entry ${expected} (line ${this.#line}) was changed: ${reasonOf(error)}`,
      );
      // An invalid line occupies its sequence number. The next entry cannot be checked against it.
      this.#seen.add(expected);
      this.#highest = expected;
      this.#before = null;
    }
  }

  /** Corrects a changed sequence number when the hash of the entry still matches the expected position. */
  #numbered(entry: HistoryEntry, expected: number): HistoryEntry {
    const { first_sequence, previous_hash } = this.#manifest;
    const hash = expected === first_sequence ? previous_hash : this.#before?.entry.hash;
    if (entry.sequence === expected || hash === undefined) return entry;
    if (chainHash(hash, expected, canonicalRecordText(entry)) !== entry.hash) return entry;
    const message = `entry ${expected} was changed: its sequence number is ${entry.sequence}`;
    this.#fault(expected, 'changed', message);
    return { ...entry, sequence: expected };
  }

  #takeEntry(entry: HistoryEntry): void {
    const { sequence } = entry;
    const { workspace_id, first_sequence, last_sequence, previous_hash } = this.#manifest;
    if (entry.workspace_id !== workspace_id) {
      this.#fault(
        sequence,
        'changed',
        `entry ${sequence} belongs to another workspace, ${entry.workspace_id}`,
      );
    }
    if (sequence < first_sequence || sequence > last_sequence) {
      const range = `${first_sequence} to ${last_sequence}`;
      this.#fault(sequence, 'changed', `entry ${sequence} is outside the range ${range} of the manifest`);
    }
    if (this.#seen.has(sequence)) {
      this.#fault(sequence, 'repeated', `entry ${sequence} is repeated in line ${this.#line}`);
    } else if (sequence < this.#highest) {
      const message = `entry ${sequence} follows entry ${this.#highest}, in line ${this.#line}: entries were reordered`;
      this.#fault(sequence, 'reordered', message);
    }
    const before = this.#before;
    const candidates =
      sequence === first_sequence
        ? [previous_hash]
        : before?.entry.sequence === sequence - 1
          ? // If only the stored hash of the previous entry was changed, this entry still matches the computed one.
            [before.entry.hash, ...(before.computed === null ? [] : [before.computed])]
          : [];
    const text = canonicalRecordText(entry);
    const computed = candidates.map((hash) => chainHash(hash, sequence, text));
    if (candidates.length > 0 && !computed.includes(entry.hash)) {
      this.#fault(sequence, 'changed', `entry ${sequence} was changed: its hash does not match its content`);
    }
    this.#before = { entry, computed: computed[0] ?? null };
    this.#seen.add(sequence);
    this.#highest = Math.max(this.#highest, sequence);
    this.#types.set(entry.type, (this.#types.get(entry.type) ?? 0) + 1);
  }

  /** Returns all faults, after the last line: also missing entries, and a chain that does not match the manifest. */
  finish(): readonly Fault[] {
    const manifest = this.#manifest;
    this.faults.push(...gapFaults(this.#seen, manifest));
    if (this.faults.length > 0) return this.faults;
    if (this.#before?.entry.hash !== manifest.head_hash) {
      const message =
        'the chain does not end with the head hash of the manifest: entries were rewritten from some point on';
      this.#fault(manifest.last_sequence, 'changed', message);
    }
    if (this.#seen.size !== manifest.entries) {
      this.#fault(
        null,
        'manifest',
        `the manifest states ${manifest.entries} entries, the export has ${this.#seen.size}`,
      );
    }
    for (const type of new Set([...this.#types.keys(), ...Object.keys(manifest.entries_by_type)])) {
      const counted = manifest.entries_by_type[type] ?? 0;
      const found = this.#types.get(type) ?? 0;
      if (counted === found) continue;
      this.#fault(
        null,
        'manifest',
        `the manifest states ${counted} entries of type ${type}, the export has ${found}`,
      );
    }
    return this.faults;
  }
}

export type Verdict = {
  readonly manifest: Manifest | null;
  /** True when the signature was checked with the caller's key; false when with the key in the export itself. */
  readonly key_compared: boolean;
  readonly faults: readonly Fault[];
};

const fault = (kind: Fault['kind'], message: string): Fault => ({ sequence: null, kind, message });

const readManifest = async (directory: string): Promise<Manifest | string> => {
  const text = await readFile(join(directory, MANIFEST_FILE), 'utf8').catch(() => null);
  if (text === null) return `${MANIFEST_FILE} is missing: the export did not finish, or the file was removed`;
  try {
    const read = Manifest.safeParse(JSON.parse(text));
    if (read.success) {
      if (manifestText(read.data) === text) return read.data;
      return `${MANIFEST_FILE} was changed: it is not in the canonical form of exports`;
    }
    const [issue] = read.error.issues;
    return `${MANIFEST_FILE} was changed: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
  } catch {
    return `${MANIFEST_FILE} was changed: it is not valid JSON`;
  }
};

const signatureFaults = (manifest: Manifest, held: KeyObject | null): readonly Fault[] => {
  let own: KeyObject;
  try {
    own = readPublicKey(manifest.public_key);
  } catch {
    return [fault('signature', `${MANIFEST_FILE} was changed: its public key is invalid`)];
  }
  if (held && publicKeyId(held) !== publicKeyId(own)) {
    const [theirs, ours] = [publicKeyId(own), publicKeyId(held)];
    return [fault('signature', `${MANIFEST_FILE} is signed with key ${theirs}, not with your key ${ours}`)];
  }
  const signed = Buffer.from(manifestSigningText(manifest), 'utf8');
  const holds = verify(null, signed, own, Buffer.from(manifest.signature, 'base64'));
  if (holds && manifest.public_key_id === publicKeyId(own)) return [];
  return [fault('signature', `${MANIFEST_FILE} was changed after it was signed`)];
};

const sumOf = async (path: string): Promise<FileSum | null> => {
  const sum: FileSum = { bytes: 0, sha256: '' };
  try {
    for await (const _ of fileLines(path, sum));
    return sum;
  } catch {
    return null;
  }
};

const fileFault = ({ name, bytes, sha256 }: Manifest['files'][number], sum: FileSum | null): Fault[] => {
  if (sum === null) return [fault('file', `${name} is missing`)];
  if (sum.bytes !== bytes) return [fault('file', `${name} has ${sum.bytes} bytes instead of ${bytes}`)];
  return sum.sha256 === sha256 ? [] : [fault('file', `${name} was changed`)];
};

/** Verifies an export offline. `held`: the operator's public key; without it, the key in the manifest is used. */
export const verifyExport = async (directory: string, held: KeyObject | null): Promise<Verdict> => {
  const manifest = await readManifest(directory);
  if (typeof manifest === 'string') {
    return { manifest: null, key_compared: false, faults: [fault('manifest', manifest)] };
  }
  const faults = [...signatureFaults(manifest, held)];
  const entriesFile = entriesFileName(manifest.format);
  if (!manifest.files.some(({ name }) => name === entriesFile)) {
    faults.push(fault('manifest', `${MANIFEST_FILE} was changed: it does not name ${entriesFile}`));
  }
  for (const file of manifest.files) {
    const path = join(directory, file.name);
    if (file.name !== entriesFile) {
      faults.push(...fileFault(file, await sumOf(path)));
      continue;
    }
    const check = new EntryCheck(manifest);
    const sum: FileSum = { bytes: 0, sha256: '' };
    try {
      for await (const line of fileLines(path, sum)) check.take(line);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      faults.push(...fileFault(file, null));
      continue;
    }
    // Faults of entries are more precise. The file hash catches changes between entries.
    const found = check.finish();
    faults.push(...(found.length > 0 ? found : fileFault(file, sum)));
  }
  return { manifest, key_compared: held !== null, faults };
};
