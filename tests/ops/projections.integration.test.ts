import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { type Forecast, type Measured, measureCapacity } from '#services/ops/capacity.ts';
import { findEvents, showEvent } from '#services/ops/log/search.ts';
import { pauseProjection, readBuild, requestRebuild, watchBuild } from '#services/ops/projections.ts';
import { retryParked } from '#services/ops/waiting-events.ts';
import { appendEvents } from '../bench/projector/events.ts';
import { createTestDatabase, createTestEventStore } from '../stack/database.ts';
import { type ServiceProcess, startProcess } from '../stack/processes.ts';
import { untilPassed } from '../stack/read-models.ts';
import { openHostedCommands } from './fixtures/hosted-commands.ts';

const PROJECTOR = join(import.meta.dirname, '../projector/radar-process.ts');
/** Two ranges of a rebuild, so that it can be killed at the checkpoint between them. */
const BRANDS = 24;
const EVENTS_OF_BRAND = 1_000;
const EVENTS = BRANDS * EVENTS_OF_BRAND;
const WAIT = { timeout: 60_000, interval: 5 } as const;

const resources = new AsyncDisposableStack();
const commands = openHostedCommands();
let environment: Readonly<Record<string, string>>;
let database: Database;
let eventStore: EventStore;
let projector: ServiceProcess;

beforeAll(async () => {
  const own = await createTestDatabase();
  resources.defer(() => own.drop());
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  environment = { DATABASE_URL: own.url, EVENT_STORE_URL: store.url };
  database = openPool(own.url, 2);
  resources.defer(() => database.end());
  eventStore = resources.use(openEventStore(store.url));
  await appendEvents(eventStore, BRANDS, EVENTS_OF_BRAND);
  projector = startProcess(PROJECTOR, environment);
  resources.defer(() => projector.kill());
  await untilPassed(database, await eventStore.head());
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await resources.disposeAsync();
});

const ops = (...words: readonly string[]) => commands.run(words, { DATA_DIR: '/nowhere', ...environment });

describe('ops projections', () => {
  test('resumes a rebuild at its checkpoint after the projector is killed', async () => {
    await requestRebuild(database, 'radar', { from: 'start', by: 'test' });
    await expect.poll(async () => (await readBuild(database, 'radar'))?.facts ?? 0, WAIT).toBeGreaterThan(0);
    await projector.kill();
    const interrupted = await readBuild(database, 'radar');
    expect(interrupted).toMatchObject({ state: 'reading', total_facts: EVENTS + BRANDS });
    expect(interrupted?.facts).toBeLessThan(EVENTS);
    projector = startProcess(PROJECTOR, environment);
    const done = await watchBuild(database, 'radar', () => undefined, AbortSignal.timeout(WAIT.timeout));
    expect(done).toMatchObject({ state: 'done', facts: EVENTS + BRANDS });
    const { rows } = await database.query<{ resumed: number; rows: number }>(
      `select (select resumed_facts from projector.build)::int as resumed, (select count(*) from radar.item)::int as rows`,
    );
    expect(rows).toEqual([{ resumed: interrupted?.facts, rows: EVENTS }]);
  });

  test('prints status, the outcome of a rebuild and the differences that verify finds', async () => {
    const status = await ops('projections', 'status');
    expect(status.stdout).toMatch(/^name +state +version .*\nradar +live +\d+ +\d+ +0 +0 s /);
    const rebuilt = await ops('projections', 'rebuild', 'radar');
    expect(rebuilt).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`radar: rebuilt from ${EVENTS + BRANDS} events and swapped in`),
    });
    const brandId = brandIdOf('brand3.example');
    await database.query(
      `delete from radar.item where ctid = (select ctid from radar.item where brand_id = $1 limit 1)`,
      [brandId],
    );
    const differs = await ops('projections', 'verify', 'radar');
    expect(differs.code).toBe(1);
    expect(differs.stdout).toContain(`differs for 1 brand_id: ${brandId}`);
    expect(differs.stdout).toMatch(/is missing\n/);
    expect(differs.stderr).toContain('the tables differ from a replay');
  });

  test('tells what a log of another size needs, by what is measured here', async () => {
    await requestRebuild(database, 'radar', { from: 'start', by: 'test' });
    const built = await watchBuild(database, 'radar', () => undefined, AbortSignal.timeout(WAIT.timeout));
    expect(built?.state).toBe('done');
    const total = EVENTS + BRANDS;
    await expect
      .poll(async () => (await measureCapacity(database)).events, WAIT)
      .toBeGreaterThanOrEqual(total);
    const { stdout } = await ops('--json', 'capacity', '--events', String(10 * total));
    const told = JSON.parse(stdout) as Measured & { readonly forecasts: readonly Forecast[] };
    const { log_bytes, read_models, replayed_per_second } = told;
    const { rows } = await database.query<{ bytes: string }>(
      `select pg_total_relation_size('radar.item') as bytes`,
    );
    expect(told.events).toBe(total);
    expect(log_bytes).toBeGreaterThan(100 * total);
    expect(read_models).toMatchObject([{ name: 'radar' }]);
    expect(read_models[0]?.bytes).toBeGreaterThanOrEqual(Number(rows[0]?.bytes));
    expect(replayed_per_second).toBeGreaterThan(0);
    expect(told.forecasts).toEqual([
      {
        events: 10 * total,
        log_bytes: 10 * log_bytes,
        read_model_bytes: 10 * (read_models[0]?.bytes ?? 0),
        rebuilding_bytes: 20 * (read_models[0]?.bytes ?? 0),
        replay_seconds: Math.ceil((10 * total) / (replayed_per_second ?? 0)),
      },
    ]);
    expect((await ops('capacity')).stdout).toMatch(/^read model +rows +size.*\nradar /);
    expect(await ops('capacity', '--events', '0')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('events'),
    });
    await database.query(`update projector.build set state = 'failed' where name = 'radar'`);
    expect((await ops('capacity')).stdout).toContain('is known after `projections rebuild --all`');
  });

  test('reports an invalid command in one line', async () => {
    expect(await ops('projections', 'rebuild')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('or --all'),
    });
    await expect(pauseProjection(database, 'nonsense')).rejects.toThrow('Projection nonsense not found.');
    await expect(retryParked(database, 'radar', null)).rejects.toThrow('No matching parked events');
  });
});

describe('ops log', () => {
  test('finds events by stream, type and request, and shows one event', async () => {
    const stream = adLibraryStream(brandIdOf('brand1.example'));
    const found = await ops(
      '--json',
      'log',
      'find',
      '--stream',
      stream,
      '--type',
      'AdStarted',
      '--limit',
      '2',
    );
    const events = found.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; revision: string });
    expect(events.map(({ type }) => type)).toEqual(['AdStarted', 'AdStarted']);
    const shown = await showEvent(eventStore, brandStream(brandIdOf('brand1.example')), 0n);
    expect(shown).toMatchObject({ type: 'BrandRegistered', revision: 0n, metadata: { request_id: 'bench' } });
    await expect(showEvent(eventStore, 'brand-nothing', null)).rejects.toThrow('Event not found in stream');
    const registered: string[] = [];
    const filter = {
      category: 'brand',
      correlation: 'bench',
      since: new Date(0),
      until: new Date(Date.now() + 60_000),
    };
    for await (const event of findEvents(eventStore, filter, AbortSignal.timeout(10_000)))
      registered.push(event.type);
    expect(registered).toHaveLength(BRANDS);
  });
});
