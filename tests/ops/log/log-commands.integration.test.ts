import { randomBytes, randomUUID } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAppendStream } from '#platform/event-store/append-stream.ts';
import type { RawLog } from '#platform/event-store/copy/raw-log.ts';
import { namedUrl, openSource, openTarget } from '#services/ops/cli/commands/log.ts';
import { checkLogFile } from '#services/ops/log/file.ts';
import { openHostedCommands } from '../fixtures/hosted-commands.ts';
import { compare, createStores, type Ended, eventsOf, fill, startLogCommand } from './stores.ts';

const LONG_MS = 120_000;
/** Large events make a copy take long enough to be killed under way. */
const LARGE_EVENTS = 25;
const LARGE_BYTES = 300_000;
const KILLS = 2;

const commands = openHostedCommands();
const stores = createStores();
let source: string;
let folder: string;
beforeAll(async () => {
  folder = await stores.folder();
  source = await stores.start();
  await fill(source, 60);
  await using appends = openAppendStream(source);
  for (let revision = -1n; revision < LARGE_EVENTS - 1; revision += 1n) {
    const data = Buffer.from(JSON.stringify(randomBytes(LARGE_BYTES).toString('base64')));
    const event = { id: randomUUID(), type: 'Large', contentType: 'application/json', data };
    const events = [{ ...event, metadata: Buffer.from('{}') }];
    await appends.append({ stream: 'large-1', expected: revision, events }, LONG_MS);
  }
}, LONG_MS);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await stores[Symbol.asyncDispose]();
});

const start = (...words: readonly string[]) =>
  startLogCommand({ DATA_DIR: folder, EVENT_STORE_URL: source }, ...words);
const run = (...words: readonly string[]): Promise<Ended> =>
  commands.run(['--json', 'log', ...words], { DATA_DIR: folder, EVENT_STORE_URL: source });
const reply = ({ stdout }: Ended): unknown => JSON.parse(stdout);

const size = async (log: RawLog): Promise<number> => (await eventsOf(log)).length;
const end = async (log: RawLog): Promise<bigint | null> => {
  for await (const { position } of log.backwards(null)) return position;
  return null;
};
const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

describe('the commands for whole logs', { timeout: LONG_MS }, () => {
  test('copy continues after kill -9, and compare then finds both logs equal', async () => {
    const url = await stores.start();
    const [from, to] = [stores.open(source), stores.open(url)];
    const total = await size(from);
    const sizes: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = await end(to);
      const copying = start('copy', '--to', url);
      await expect.poll(() => end(to), { timeout: LONG_MS, interval: 5 }).not.toBe(before);
      copying.kill();
      await copying.ended;
      sizes.push(await size(to));
    }
    expect(sizes[0]).toBeLessThan(total);
    const early = await run('compare', '--to', url, '--by-stream');
    expect(early.code).toBe(1);
    expect(reply(early)).toMatchObject({
      equal: false,
      events: total,
      differing: expect.arrayContaining(['large-1']),
    });
    expect(reply(await run('copy', '--to', url))).toMatchObject({ complete: true });
    const late = await run('compare', '--to', url);
    expect(late.code).toBe(0);
    expect(reply(late)).toMatchObject({ equal: true, events: total, events_in_target: total, differing: [] });
    expect(await compare(from, to)).toMatchObject({ isEqual: true });
  });

  test('export continues after kill -9, and the file equals the log', async () => {
    const file = join(folder, 'log.ndjson.gz');
    const exporting = start('export', file);
    const hasBegun = async () => (await isThere(`${file}.part.json`)) || (await isThere(file));
    await expect.poll(hasBegun, { timeout: LONG_MS, interval: 5 }).toBe(true);
    exporting.kill();
    await exporting.ended;
    expect(await isThere(file)).toBe(false);
    const events = await size(stores.open(source));
    expect(reply(await run('export', file))).toMatchObject({ events });
    expect(await checkLogFile(file)).toBe(events);
    expect(reply(await run('compare', '--to', file))).toMatchObject({ equal: true });
  });

  test('refuse a target that is the source, and one without the right credentials', async () => {
    const closed = new URL(
      (await stores.start({ user: 'ops', password: 'secret' })).replace('esdb:', 'http:'),
    );
    const open = `esdb://${closed.host}?tls=false`;
    const [same, refused] = await Promise.all([run('copy', '--to', source), run('copy', '--to', open)]);
    expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining('onto itself') });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('refuses this user') });
    const wrong = `esdb://ops:wrong@${closed.host}?tls=false`;
    await expect(openSource(wrong)).rejects.toThrow(/refuses this user/);
    await expect(openSource(wrong)).rejects.not.toThrow(/wrong/);
  });

  test('say what is wrong with the URL of a server', async () => {
    await expect(namedUrl('nowhere')).rejects.toThrow('esdb://user:password@host:2113');
    await expect(namedUrl('esdb://203.0.113.7:2113?tls=false')).rejects.toThrow(/would not be encrypted/);
    await expect(openTarget('esdb://127.0.0.1:9?tls=false')).rejects.toThrow(
      /The event store esdb:\/\/127\.0\.0\.1:9\?tls=false does not respond/,
    );
  });
});
