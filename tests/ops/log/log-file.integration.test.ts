import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RawLog } from '#platform/event-store/copy/raw-log.ts';
import { copyLog, fileSource } from '#services/ops/log/transfer.ts';
import { checkLogFile, writeLogFile } from '#services/ops/log/file.ts';
import { compare, createStores, eventsOf, fill, untilEnd } from './stores.ts';

const LONG_MS = 60_000;
/** More events than a block has, in more appends than are on their way at a time. */
const ROUNDS = 120;
const EACH = 10;

const stores = createStores();
let source: string;
let folder: string;
let file: string;
let lines: readonly string[];
let number = 0;
const textOf = async (name: string): Promise<string> => gunzipSync(await readFile(name)).toString('utf8');
beforeAll(async () => {
  folder = await stores.folder();
  source = await stores.start();
  await fill(source, ROUNDS, EACH);
  file = join(folder, 'whole.ndjson.gz');
  await writeLogFile(file, stores.open(source));
  lines = (await textOf(file)).trimEnd().split('\n');
}, LONG_MS);
afterAll(() => stores[Symbol.asyncDispose]());

const importFile = (
  name: string,
  to: RawLog,
  onProgress: () => void = () => undefined,
  signal = untilEnd(),
) => copyLog(fileSource(name), to, onProgress, signal);

const fileOf = async (bytes: Buffer | readonly string[]): Promise<string> => {
  const name = join(folder, `changed-${(number += 1)}.ndjson.gz`);
  await writeFile(name, Buffer.isBuffer(bytes) ? bytes : gzipSync(`${bytes.join('\n')}\n`));
  return name;
};
const swapped = (): readonly string[] => {
  const changed = [...lines];
  [changed[3], changed[4]] = [changed[4] ?? '', changed[3] ?? ''];
  return changed;
};

describe('a file of a log', { timeout: LONG_MS }, () => {
  test('is imported into an empty event store, which then equals the log and the file', async () => {
    const [from, to] = [stores.open(source), await stores.empty()];
    expect(await checkLogFile(file)).toBe((await eventsOf(from)).length);
    const ending = new AbortController();
    const first = await importFile(file, to, () => ending.abort(), ending.signal);
    expect(first).toBeLessThan(ROUNDS * EACH);
    expect(await importFile(file, to)).toBe(ROUNDS * EACH - first);
    expect(await importFile(file, to)).toBe(0);
    expect(await compare(from, to)).toMatchObject({ isEqual: true });
    const again = join(folder, 'of-the-copy.ndjson.gz');
    await writeLogFile(again, to);
    expect(await textOf(again)).toBe(await textOf(file));
  });

  test('that two exports write at once is never damaged: one of them is refused', async () => {
    const name = join(folder, 'twice.ndjson.gz');
    const log = stores.open(source);
    const ended = await Promise.allSettled([writeLogFile(name, log), writeLogFile(name, log)]);
    const refused = ended.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const reason of refused)
      expect(reason).toMatch(/Another export writes to .*twice\.ndjson\.gz\.part/);
    if (refused.length === 2) await writeLogFile(name, log);
    expect(await textOf(name)).toBe(await textOf(file));
  });

  test.each([
    ['cut short', async () => fileOf((await readFile(file)).subarray(0, 900)), /cut short/],
    ['without its last block', () => fileOf(lines.slice(0, 1_002)), /cut short/],
    ['without its end', () => fileOf(lines.slice(0, -1)), /cut short/],
    ['that is empty', () => fileOf(Buffer.alloc(0)), /cut short/],
    ['without any line', () => fileOf(gzipSync('')), /no log file/],
    [
      'with a changed event',
      () => fileOf(lines.map((line, at) => (at === 5 ? line.replace('"revision"', '"revisiom"') : line))),
      /no event/,
    ],
    [
      'with other data',
      () => fileOf(lines.map((line) => line.replaceAll('quoted', 'edited'))),
      /changed, removed, added or reordered/,
    ],
    ['with two events swapped', () => fileOf(swapped()), /reordered/],
    ['without an event', () => fileOf(lines.filter((_, at) => at !== 4)), /removed/],
    ['without its first block', () => fileOf([lines[0] ?? '', ...lines.slice(1_002)]), /removed/],
    [
      'with an event twice',
      () => fileOf(lines.flatMap((line, at) => (at === 4 ? [line, line] : [line]))),
      /added/,
    ],
    ['that goes on after its end', () => fileOf([...lines, lines[2] ?? '']), /goes on after its end/],
    ['of something else', () => fileOf(['{"a":1}']), /no log file/],
    ['that is not compressed', () => fileOf(Buffer.from(lines.join('\n'))), /compression/],
    ['that does not exist', async () => join(folder, 'nothing'), /does not exist/],
  ] as const)('%s is refused before anything is copied', async (_, make, sentence) => {
    const appended: unknown[] = [];
    const target = {
      backwards: async function* () {},
      openWriter: () => ({
        append: async (...all: unknown[]) => appended.push(all),
        [Symbol.asyncDispose]: async () => undefined,
      }),
    } as unknown as RawLog;
    await expect(importFile(await make(), target)).rejects.toThrow(sentence);
    expect(appended).toEqual([]);
  });

  test('is refused by a target that holds another log', async () => {
    const other = await stores.start();
    await fill(other, 2);
    await expect(importFile(file, stores.open(other))).rejects.toThrow('The target is no copy of this log');
  });

  test('appears only when it is whole, and is continued after its last block', async () => {
    await expect(writeLogFile(file, stores.open(source))).rejects.toThrow(/exists/);
    const log = stores.open(source);
    const broken = join(folder, 'broken.ndjson.gz');
    const breaking: RawLog = {
      ...log,
      forwards: async function* (after) {
        let count = 0;
        for await (const event of log.forwards(after)) {
          if ((count += 1) > 1_100) throw new Error('the disk broke');
          yield event;
        }
      },
    };
    await expect(writeLogFile(broken, breaking)).rejects.toThrow('the disk broke');
    await expect(readFile(broken)).rejects.toThrow('ENOENT');
    // Bytes after the last whole block, as a killed process leaves them.
    await writeFile(`${broken}.part`, 'half a block', { flag: 'a' });
    const written: number[] = [];
    await writeLogFile(broken, log, { onWritten: (_event, count) => void written.push(count) });
    expect(written[0]).toBe(1_001);
    expect(await textOf(broken)).toBe(await textOf(file));
    expect((await readdir(folder)).filter((name) => name.includes('part'))).toEqual([]);
  });

  test('is not continued with another log', async () => {
    const log = stores.open(source);
    const other = await stores.start();
    await fill(other, 1);
    const name = join(folder, 'mixed.ndjson.gz');
    const ending = new AbortController();
    const stopped = await writeLogFile(name, log, {
      onWritten: (_event, count) => void (count > 1_100 && ending.abort()),
      signal: ending.signal,
    });
    expect(stopped).toBeNull();
    await expect(writeLogFile(name, stores.open(other))).rejects.toThrow('was begun from another log');
  });
});
