import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  SCRAPE_REQUESTED,
  OBSERVATION_BODIES_STREAM,
  OBSERVATIONS_STREAM,
  SCRAPES_STREAM,
} from '#contracts/messages/subjects.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { compareStreams, DEFAULT_STREAM_SETTINGS, ensureStreams } from '#platform/nats/streams.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { createTestNats } from '#tests/stack/database.ts';
import { proxied } from '../../faults/fault-proxy.ts';

const CLI = join(import.meta.dirname, '../../../services/ops/cli.ts');
const resources = new AsyncDisposableStack();
let url: string;
let nats: Nats;
beforeAll(async () => {
  const server = await createTestNats();
  resources.defer(() => server.stop());
  ({ url } = server);
  nats = resources.use(await openNats(url, 'test'));
});
afterAll(() => resources.disposeAsync());

const ops = async (...words: readonly string[]): Promise<{ readonly differences: readonly object[] }> => {
  const env = { ...inheritedEnvironment(), DATA_DIR: '/nowhere', NATS_URL: url, OBSERVATIONS_MAX_GB: '2' };
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, '--json', ...words], { env });
  return JSON.parse(stdout);
};

test('values that an operator chose for a stream are kept, shown, and changed only by `nats apply`', async () => {
  expect(await compareStreams(nats.manager, DEFAULT_STREAM_SETTINGS)).toEqual([]);
  const { config } = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  const chosen = { ...config, max_bytes: 123_456_789, max_age: 3_600_000_000_000 };
  await nats.manager.streams.update(OBSERVATIONS_STREAM, chosen);
  await nats.manager.streams.delete(SCRAPES_STREAM);

  await ensureStreams(nats);
  await (await openNats(url, 'another process'))[Symbol.asyncDispose]();
  const kept = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  expect(kept.config).toMatchObject({ max_bytes: 123_456_789, max_age: 3_600_000_000_000 });
  expect((await nats.manager.streams.info(SCRAPES_STREAM)).config.num_replicas).toBe(1);

  const shown = await ops('nats', 'streams');
  expect(shown.differences).toMatchObject([
    { stream: OBSERVATIONS_STREAM, value: 'max_age', is: 3_600_000_000_000, ours: config.max_age },
    { stream: OBSERVATIONS_STREAM, value: 'max_bytes', is: 123_456_789, ours: 2 * 1024 ** 3 },
    { stream: OBSERVATION_BODIES_STREAM, value: 'max_bytes', is: 8 * 1024 ** 3, ours: 2 * 1024 ** 3 },
  ]);
  expect(await ops('nats', 'apply')).toEqual({ values_changed: 3 });
  expect((await ops('nats', 'streams')).differences).toEqual([]);
  const applied = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  expect(applied.config).toMatchObject({ max_bytes: 2 * 1024 ** 3, max_age: config.max_age });
});

test('a subject that an existing stream lacks is added', async () => {
  const { config } = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  await nats.manager.streams.update(OBSERVATIONS_STREAM, { ...config, subjects: ['extra.own'] });
  await ensureStreams(nats);
  const { subjects } = (await nats.manager.streams.info(OBSERVATIONS_STREAM)).config;
  expect(subjects).toEqual(['extra.own', 'observations.>']);
});

test('streams that do not fit into the storage of a node are refused with what to do', async () => {
  const server = await createTestNats();
  try {
    const settings = { ...DEFAULT_STREAM_SETTINGS, OBSERVATIONS_MAX_GB: 10_000 };
    await expect(openNats(server.url, 'test', settings)).rejects.toThrow(
      /OBSERVATIONS needs 10737418240000 free bytes of file storage .*max_file_store.*OBSERVATIONS_MAX_GB/,
    );
    await (await openNats(server.url, 'test', { ...settings, OBSERVATIONS_MAX_GB: 1 }))[
      Symbol.asyncDispose
    ]();
  } finally {
    await server.stop();
  }
});

test('copies without a cluster are refused with what to do', async () => {
  const server = await createTestNats();
  try {
    const settings = { ...DEFAULT_STREAM_SETTINGS, NATS_REPLICAS: 3 };
    await expect(openNats(server.url, 'test', settings)).rejects.toThrow(
      'NATS_REPLICAS=3 needs a cluster of as many NATS nodes. Start them, or set NATS_REPLICAS=1.',
    );
  } finally {
    await server.stop();
  }
});

test('a connection whose streams cannot be created is closed', async () => {
  const server = await createTestNats();
  try {
    const through = await proxied(server.url);
    await using proxy = through.proxy;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const opening = openNats(through.url, 'test', { ...DEFAULT_STREAM_SETTINGS, NATS_REPLICAS: 3 });
      await expect(opening).rejects.toThrow('NATS_REPLICAS=3');
    }
    await expect.poll(() => proxy.connections()).toBe(0);
  } finally {
    await server.stop();
  }
});

/** Limit of replacing a silent connection: 15 s to notice, 1 s to open another, and as long again. */
const REPLACED_MS = 32_000;

test('a connection that was cut off without a word is replaced', { timeout: 60_000 }, async () => {
  const through = await proxied(url);
  await using proxy = through.proxy;
  await using client = await openNats(through.url, 'cut off');
  const publish = (): Promise<unknown> => client.jetstream.publish(SCRAPE_REQUESTED, 'one', { timeout: 500 });
  await publish();
  proxy.halfOpen();
  const since = performance.now();
  await expect
    .poll(
      () =>
        publish().then(
          () => true,
          () => false,
        ),
      { timeout: 50_000, interval: 500 },
    )
    .toBe(true);
  expect(performance.now() - since).toBeLessThan(REPLACED_MS);
});
