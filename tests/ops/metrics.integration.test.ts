import { describe, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { silentLog } from '#platform/logger.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { registry as ownRegistry, requestMeter } from '#platform/telemetry/metrics.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { passOnceMet } from '#platform/process/readiness.ts';
import { projections } from '#projections/index.ts';
import { runProjections } from '#services/projector/run.ts';
import { seedCorpus } from '../operations/fixtures/corpus.ts';
import { createTestDatabase, createTestEventStore } from '../stack/database.ts';
import { untilPassed } from '../stack/read-models.ts';

const scraped = async (): Promise<ReadonlyMap<string, number>> => {
  const lines = (await ownRegistry.metrics())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
};

/** Earlier tests may have counted in this process. */
const countedSince = async (): Promise<() => Promise<ReadonlyMap<string, number>>> => {
  const before = await scraped();
  return async () =>
    new Map([...(await scraped())].map(([name, value]) => [name, value - (before.get(name) ?? 0)]));
};

describe('connection pools', () => {
  test('report limit, busy, idle and waiting while they are open', async () => {
    const database = await createTestDatabase();
    const counted = await countedSince();
    const seen = async () => {
      const series = await counted();
      const of = (name: string): number => series.get(`adintel_postgres_pool_${name}`) ?? Number.NaN;
      return {
        limit: of('limit'),
        busy: of('connections{state="busy"}'),
        idle: of('connections{state="idle"}'),
        waiting: of('waiting'),
      };
    };
    try {
      const none = { limit: 0, busy: 0, idle: 0, waiting: 0 };
      expect(await seen()).toEqual(none);
      const pool = openPool(database.url, 2);
      expect(await seen()).toEqual({ ...none, limit: 2 });
      const [first, second] = [await pool.connect(), await pool.connect()];
      const third = pool.connect();
      expect(await seen()).toEqual({ limit: 2, busy: 2, idle: 0, waiting: 1 });
      first.release();
      (await third).release();
      expect(await seen()).toEqual({ limit: 2, busy: 1, idle: 1, waiting: 0 });
      second.release();
      await pool.end();
      expect(await seen()).toEqual(none);
    } finally {
      await database.drop();
    }
  });
});

describe('projector batches', () => {
  test('are counted by projection, with events and duration', async () => {
    await using resources = new AsyncDisposableStack();
    const since = await countedSince();
    const [database, store] = [await createTestDatabase(), await createTestEventStore()];
    resources.defer(() => database.drop());
    resources.defer(() => store.stop());
    const pool = openPool(database.url, 2);
    resources.defer(() => pool.end());
    const eventStore = resources.use(openEventStore(store.url));
    await seedCorpus(eventStore, ['one', 'two'], Date.now());
    const ending = new AbortController();
    const projecting = runProjections({
      databaseUrl: database.url,
      eventStoreUrl: store.url,
      projections,
      log: silentLog(),
      signal: ending.signal,
    });
    resources.defer(() => projecting);
    resources.defer(() => ending.abort());
    await untilPassed(pool, await eventStore.head());
    // Once while catching up, and once live, with an event that cannot be projected and is parked.
    await seedCorpus(eventStore, ['three'], Date.now());
    const unreadable = {
      brand_id: 'no-uuid',
      observed_at: '2026-05-01T10:00:00.000Z',
      changes: { name: 'x' },
    };
    await eventStore.append(
      brandStream('no-uuid'),
      -1n,
      [{ type: 'BrandProfileChanged', data: unreadable }],
      eventMetadata({ actor: serviceActor('ingest'), correlationId: 'test', causationId: 'test' }),
      'unreadable',
    );
    await untilPassed(pool, await eventStore.head());
    const { rows } = await pool.query<{ name: string; facts: number }>(
      'select name, facts_applied::int as facts from projector.projection order by 1',
    );
    const series = await since();
    const of = (name: string, projection: string): number =>
      series.get(`adintel_projection_${name}{projection="${projection}"}`) ?? 0;
    const counted = rows.map(({ name }) => ({ name, facts: of('batch_facts_sum', name) }));
    expect(counted).toEqual(rows);
    expect((await pool.query('select 1 from projector.parked')).rowCount).toBeGreaterThan(0);
    const { facts: events = 0 } = rows.find(({ name }) => name === 'brands') ?? {};
    expect(events).toBeGreaterThan(3);
    const batches = of('batch_facts_count', 'brands');
    expect(batches).toBeGreaterThan(1);
    expect(batches).toBeLessThan(events);
    expect(of('apply_duration_seconds_count', 'brands')).toBe(batches);
    expect(of('apply_duration_seconds_sum', 'brands')).toBeGreaterThan(0);
  });
});

describe('the operator port', () => {
  test('is off when no port is set', async () => {
    const settings = { METRICS_HOST: '127.0.0.1', DATABASE_URL: 'postgres://nowhere' };
    await using port = await openOperatorPort({
      settings,
      log: silentLog(),
      signal: new AbortController().signal,
    });
    expect(port.url).toBeNull();
  });

  test('serves liveness, readiness with the missing parts, and metrics', async () => {
    const database = await createTestDatabase();
    const ending = new AbortController();
    try {
      let made = false;
      await using port = await openOperatorPort({
        settings: { METRICS_HOST: '127.0.0.1', METRICS_PORT: 0, DATABASE_URL: database.url },
        log: silentLog(),
        signal: ending.signal,
        checks: { tables: passOnceMet(async () => (made ? null : 'not made yet')) },
      });
      const request = async (path: string) => {
        const response = await fetch(`${port.url}${path}`);
        return { status: response.status, text: await response.text() };
      };
      expect(await request('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
      expect((await request('/elsewhere')).status).toBe(404);
      const missing = async () => JSON.parse((await request('/readyz')).text) as unknown;
      expect((await request('/readyz')).status).toBe(503);
      expect(await missing()).toEqual({
        status: 'not_ready',
        missing: [
          { what: 'process', why: 'starting' },
          { what: 'tables', why: 'not made yet' },
        ],
      });
      made = true;
      port.started();
      expect(await missing()).toEqual({ status: 'ready', missing: [] });
      // The check runs at startup only: a later rebuild must not take the process out of service.
      made = false;
      expect((await request('/readyz')).status).toBe(200);

      requestMeter('getAnExample')(200, 0.002);
      const { text } = await request('/metrics');
      expect(text).toContain(
        'adintel_api_request_duration_seconds_bucket{le="0.0025",operation="getAnExample",status="200"} 1',
      );
      expect(text).toContain('nodejs_eventloop_lag_p99_seconds ');
      ending.abort();
      expect((await request('/readyz')).status).toBe(503);
      expect(await missing()).toMatchObject({ missing: [{ what: 'process', why: 'shutting down' }] });
    } finally {
      await database.drop();
    }
  });

  test('a started process is degraded, and stays in service, while its servers are gone', async () => {
    const gone = await freePort();
    await using port = await openOperatorPort({
      settings: {
        METRICS_HOST: '127.0.0.1',
        METRICS_PORT: 0,
        DATABASE_URL: `postgres://nobody@127.0.0.1:${gone}/none`,
        EVENT_STORE_URL: `esdb://127.0.0.1:${gone}?tls=false`,
        NATS_URL: `nats://127.0.0.1:${gone}`,
      },
      log: silentLog(),
      signal: new AbortController().signal,
    });
    const readiness = async () => {
      const response = await fetch(`${port.url}/readyz`);
      const { status, missing } = (await response.json()) as { status: string; missing: { what: string }[] };
      return { code: response.status, status, missing: missing.map(({ what }) => what) };
    };
    const servers = ['postgres', 'event_store', 'nats'];
    expect(await readiness()).toEqual({ code: 503, status: 'not_ready', missing: ['process', ...servers] });
    port.started();
    expect(await readiness()).toEqual({ code: 200, status: 'degraded', missing: servers });
  });
});
