import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { chainHash, GENESIS, type HistoryEntry, historyRecordOf } from '#contracts/audit/entry.ts';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type Manifest,
  manifestText,
  signedTextOf,
} from '#contracts/audit/manifest.ts';
import {
  createSigningKey,
  publicKeyId,
  publicKeyText,
  readPublicKey,
  readSigningKey,
} from '#services/ops/audit/signing-key.ts';
import { verifyExport } from '#services/ops/audit/verify-export.ts';
import { writeExport } from '#services/ops/audit/write-export.ts';
import { recorded } from '../dsl/projections.ts';

/** Exports made without servers, then spoilt in every way: each is found, and named by its entry. */
const ENTRIES = 7;
const WORKSPACE_ID = 'ws_1';
const { audit_signing_key } = createSigningKey();
const signingKey = readSigningKey(audit_signing_key);

const chained = (events: ReturnType<typeof recorded>): HistoryEntry[] => {
  let before = GENESIS;
  return events.map((event, index) => {
    const record = historyRecordOf(event);
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
const exportedTo = (directory: string, format: ExportFormat, people: typeof PEOPLE | null) =>
  writeExport({
    workspaceId: WORKSPACE_ID,
    format,
    directory,
    entries: (async function* () {
      yield* entries;
    })(),
    people,
    signingKey,
    exportedAt: new Date(0),
  });
const exported = async (format: ExportFormat): Promise<string> => {
  const directory = join(root, String((made += 1)));
  await exportedTo(directory, format, PEOPLE);
  return directory;
};

const faultsOf = async (directory: string): Promise<string[]> =>
  (await verifyExport(directory, signingKey.publicKey)).faults.map(
    ({ kind, sequence }) => `${kind} ${sequence}`,
  );

/** Lines of the entries without the header, and a way to write them back. */
const spoilLines = async (
  format: ExportFormat,
  change: (lines: string[]) => readonly string[] | string,
): Promise<string[]> => {
  const directory = await exported(format);
  const file = join(directory, `entries.${format}`);
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  const header = format === 'csv' ? lines.splice(0, 1) : [];
  const changed = change(lines);
  const text = typeof changed === 'string' ? changed : `${changed.join('\n')}\n`;
  await writeFile(file, header.map((line) => `${line}\n`).join('') + text);
  return await faultsOf(directory);
};

const spoilManifest = async (change: (manifest: Manifest) => Manifest): Promise<string[]> => {
  const directory = await exported('ndjson');
  const file = join(directory, 'manifest.json');
  await writeFile(file, manifestText(change(JSON.parse(await readFile(file, 'utf8')) as Manifest)));
  return await faultsOf(directory);
};

describe.each(EXPORT_FORMATS)('an export as %s', (format) => {
  test('verifies as it was made', async () => {
    expect(await verifyExport(await exported(format), signingKey.publicKey)).toMatchObject({
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

  test('with any byte flipped is found, at the entry that holds it', async () => {
    const directory = await exported(format);
    const file = join(directory, `entries.${format}`);
    const whole = await readFile(file);
    const headers = format === 'csv' ? 1 : 0;
    let line = 1 - headers;
    for (const [at, byte] of whole.entries()) {
      if (at % 3 !== 0 && byte !== 0x0a) continue;
      const spoilt = Buffer.from(whole);
      spoilt[at] = byte ^ 1;
      await writeFile(file, spoilt);
      const { faults } = await verifyExport(directory, null);
      const [first] = faults;
      // A line feed belongs to both its neighbours: without it they are one line.
      const expected = line === 0 ? [null, 1] : [line, line + 1];
      expect(expected, `byte ${at}: ${JSON.stringify(faults)}`).toContain(first?.sequence);
      if (byte === 0x0a) line += 1;
    }
  });

  test('with an entry dropped names it', async () => {
    expect(await spoilLines(format, (lines) => lines.toSpliced(3, 1))).toEqual(['missing 4']);
    expect(await spoilLines(format, (lines) => lines.toSpliced(0, 2))).toEqual(['missing 1', 'missing 2']);
  });

  test('with entries reordered names the one that stands too late', async () => {
    const swap = (lines: string[]) => lines.toSpliced(2, 2, lines[3] ?? '', lines[2] ?? '');
    expect(await spoilLines(format, swap)).toEqual(['reordered 3']);
  });

  test('with an entry repeated names it', async () => {
    expect(await spoilLines(format, (lines) => lines.toSpliced(3, 0, lines[2] ?? ''))).toEqual([
      'repeated 3',
    ]);
  });

  test('cut short names the first entry that is not there', async () => {
    expect(await spoilLines(format, (lines) => lines.slice(0, 5))).toEqual(['cut_short 6']);
    const within = await spoilLines(format, (lines) => lines.join('\n').slice(0, -200));
    expect(new Set(within)).toEqual(new Set([`cut_short ${ENTRIES}`]));
    expect(await spoilLines(format, () => '')).toEqual(['cut_short 1']);
  });
});

describe('an export', () => {
  test('with entries made anew from one on, hashes and all, does not end where the manifest says', async () => {
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
    expect(await spoilLines('ndjson', rewritten)).toEqual([`changed ${ENTRIES}`]);
  });

  test('with an entry of another workspace in it', async () => {
    const foreign = (lines: string[]) => lines.map((line) => line.replace('"ws_1"', '"ws_2"'));
    expect(await spoilLines('ndjson', foreign)).toContain('changed 1');
  });

  test('with its manifest altered', async () => {
    expect(
      await spoilManifest((manifest) => ({ ...manifest, exported_at: '2026-01-01T00:00:00.000Z' })),
    ).toEqual(['signature null']);
    expect(await spoilManifest((manifest) => ({ ...manifest, last_sequence: 6, entries: 6 }))).toContain(
      'changed 7',
    );
    const longer = (manifest: Manifest) => ({ ...manifest, last_sequence: Number.MAX_SAFE_INTEGER });
    expect(await spoilManifest(longer)).toEqual(['signature null', `cut_short ${ENTRIES + 1}`]);
    expect(await spoilManifest((manifest) => ({ ...manifest, files: [] }))).toContain('manifest null');
    expect(await spoilManifest((manifest) => ({ ...manifest, extra: 1 }) as Manifest)).toEqual([
      'manifest null',
    ]);
  });

  test('leaves nothing of one that was made in the same folder before, nor its people', async () => {
    const directory = await exported('csv');
    await exportedTo(directory, 'ndjson', null);
    expect((await readdir(directory)).toSorted()).toEqual(['entries.ndjson', 'manifest.json']);
    expect(await faultsOf(directory)).toEqual([]);
  });

  test('signed anew with another key', async () => {
    const other = generateKeyPairSync('ed25519');
    const faults = await spoilManifest((manifest) => {
      const claimed = {
        ...manifest,
        public_key: publicKeyText(other.publicKey),
        public_key_id: publicKeyId(other.publicKey),
      };
      const text = Buffer.from(signedTextOf(claimed), 'utf8');
      return { ...claimed, signature: sign(null, text, other.privateKey).toString('base64') };
    });
    expect(faults).toEqual(['signature null']);
  });

  test('with files missing or changed', async () => {
    const directory = await exported('csv');
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
  test('are read as seed and as PEM, and nothing else', () => {
    const pem = signingKey.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    expect(publicKeyId(readSigningKey(pem).publicKey)).toBe(publicKeyId(signingKey.publicKey));
    const publicPem = signingKey.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    expect(publicKeyId(readPublicKey(publicPem))).toBe(publicKeyId(signingKey.publicKey));
    for (const wrong of ['', 'c2hvcnQ=', pem.slice(0, 60)]) {
      expect(() => readSigningKey(wrong)).toThrow('AUDIT_SIGNING_KEY is no Ed25519 key');
      expect(() => readPublicKey(wrong)).toThrow('no Ed25519 public key');
    }
  });
});
