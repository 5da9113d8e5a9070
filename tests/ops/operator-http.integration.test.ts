import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { pino } from 'pino';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { ErrorBody } from '#contracts/resources/envelope.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { checkReadModelsBuilt } from '#platform/process/readiness.ts';
import { projections } from '#projections/index.ts';
import { createAlertsTables } from '#services/alerts/checkpoint.ts';
import { createArchiveTables } from '#application/media-archive/archive-tables.ts';
import { createCollectorTables as createIntakeTables } from '#application/collectors/collector-keys.ts';
import { createCollectorTables } from '#services/collector/collector-tables.ts';
import type { WaitingStream } from '#services/ops/waiting-events.ts';
import { buildOps, type OpsServerInput } from '#services/ops/http/server.ts';
import { proxied } from '../faults/fault-proxy.ts';
import { openApiStack } from '../operations/fixtures/stack.ts';
import { until } from '../stack/wait-until.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';

const TOKEN = 'the token of the operators';
const PARKED = 7;
const WAITING = 3;

let postgresFault: string | null = null;

const call = async (method: 'GET' | 'POST', url: string, payload?: object) =>
  await app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(payload === undefined ? {} : { payload }),
  });
const answered = async <T>(method: 'GET' | 'POST', url: string, payload?: object): Promise<T> => {
  const { statusCode, body, headers } = await call(method, url, payload);
  expect([url, statusCode]).toEqual([url, method === 'GET' ? 200 : expect.toBeOneOf([200, 202])]);
  const answer = JSON.parse(body) as { data: T; meta: { request_id: string } };
  expect(answer.meta.request_id).toBe(headers['x-request-id']);
  return answer.data;
};
const refused = async (
  method: 'GET' | 'POST',
  url: string,
  status: number,
  payload?: object,
): Promise<string> => {
  const response = await call(method, url, payload);
  expect([url, response.statusCode]).toEqual([url, status]);
  return ErrorBody.parse(response.json()).error.message;
};

const openedWith = (dependencies: Partial<OpsServerInput>) =>
  buildOps({
    db,
    pool: stack.pool,
    eventStore: stack.eventStore,
    nats: () => stack.nats,
    serverChecks: { postgres: async () => postgresFault },
    archiveCallsPerHour: 150,
    memberVault: null,
    auditSigningKey: null,
    token: TOKEN,
    log: silentLog(),
    ...dependencies,
  });

/** Parks events as a projector does: for each stream, the failed one and one waiting behind it. */
const parkEvents = async (projection: string): Promise<void> => {
  await stack.pool.query(
    `insert into projector.parked (projection, stream, position, type, error, revision)
     select $1, 'brand-parked' || lpad(n::text, 2, '0'), 10 * n + later, 'BrandRegistered',
       case when later = 0 then 'no such column' end, later
     from generate_series(1, $2::int) n, generate_series(0, 1) later`,
    [projection, PARKED],
  );
};

const stack = await disposeAfterAll(openApiStack());
const key = await stack.key();
await createDeliveryTables(stack.pool);
const db = await disposeAfterAll(openReadDatabase(stack.environment['DATABASE_URL'] ?? ''));
const app = openedWith({});
await stack.projected(await stack.eventStore.head());
// A projector moves the positions first, and records that its read models are built afterwards.
const names = projections.map(({ name }) => name);
const check = checkReadModelsBuilt(stack.pool, names);
await until('the read models built', 20_000, async () => (await check()) === null);
afterAll(() => app.close());

describe('health', () => {
  test('/readyz returns 200 when nothing is missing, and 503 with the missing parts otherwise', async () => {
    expect((await app.inject('/readyz')).json()).toEqual({ status: 'ready', missing: [] });
    postgresFault = 'connection refused';
    await stack.pool.query(`update projector.projection set is_paused = true where name = 'radar'`);
    const { statusCode, body } = await app.inject('/readyz');
    await stack.pool.query(`update projector.projection set is_paused = false where name = 'radar'`);
    postgresFault = null;
    expect(statusCode).toBe(503);
    expect(JSON.parse(body)).toEqual({
      status: 'not_ready',
      missing: [
        { what: 'postgres', why: 'connection refused' },
        { what: 'projector', why: `1 of ${projections.length} paused: radar` },
      ],
    });
  });

  test('/readyz ignores tables whose projection was removed from the code', async () => {
    await stack.pool.query(
      `insert into projector.read_model (name, version, state) values ('abandoned', 1, 'live')`,
    );
    const { body } = await app.inject('/readyz');
    await stack.pool.query(`delete from projector.read_model where name = 'abandoned'`);
    expect(JSON.parse(body)).toEqual({ status: 'ready', missing: [] });
  });

  test('/metrics requires the token and reports the whole service', async () => {
    expect((await app.inject('/metrics')).statusCode).toBe(401);
    await createCollectorTables(stack.pool);
    await stack.pool.query(
      `insert into collecting.target (source, domain, cadence, wished_at, due_at, outcome)
       values ('storefront', 'metrics.example', 'daily', now(), now() - interval '1 day', 'refused')`,
    );
    const { body, headers } = await call('GET', '/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const line of [
      'adintel_server_up{server="postgres"} 1',
      'adintel_projection_state{projection="radar",state="live"} 1',
      'adintel_projection_lag_facts{projection="radar"} 0',
      'adintel_projection_lag_seconds{projection="radar"} 0',
      'adintel_projection_parked_facts{projection="radar"} 0',
      'adintel_deliveries_waiting{status="queued"} 0',
      'adintel_deliveries_waiting{status="held_back"} 0',
      'adintel_deliveries_overdue_seconds 0',
      'adintel_queue_messages{stream="SCRAPES"} ',
      'adintel_collector_targets{source="storefront",state="overdue"} 1',
      'adintel_collector_targets{source="storefront",state="refused"} 1',
      'adintel_collector_targets{source="storefront",state="shut"} 0',
      'adintel_collector_late_targets{source="storefront"} 1',
      'nodejs_eventloop_lag_p99_seconds ',
      'adintel_postgres_pool_waiting 0',
      'adintel_event_store_append_duration_seconds_count{outcome="recorded"} ',
    ]) {
      expect(body).toContain(line);
    }
  });
});

test('/ops/collection returns the counts, the forecast and the targets that do not simply wait', async () => {
  await createCollectorTables(stack.pool);
  await stack.pool.query('truncate collecting.target');
  const empty = JSON.parse((await call('GET', '/ops/collection')).body) as { data: object };
  expect(empty.data).toMatchObject({ sources: [], plans: [], tasks: [], targets: [] });
  await stack.pool.query(
    `insert into collecting.target (source, domain, cadence, wished_at, due_at, paused) values
       ('storefront', 'paused.example', 'daily', now(), now(), 'asked by the shop'),
       ('storefront', 'fine.example', 'daily', now(), now() + interval '1 hour', null),
       ('site', 'fine.example', 'daily', now(), now() + interval '1 hour', null)`,
  );
  await createIntakeTables(stack.pool);
  await stack.pool.query(
    `insert into intake.lease (lease_id, type, domain, collector, leased_at, lease_until)
     values (gen_random_uuid(), 'ad_library.scan', 'leased.example', 'other', now(), now() + interval '20 minutes')`,
  );
  const { data } = JSON.parse((await call('GET', '/ops/collection')).body) as { data: object };
  expect(data).toMatchObject({
    sources: [{ source: 'site' }, { source: 'storefront', targets: 2, paused: 1, due: 0 }],
    plans: [
      { source: 'storefront', targets: 1, calls_a_round: 5, late: 0, late_targets: [] },
      { source: 'site', targets: 1, calls_a_round: 6, late: 0, late_targets: [] },
    ],
    accounts: [],
    tasks: [{ type: 'ad_library.scan', leased: 1, done: 0, failing: 0, last_reason: null }],
    targets: [{ domain: 'paused.example', states: ['paused'], paused: 'asked by the shop' }],
  });
});

test('the account of the library API is in /ops/collection and in the metrics, without its token', async () => {
  await createCollectorTables(stack.pool);
  await stack.pool.query(
    `insert into collecting.account (name, token_fingerprint, set_at, expires_at, access, percent, used_at) values
       ('default', 'fingerprint', now(), now() + interval '5 days 1 hour',
        '{"kind":"shut","untilMs":4102444800000,"times":1}', 37, now())`,
  );
  const { body: collection } = await call('GET', '/ops/collection');
  expect((JSON.parse(collection) as { data: object }).data).toMatchObject({
    accounts: [
      {
        account: 'default',
        state: 'shut',
        shut_until: '2100-01-01T00:00:00.000Z',
        usage_percent: 37,
        token_days_left: 5,
        warning: expect.stringContaining('The token ends in 5 days'),
      },
    ],
  });
  // Another server is used, because figures of a scrape are returned again for two seconds.
  const fresh = openedWith({});
  const { body } = await fresh.inject({ url: '/metrics', headers: { authorization: `Bearer ${TOKEN}` } });
  await fresh.close();
  for (const line of [
    'adintel_collector_account{account="default",state="shut"} 1',
    'adintel_collector_account{account="default",state="open"} 0',
    'adintel_collector_token_days{account="default"} 5',
    'adintel_collector_usage_percent{account="default"} 37',
  ])
    expect(body).toContain(line);
  expect(collection + body).not.toContain('fingerprint');
  await stack.pool.query('truncate collecting.account');
});

test('the forecast for the library API has the allowed calls of each account, in /ops/collection and in the metrics', async () => {
  await createCollectorTables(stack.pool);
  const id = randomUUID();
  await stack.pool.query("insert into brands.brand (brand_id, domain) values ($1, 'planned.example')", [id]);
  await stack.pool.query("insert into social_pages.link (social_page_id, brand_id) values ('777001', $1)", [
    id,
  ]);
  await stack.pool.query(
    `insert into collecting.target (source, domain, cadence, wished_at, due_at)
     values ('ads_archive', 'planned.example', 'daily', now(), now() + interval '1 hour')`,
  );
  await stack.pool.query(
    `insert into collecting.account (name, token_fingerprint, set_at, expires_at, access)
     select name, 'none', now(), now() + interval '60 days', '{"kind":"open"}' from unnest(array['one', 'two']) name`,
  );
  const limited = openedWith({ archiveCallsPerHour: 10 });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { body } = await limited.inject({ url: '/ops/collection', headers });
  const { data } = JSON.parse(body) as { data: { plans: readonly { source: string }[] } };
  expect(data.plans.find(({ source }) => source === 'ads_archive')).toMatchObject({
    calls_an_hour: 20,
    calls_a_round: 2.5,
  });
  const { body: metrics } = await limited.inject({ url: '/metrics', headers });
  await limited.close();
  expect(metrics).toContain(`adintel_collector_round_days{source="ads_archive"} ${2.5 / 20 / 24}`);
  await stack.pool.query('truncate collecting.target, collecting.account');
  await stack.pool.query("delete from social_pages.link where social_page_id = '777001'");
  await stack.pool.query('delete from brands.brand where brand_id = $1', [id]);
});

test('the files of the media archive are in /ops/collection and in the metrics, by state and reason', async () => {
  expect(JSON.parse((await call('GET', '/ops/collection')).body)).toMatchObject({ data: { media: null } });
  await createArchiveTables(stack.pool);
  await stack.pool.query(
    `insert into media.wanted (file_key, kind, url, expires_at, try_until, seen_at, state, reason)
     select concat_ws(' ', state, ends, number), 'image', 'https://media.example/' || number, now() + ends, now() + ends, now(), state, reason
     from (values ('wanted', interval '11 hours', null, 2), ('wanted', interval '13 hours', null, 3),
       ('stored', interval '1 hour', null, 4), ('missed', interval '-1 hour', 'answered 403', 2),
       ('refused', interval '1 day', 'not a picture or film', 1)) as files (state, ends, reason, count),
       lateral generate_series(1, count) as number`,
  );
  await stack.pool.query(`update media.usage set bytes = 950, quota_bytes = 1000, mode = 'all'`);
  const { body: collection } = await call('GET', '/ops/collection');
  expect((JSON.parse(collection) as { data: object }).data).toMatchObject({
    media: {
      mode: 'all',
      files: { wanted: 5, expiring: 2, stored: 4, missed: 2, refused: 1 },
      bytes: 950,
      quota_bytes: 1_000,
      room: 'images',
      reasons: [
        { state: 'missed', reason: 'answered 403', files: 2 },
        { state: 'refused', reason: 'not a picture or film', files: 1 },
      ],
    },
  });
  const fresh = openedWith({});
  const { body } = await fresh.inject({ url: '/metrics', headers: { authorization: `Bearer ${TOKEN}` } });
  await fresh.close();
  for (const line of [
    'adintel_media_archive_files{state="wanted"} 5',
    'adintel_media_archive_files{state="expiring"} 2',
    'adintel_media_archive_files{state="stored"} 4',
    'adintel_media_archive_files{state="missed"} 2',
    'adintel_media_archive_files{state="refused"} 1',
    'adintel_media_archive_bytes{of="stored"} 950',
    'adintel_media_archive_bytes{of="quota"} 1000',
  ])
    expect(body).toContain(line);
});

describe('scrapes of /metrics', () => {
  test('share the read of a slow scrape that is already running', async () => {
    const checked: (() => void)[] = [];
    const postgres = () => new Promise<null>((resolve) => checked.push(() => resolve(null)));
    const nats = vi.fn<() => null>(() => null);
    const slow = openedWith({ nats, serverChecks: { postgres } });
    const scrape = async () =>
      await slow.inject({ url: '/metrics', headers: { authorization: `Bearer ${TOKEN}` } });
    const first = scrape();
    await expect.poll(() => checked.length).toBe(1);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    const second = scrape();
    clock.mockRestore();
    checked[0]?.();
    for (const { body } of await Promise.all([first, second])) {
      expect(body).toContain('adintel_server_up{server="postgres"} 1');
      expect(body).toContain('adintel_projection_state{projection="radar",state="live"} 1');
    }
    expect(nats).toHaveBeenCalledTimes(1);
    expect((await first).body).not.toContain('server="event_store"');
  });

  test('omit the Postgres figures when Postgres does not respond', async () => {
    const nowhere = openPool('postgres://nobody@127.0.0.1:1/x', 1);
    const { body } = await openedWith({ pool: nowhere }).inject({
      url: '/metrics',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    await nowhere.end();
    expect(body).toContain('adintel_queue_messages{stream="SCRAPES"} ');
    expect(body).not.toMatch(
      /^adintel_(deliveries_overdue_seconds|deliveries_waiting|projection_state)[ {]/m,
    );
  });
});

describe('limits', () => {
  /** Sends raw bytes on a new connection and nothing more. Returns the complete response. */
  const responseTo = async (request: string): Promise<string> => {
    const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(request);
    return await text(socket);
  };

  test('closes a connection whose request headers do not arrive in time', async () => {
    const startMs = performance.now();
    const answer = await responseTo('GET /healthz HTTP/1.1\r\nhost: ops\r\nx-slow: ');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    const seconds = (performance.now() - startMs) / 1_000;
    expect(seconds).toBeGreaterThan(4);
    // The limit of a whole request, which would close it too, is longer.
    expect(app.server.headersTimeout).toBeLessThan(app.server.requestTimeout);
    expect((await app.inject('/healthz')).statusCode).toBe(200);
  });
});

describe('errors', () => {
  const broken = (url: string, dependencies: Partial<OpsServerInput>) =>
    openedWith(dependencies).inject({ url, headers: { authorization: `Bearer ${TOKEN}` } });

  test('name the server that does not respond', async () => {
    const nowhere = openPool('postgres://nobody@127.0.0.1:1/x', 1);
    const response = await broken('/ops/projections', { pool: nowhere });
    await nowhere.end();
    expect(response.statusCode).toBe(503);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(ErrorBody.parse(response.json()).error.message).toBe(
      'Postgres does not respond: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL.',
    );
  });

  test('are not logged when the client has disconnected', async () => {
    const faults: object[] = [];
    const log = pino({ level: 'error' }, { write: (line) => faults.push(JSON.parse(line) as object) });
    const left = new DOMException('left', 'AbortError');
    const leaving = { ...db, slow: () => Promise.reject(left) };
    await broken('/ops/workspaces', { log, db: leaving });
    expect(faults).toEqual([]);
    await broken('/ops/workspaces', { log, db: { ...db, slow: () => Promise.reject(new Error('odd')) } });
    expect(faults).toMatchObject([{ msg: 'request failed' }]);
  });

  test('replies are not cacheable, and unknown parameters are rejected', async () => {
    const { headers } = await call('GET', '/ops/workspaces');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    const paths = ['projections', 'projections/lag', 'projections/diff', 'workspaces'];
    for (const path of paths) await refused('GET', `/ops/${path}?projection=radar`, 400);
  });

  test('searches above the concurrency limit are rejected until one ends', async () => {
    const begun: (() => void)[] = [];
    const read = async function* (): AsyncGenerator<never> {
      await new Promise<void>((resolve) => begun.push(resolve));
      yield* [];
    };
    const slow = openedWith({ eventStore: { ...stack.eventStore, read } });
    const search = () =>
      slow.inject({ url: '/ops/log?stream=brand-a', headers: { authorization: `Bearer ${TOKEN}` } });
    const first = [search(), search(), search(), search()];
    await expect.poll(() => begun.length).toBe(first.length);
    const another = await search();
    expect(another.statusCode).toBe(409);
    expect(ErrorBody.parse(another.json()).error.message).toBe(
      '4 searches of the log are already running. Retry when one has ended.',
    );
    for (const end of begun) end();
    expect((await Promise.all(first)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    const after = search();
    await expect.poll(() => begun.length).toBe(first.length + 1);
    begun.at(-1)?.();
    expect((await after).statusCode).toBe(200);
  });
});

describe('projections', () => {
  test('are returned as a list and one by one', async () => {
    type Status = { readonly name: string; readonly state: string; readonly lag_facts: number };
    const all = await answered<Status[]>('GET', '/ops/projections');
    expect(all.map(({ name }) => name)).toEqual(projections.map(({ name }) => name).toSorted());
    expect(await answered<Status>('GET', '/ops/projections/radar')).toMatchObject({
      name: 'radar',
      lag_facts: 0,
    });
    const diff = await answered<{ difference: string }[]>('GET', '/ops/projections/diff');
    expect(new Set(diff.map(({ difference }) => difference))).toEqual(new Set(['same']));
    await refused('GET', '/ops/projections/nothing', 404);
    await refused('GET', '/ops/projections/radar?deep=true', 400);
  });

  test('have a lag series of the last hour', async () => {
    await stack.pool.query(
      `insert into projector.sample (at, name, position, facts_applied, lag_facts)
       select to_timestamp(floor(extract(epoch from now()) / 30) * 30) - interval '10 minutes' + n * interval '10 s',
         'freshness', 1, 1, n from generate_series(0, 5) n
       on conflict do nothing`,
    );
    type Series = {
      readonly projection: string;
      readonly at: readonly string[];
      readonly lag_facts: readonly number[];
    };
    const series = await answered<Series[]>('GET', '/ops/projections/lag');
    const freshness = series.find(({ projection }) => projection === 'freshness');
    expect(freshness?.at.length).toBe(freshness?.lag_facts.length);
    // The maximum of each half minute.
    expect(freshness?.lag_facts.slice(0, 2)).toEqual([2, 5]);
  });

  test('are rebuilt, verified, paused and resumed on request', async () => {
    const built = await answered<{ name: string; requested_by: string }>(
      'POST',
      '/ops/projections/rankings/rebuild',
      { from: 'start' },
    );
    expect(built).toMatchObject({ name: 'rankings', requested_by: 'ops-http' });
    expect(await answered<{ name: string }>('POST', '/ops/projections/freshness/verify', {})).toMatchObject({
      name: 'freshness',
    });
    expect(await answered('GET', '/ops/projections/freshness/verification')).toMatchObject({
      name: 'freshness',
    });
    expect(await answered('POST', '/ops/projections/velocity/pause')).toMatchObject({ state: 'paused' });
    expect(await answered('POST', '/ops/projections/velocity/resume')).toMatchObject({ name: 'velocity' });
    await refused('POST', '/ops/projections/nothing/rebuild', 404, {});
    await refused('POST', '/ops/projections/velocity/cancel', 404);
    await refused('POST', '/ops/projections/velocity/rebuild', 400, { from: 'yesterday' });
    await refused('POST', '/ops/projections/velocity/verify', 400, { to: 'x' });
    await refused('POST', '/ops/projections/velocity/verify', 400, { to: String(2n ** 63n) });
    await refused('GET', '/ops/projections/brands/verification', 404);
  });
});

describe('parked events', () => {
  test('are listed in pages, shown, retried and skipped on request', async () => {
    // Without a projector the requests stay pending, so the test can read them.
    await stack.stopProjector();
    await parkEvents('radar');
    type Parked = { readonly stream: string; readonly waiting: number; readonly asked: string | null };
    const seen: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const response = await call('GET', `/ops/parked?projection=radar&limit=3${more}`);
      const { data, meta } = response.json<{ data: Parked[]; meta: { cursor?: string } }>();
      seen.push(...data.map(({ stream }) => stream));
      ({ cursor } = meta);
    }
    expect(seen).toEqual(Array.from({ length: PARKED }, (_, n) => `brand-parked0${n + 1}`));
    expect(await answered('GET', '/ops/parked/radar/brand-parked01')).toMatchObject({
      error: 'no such column',
      waiting: 1,
      fact: null,
    });
    const retried = { projection: 'radar', streams: ['brand-parked01', 'brand-parked02'] };
    expect(await answered('POST', '/ops/parked/retry', retried)).toMatchObject({ streams_asked: 2 });
    expect(
      await answered('POST', '/ops/parked/skip', { projection: 'radar', stream: 'brand-parked03' }),
    ).toMatchObject({ asked: 'skip' });
    const first = await answered<Parked[]>('GET', '/ops/parked?projection=radar&limit=4');
    expect(first.map(({ asked }) => asked)).toEqual(['retry', 'retry', 'skip', null]);
    expect(
      await answered('POST', '/ops/parked/retry', { projection: 'radar', streams: 'all' }),
    ).toMatchObject({ streams_asked: PARKED });
    await refused('POST', '/ops/parked/retry', 400, { projection: 'radar', streams: [] });
    await refused('POST', '/ops/parked/retry', 404, { projection: 'radar', streams: ['brand-none'] });
    await refused('POST', '/ops/parked/skip', 400, { projection: 'radar' });
    await refused('GET', '/ops/parked/radar/brand-none', 404);
    expect(await refused('GET', '/ops/parked?projection=radr', 404)).toContain('Projection radr not found');
    await refused('GET', '/ops/parked?limit=0', 400);
    await refused('GET', '/ops/parked?cursor=x', 400);
  });
});

describe('streams that wait for a newer release', () => {
  test('are listed in pages, and are none before alerts has started', async () => {
    expect(await answered('GET', '/ops/figures')).toBeNull();
    expect(await answered('GET', '/ops/alerts/waiting')).toEqual([]);
    await createAlertsTables(stack.pool);
    await stack.pool.query(
      `insert into alerting.waiting_event (stream, revision, position, type, version)
       select 'adLibrary-' || n, revision, 10 * n + revision, 'AdStarted', '9'
       from generate_series(1, $1::int) n, generate_series(4, 6) revision`,
      [WAITING],
    );
    const pages: (readonly string[])[] = [];
    for (let more: string | undefined = ''; more !== undefined; ) {
      const response = await call('GET', `/ops/alerts/waiting?limit=2${more}`);
      const { data, meta } = response.json<{ data: WaitingStream[]; meta: { cursor?: string } }>();
      expect(data[0]).toMatchObject({ type: 'AdStarted', version: '9', revision: '4', waiting: 2 });
      pages.push(data.map(({ stream }) => stream));
      more = meta.cursor && `&cursor=${encodeURIComponent(meta.cursor)}`;
    }
    expect(pages).toEqual([['adLibrary-1', 'adLibrary-2'], ['adLibrary-3']]);
    await refused('GET', '/ops/alerts/waiting?limit=0', 400);
    await refused('GET', '/ops/alerts/waiting?after=adLibrary-1', 400);
  });
});

describe('the log and histories', () => {
  test('finds and returns events', async () => {
    type Found = {
      readonly facts: readonly { type: string; stream: string }[];
      readonly is_complete: boolean;
    };
    const stream = `workspace-${key.workspaceId}`;
    const found = await answered<Found>('GET', `/ops/log?stream=${stream}`);
    expect(found.facts.map(({ type }) => type)).toEqual(['WorkspaceCreated', 'MemberAdded']);
    expect(found.is_complete).toBe(true);
    const byType = await answered<Found>('GET', '/ops/log?category=workspace&type=MemberAdded&limit=1');
    expect(byType).toMatchObject({ facts: [{ type: 'MemberAdded' }], is_complete: false });
    expect(await answered('GET', `/ops/log/${stream}/0`)).toMatchObject({ type: 'WorkspaceCreated' });
    expect(await answered('GET', `/ops/log/${stream}/last`)).toMatchObject({ type: 'MemberAdded' });
    await refused('GET', `/ops/log/${stream}/99`, 404);
    await refused('GET', `/ops/log/${stream}/first`, 400);
    await refused('GET', '/ops/log?limit=0', 400);
  });

  test('checks the hash chain of a history and names a changed entry', async () => {
    const [workspace] = await answered<{ workspace_id: string }[]>('GET', '/ops/workspaces');
    expect(workspace?.workspace_id).toBe(key.workspaceId);
    const chain = `/ops/workspaces/${key.workspaceId}/history/chain`;
    expect(await answered('GET', chain)).toMatchObject({ entries: 3, intact: true, broken_at: null });
    await stack.pool.query(
      `update workspace_history.entry set record = replace(record::text, '"owner"', '"viewer"')::text
       where workspace_id = $1 and sequence = 2`,
      [key.workspaceId],
    );
    expect(await answered('GET', chain)).toMatchObject({ entries: 1, intact: false, broken_at: 2 });
    await refused('GET', '/ops/workspaces/ws_nowhere/history/chain', 404);
  });
});

describe('deliveries', () => {
  test('are listed and replayed, and invalid requests are rejected', async () => {
    expect(await answered('GET', '/ops/deliveries?status=failed')).toEqual([]);
    expect(await answered('POST', '/ops/deliveries/replay', { failed_since: '2026-01-01' })).toEqual({
      replayed: 0,
      given_up: 0,
    });
    expect(await answered('POST', '/ops/deliveries/replay', { missing: true })).toEqual({ queued: 0 });
    const id = randomUUID();
    await refused('GET', `/ops/deliveries/${id}`, 404);
    await refused('GET', '/ops/deliveries/x', 400);
    await refused('GET', '/ops/deliveries?status=lost', 400);
    expect(await refused('POST', '/ops/deliveries/replay', 404, { ids: [id] })).toContain(id);
    await refused('POST', '/ops/deliveries/replay', 400, { ids: [id], missing: true });
    await refused('POST', '/ops/deliveries/cancel', 404, { ids: [id] });
    await refused('POST', '/ops/deliveries/cancel', 400, { ids: [] });
  });
});

test('while a server is mute, each request gets 503 at the end of its time', async () => {
  await using resources = new AsyncDisposableStack();
  const postgres = await proxied(stack.environment['DATABASE_URL'] ?? '');
  const store = await proxied(stack.environment['EVENT_STORE_URL'] ?? '');
  resources.use(postgres.proxy);
  resources.use(store.proxy);
  const pool = openPool(postgres.url, 4);
  resources.defer(() => pool.end());
  const late = openedWith({
    pool,
    db: resources.use(openReadDatabase(postgres.url)),
    eventStore: resources.use(openEventStore(store.url)),
    requestBudgetMs: 1_500,
  });
  resources.defer(() => late.close());
  postgres.proxy.set('mute');
  store.proxy.set('mute');
  const since = performance.now();
  const urls = [
    '/ops/workspaces',
    `/ops/workspaces/${key.workspaceId}/history`,
    `/ops/workspaces/${key.workspaceId}/history?follow=true`,
    '/ops/deliveries',
    '/ops/log/brand-a/0',
  ];
  const headers = { authorization: `Bearer ${TOKEN}` };
  const replies = await Promise.all(urls.map((url) => late.inject({ url, headers })));
  expect(performance.now() - since).toBeLessThan(4_000);
  for (const [at, reply] of replies.entries()) {
    expect([urls[at], reply.statusCode]).toEqual([urls[at], 503]);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  }
});
