import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { chainHash, GENESIS_HASH, type HistoryEntry, toHistoryRecord } from '#contracts/audit/entry.ts';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type Manifest,
  manifestText,
  manifestSigningText,
} from '#contracts/audit/manifest.ts';
import {
  createSigningKey,
  publicKeyId,
  publicKeyText,
  readPublicKey,
  readSigningKey,
} from '#application/audit/signing-key.ts';
import { verifyExport } from '#services/ops/audit/verify-export.ts';
import { writeExport } from '#services/ops/audit/write-export.ts';
import { recorded } from '../dsl/projections.ts';

const ENTRIES = 7;
/** Distance of two flipped bytes. Each line feed is flipped too. */
const FLIPPED_EVERY = 13;
const WORKSPACE_ID = 'ws_1';
const { audit_signing_key } = createSigningKey();
const signingKey = readSigningKey(audit_signing_key);

const chained = (events: ReturnType<typeof recorded>): HistoryEntry[] => {
  let before = GENESIS_HASH;
  return events.map((event, index) => {
    const record = toHistoryRecord(event);
    before = chainHash(before, index + 1, canonicalJson(record));
    return { sequence: index + 1, ...record, hash: before };
  });
};
const entries = chained(
  recorded(
    Array.from({ length: ENTRIES }, (_, index) => ({
      stream: `note-${WORKSPACE_ID}+n${index % 2}`,
      event: {
        type: index % 3 === 0 ? 'NoteWritten' : 'NoteRemoved',
        data: { text: `"Größe", ${index}\n\u2028=1+1` },
      },
    })),
  ),
);

let root: string;
let made = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'audit-export-'));
});
afterAll(() => rm(root, { recursive: true }));

const PEOPLE = [{ member_id: 'mem_1', name: 'Ada', email: 'ada@shop.example' }];
const exportTo = (directory: string, format: ExportFormat, people: typeof PEOPLE | null) =>
  writeExport({
    workspaceId: WORKSPACE_ID,
    format,
    directory,
    entries: (async function* () {
      yield* entries;
    })(),
    people,
    signingKey,
    readNames: async () => new Map(),
    exportedAt: new Date(0),
  });
const exportNew = async (format: ExportFormat): Promise<string> => {
  const directory = join(root, String((made += 1)));
  await exportTo(directory, format, PEOPLE);
  return directory;
};

const faultsOf = async (directory: string): Promise<string[]> =>
  (await verifyExport(directory, signingKey.publicKey)).faults.map(
    ({ kind, sequence }) => `${kind} ${sequence}`,
  );

/** Changes entry lines of a new export, not its header. Returns the faults that are found. */
const tamperLines = async (
  format: ExportFormat,
  change: (lines: string[]) => readonly string[] | string,
): Promise<string[]> => {
  const directory = await exportNew(format);
  const file = join(directory, `entries.${format}`);
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  const header = format === 'csv' ? lines.splice(0, 1) : [];
  const changed = change(lines);
  const text = typeof changed === 'string' ? changed : `${changed.join('\n')}\n`;
  await writeFile(file, header.map((line) => `${line}\n`).join('') + text);
  return await faultsOf(directory);
};

const tamperManifest = async (change: (manifest: Manifest) => Manifest): Promise<string[]> => {
  const directory = await exportNew('ndjson');
  const file = join(directory, 'manifest.json');
  await writeFile(file, manifestText(change(JSON.parse(await readFile(file, 'utf8')) as Manifest)));
  return await faultsOf(directory);
};

test('an export of a release that wrote no sentences verifies', async () => {
  const directory = await exportNew('csv');
  const file = join(directory, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
  const earlier = { ...manifest, files: manifest.files.filter(({ name }) => name !== 'history.txt') };
  const signature = sign(null, Buffer.from(manifestSigningText(earlier)), signingKey.privateKey);
  await writeFile(file, manifestText({ ...earlier, signature: signature.toString('base64') }));
  await rm(join(directory, 'history.txt'));
  expect(await faultsOf(directory)).toEqual([]);
});

describe.each(EXPORT_FORMATS)('an export as %s', (format) => {
  test('verifies when unchanged', async () => {
    expect(await verifyExport(await exportNew(format), signingKey.publicKey)).toMatchObject({
      faults: [],
      key_compared: true,
      manifest: {
        entries: ENTRIES,
        first_sequence: 1,
        last_sequence: ENTRIES,
        head_hash: entries.at(-1)?.hash,
      },
    });
  });

  test('fails at the entry with a flipped byte', async () => {
    const directory = await exportNew(format);
    const file = join(directory, `entries.${format}`);
    const whole = await readFile(file);
    const headers = format === 'csv' ? 1 : 0;
    let line = 1 - headers;
    for (const [at, byte] of whole.entries()) {
      if (at % FLIPPED_EVERY !== 0 && byte !== 0x0a) continue;
      const tampered = Buffer.from(whole);
      tampered[at] = byte ^ 1;
      await writeFile(file, tampered);
      const { faults } = await verifyExport(directory, null);
      const [first] = faults;
      // A changed line feed merges two lines, so either entry may be named.
      const expected = line === 0 ? [null, 1] : [line, line + 1];
      expect(expected, `byte ${at}: ${JSON.stringify(faults)}`).toContain(first?.sequence);
      if (byte === 0x0a) line += 1;
    }
  });

  test('names an entry that was dropped', async () => {
    expect(await tamperLines(format, (lines) => lines.toSpliced(3, 1))).toEqual(['missing 4']);
    expect(await tamperLines(format, (lines) => lines.toSpliced(0, 2))).toEqual(['missing 1', 'missing 2']);
  });

  test('names the entry that comes too late when entries were reordered', async () => {
    const swap = (lines: string[]) => lines.toSpliced(2, 2, lines[3] ?? '', lines[2] ?? '');
    expect(await tamperLines(format, swap)).toEqual(['reordered 3']);
  });

  test('names an entry that was repeated', async () => {
    expect(await tamperLines(format, (lines) => lines.toSpliced(3, 0, lines[2] ?? ''))).toEqual([
      'repeated 3',
    ]);
  });

  test('names the first missing entry when the file was truncated', async () => {
    expect(await tamperLines(format, (lines) => lines.slice(0, 5))).toEqual(['cut_short 6']);
    const within = await tamperLines(format, (lines) => lines.join('\n').slice(0, -200));
    expect(new Set(within)).toEqual(new Set([`cut_short ${ENTRIES}`]));
    expect(await tamperLines(format, () => '')).toEqual(['cut_short 1']);
  });
});

describe('an export', () => {
  test('fails when entries and their hashes were rewritten from one entry on', async () => {
    const { hash: before = '' } = entries[2] ?? {};
    const rewritten = (lines: string[]): string[] => {
      let hash = before;
      return lines.map((line, index) => {
        if (index < 3) return line;
        const { hash: _hash, sequence, ...record } = JSON.parse(line) as HistoryEntry;
        const text = canonicalJson({ ...record, request_id: 'other' });
        hash = chainHash(hash, sequence, text);
        return canonicalJson({ ...JSON.parse(text), sequence, hash });
      });
    };
    expect(await tamperLines('ndjson', rewritten)).toEqual([`changed ${ENTRIES}`]);
  });

  test('fails when it contains entries of another workspace', async () => {
    const foreign = (lines: string[]) => lines.map((line) => line.replace('"ws_1"', '"ws_2"'));
    expect(await tamperLines('ndjson', foreign)).toContain('changed 1');
  });

  test('fails when its manifest was changed', async () => {
    expect(
      await tamperManifest((manifest) => ({ ...manifest, exported_at: '2026-01-01T00:00:00.000Z' })),
    ).toEqual(['signature null']);
    expect(await tamperManifest((manifest) => ({ ...manifest, last_sequence: 6, entries: 6 }))).toContain(
      'changed 7',
    );
    const longer = (manifest: Manifest) => ({ ...manifest, last_sequence: Number.MAX_SAFE_INTEGER });
    expect(await tamperManifest(longer)).toEqual(['signature null', `cut_short ${ENTRIES + 1}`]);
    expect(await tamperManifest((manifest) => ({ ...manifest, files: [] }))).toContain('manifest null');
    expect(await tamperManifest((manifest) => ({ ...manifest, extra: 1 }) as Manifest)).toEqual([
      'manifest null',
    ]);
  });

  test('removes the files of an earlier export in the same folder, including its people', async () => {
    const directory = await exportNew('csv');
    await exportTo(directory, 'ndjson', null);
    expect((await readdir(directory)).toSorted()).toEqual(['entries.ndjson', 'history.txt', 'manifest.json']);
    expect(await faultsOf(directory)).toEqual([]);
  });

  test('fails when it was signed again with another key', async () => {
    const other = generateKeyPairSync('ed25519');
    const faults = await tamperManifest((manifest) => {
      const claimed = {
        ...manifest,
        public_key: publicKeyText(other.publicKey),
        public_key_id: publicKeyId(other.publicKey),
      };
      const text = Buffer.from(manifestSigningText(claimed), 'utf8');
      return { ...claimed, signature: sign(null, text, other.privateKey).toString('base64') };
    });
    expect(faults).toEqual(['signature null']);
  });

  test('fails when files are missing or changed', async () => {
    const directory = await exportNew('csv');
    await writeFile(join(directory, 'people.json'), '[]\n');
    expect(await faultsOf(directory)).toEqual(['file null']);
    await rm(join(directory, 'people.json'));
    expect(await faultsOf(directory)).toEqual(['file null']);
    await rm(join(directory, 'entries.csv'));
    expect(await faultsOf(directory)).toEqual(['file null', 'file null']);
    await rm(join(directory, 'manifest.json'));
    expect(await faultsOf(directory)).toEqual(['manifest null']);
  });
});

describe('signing keys', () => {
  test('are accepted as seed and as PEM, and rejected otherwise', () => {
    const pem = signingKey.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    expect(publicKeyId(readSigningKey(pem).publicKey)).toBe(publicKeyId(signingKey.publicKey));
    const publicPem = signingKey.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    expect(publicKeyId(readPublicKey(publicPem))).toBe(publicKeyId(signingKey.publicKey));
    for (const wrong of ['', 'c2hvcnQ=', pem.slice(0, 60)]) {
      expect(() => readSigningKey(wrong)).toThrow('AUDIT_SIGNING_KEY is not an Ed25519 key');
      expect(() => readPublicKey(wrong)).toThrow('Not an Ed25519 public key');
    }
  });
});
