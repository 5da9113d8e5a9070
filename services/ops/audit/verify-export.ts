import { createHash, type KeyObject, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  entriesFileName,
  Manifest,
  MANIFEST_FILE,
  manifestText,
  manifestSigningText,
} from '#contracts/audit/manifest.ts';
import { type FileSum, fileLines } from './file-lines.ts';
import { publicKeyId, readPublicKey } from './signing-key.ts';
import { EntryCheck, type Fault } from './verify-entries.ts';

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
  const bytes = await readFile(path).catch(() => null);
  return bytes && { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
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
