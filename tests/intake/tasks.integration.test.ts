import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LeaseTasksReply, type LeasedTask, TaskEndReply } from '#contracts/intake.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { openPool, requestPoolSettings } from '#platform/postgres/pool.ts';
import { REQUEST_ANSWER_MS } from '#platform/postgres/settings.ts';
import { buildIntake } from '#services/intake/server/server.ts';
import { countTasks } from '#application/collectors/collector-keys.ts';
import { LEASES_MAX, endTask, leaseTasks } from '#services/intake/tasks.ts';
import { proxied } from '../faults/fault-proxy.ts';
import { DyingProcess } from '../collector/dying-process.ts';
import { type IntakeServer, NDJSON, openIntakeServer, type Reply, send, sendPartOf } from './stack.ts';
import { createBrandTables, forgetBrands, trackBrand } from './tracked-brands.ts';

const START_MS = Date.parse('2026-05-01T08:00:00Z');
const BODY_TIMEOUT_MS = 1_500;

let server: IntakeServer;
let key: string;
let nowMs = START_MS;
beforeAll(async () => {
  const clock = { now: () => new Date(nowMs) };
  server = await openIntakeServer({ bodyTimeoutMs: BODY_TIMEOUT_MS, clock, taskClock: clock });
  key = (await server.issue('tests')).text;
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (path: string, body: unknown, withKey = key): Promise<Reply> =>
  send(`${server.url}/intake/tasks${path}`, body === null ? null : JSON.stringify(body), {
    key: withKey,
    headers: body === null ? {} : { 'content-type': 'application/json' },
  });
const lease = async (body: object | null = null, withKey = key): Promise<readonly LeasedTask[]> => {
  const reply = await post('', body, withKey);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return LeaseTasksReply.parse(reply.body).tasks;
};
const domainsOf = (tasks: readonly LeasedTask[]) => tasks.map(({ domain }) => domain);
const end = async (task: LeasedTask | undefined, outcome: 'done' | 'failed', withKey = key) => {
  const body = outcome === 'failed' ? { reason: 'The page did not load.' } : null;
  return post(`/${task?.id}/${outcome}`, body, withKey);
};
const done = async (task: LeasedTask | undefined): Promise<boolean> => {
  const reply = await end(task, 'done');
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return TaskEndReply.parse(reply.body).changed;
};
const codeOf = ({ status, body }: Reply) => {
  const { error } = body as { error: { type: string; message: string; details?: { path: string }[] } };
  return [status, error.type, error.details?.map(({ path }) => path) ?? []];
};

test('no task is due before a projector has created its tables', async () => {
  expect(await lease()).toEqual([]);
});

describe('tasks', () => {
  beforeAll(() => createBrandTables(server.database));
  beforeEach(async () => {
    nowMs = START_MS;
    await forgetBrands(server.database);
  });

  test('name domain, linked pages and the start of the lease that was done last', async () => {
    await trackBrand(server.database, 'socks.example', { pages: ['100', '200'] });
    await server.database.query(
      `insert into social_pages.page (social_page_id, page_name, named_at) values ('100', 'Socks', now())`,
    );
    const [task] = await lease();
    expect(task).toEqual({
      id: task?.id,
      type: 'ad_library.scan',
      domain: 'socks.example',
      pages: [
        { page_id: '100', page_name: 'Socks' },
        { page_id: '200', page_name: null },
      ],
      cadence: 'daily',
      since: null,
      leased_until: new Date(START_MS + 30 * MINUTE_MS).toISOString(),
    });
    nowMs += 10 * MINUTE_MS;
    expect(await done(task)).toBe(true);
    expect(await lease()).toEqual([]);
    nowMs = START_MS + DAY_MS;
    expect((await lease())[0]?.since).toBe(new Date(START_MS).toISOString());
  });

  test('are due by cadence, and by month where a figure changes slowly', async () => {
    await trackBrand(server.database, 'daily.example');
    await trackBrand(server.database, 'weekly.example', { cadence: 'weekly' });
    for (const type of ['ad_library.scan', 'site.scan']) {
      for (const task of await lease({ type })) await done(task);
    }
    nowMs = START_MS + DAY_MS - 1;
    expect(await lease()).toEqual([]);
    nowMs = START_MS + DAY_MS;
    expect(domainsOf(await lease())).toEqual(['daily.example']);
    nowMs = START_MS + 7 * DAY_MS;
    expect(domainsOf(await lease()).toSorted()).toEqual(['daily.example', 'weekly.example']);
    expect(await lease({ type: 'site.scan' })).toEqual([]);
    nowMs = START_MS + 30 * DAY_MS;
    expect(await lease({ type: 'site.scan' })).toHaveLength(2);
  });

  test('that were never done come first, then the most overdue by what the cadence promises', async () => {
    await trackBrand(server.database, 'weekly.example', { cadence: 'weekly' });
    await trackBrand(server.database, 'daily.example');
    for (const task of await lease()) await done(task);
    await trackBrand(server.database, 'new.example');
    nowMs += 8 * DAY_MS;
    const order: string[] = [];
    for (let count = 0; count < 3; count += 1) order.push(...domainsOf(await lease({ limit: 1 })));
    expect(order).toEqual(['new.example', 'daily.example', 'weekly.example']);
  });

  test('of a brand that two workspaces track are due by the shorter cadence, and of an untracked one never', async () => {
    await trackBrand(server.database, 'shared.example', { cadence: 'weekly' });
    await server.database.query(
      `insert into tracking.tracked_brand (workspace_id, brand_id, cadence)
       select 'ws_other', brand_id, 'daily' from brands.brand`,
    );
    const tasks = await lease();
    expect(tasks.map(({ cadence }) => cadence)).toEqual(['daily']);
    await done(tasks[0]);
    await server.database.query('truncate tracking.tracked_brand');
    nowMs += 30 * DAY_MS;
    expect(await lease()).toEqual([]);
  });

  test('are never leased to two collectors that ask at once, and each comes to one', async () => {
    const all = Array.from({ length: 60 }, (_, index) => `shop${String(index).padStart(2, '0')}.example`);
    for (const domain of all) await trackBrand(server.database, domain);
    const keys = await Promise.all(['alpha', 'beta', 'gamma'].map((name) => server.issue(name)));
    const leased: LeasedTask[] = [];
    const collect = async (withKey: string): Promise<void> => {
      for (;;) {
        const tasks = await lease({ limit: 7 }, withKey);
        if (tasks.length === 0) return;
        leased.push(...tasks);
      }
    };
    await Promise.all(keys.map(({ text }) => collect(text)));
    expect(domainsOf(leased).toSorted()).toEqual(all);
  });

  test('come back when the lease has expired, and the late collector is answered 409', async () => {
    await trackBrand(server.database, 'slow.example');
    const [first] = await lease();
    nowMs += 30 * MINUTE_MS - 1;
    expect(await lease()).toEqual([]);
    nowMs += 1;
    const other = await server.issue('second');
    const [second] = await lease(null, other.text);
    expect(second?.domain).toBe('slow.example');
    expect(codeOf(await end(first, 'done'))).toEqual([409, 'conflict', []]);
    expect((await end(second, 'done', other.text)).status).toBe(200);
    expect(await lease()).toEqual([]);
  });

  test('are not leased again by a host whose clock is ahead', async () => {
    await trackBrand(server.database, 'ahead.example');
    const { database, nats, objectStore } = server;
    const intakeAhead = (aheadMs: number) => {
      const clock = { now: () => new Date(Date.now() + aheadMs) };
      return buildIntake({ database, nats, objectStore, clock, log: silentLog() });
    };
    await using apps = new AsyncDisposableStack();
    const [own, ahead] = [0, 2 * HOUR_MS].map((aheadMs) =>
      apps.adopt(intakeAhead(aheadMs), (app) => app.close()),
    );
    const leaseFrom = async (app: typeof own) => {
      const headers = { authorization: `Bearer ${key}` };
      const reply = await app?.inject({ method: 'POST', url: '/intake/tasks', headers });
      return domainsOf(LeaseTasksReply.parse(reply?.json()).tasks);
    };
    expect(await leaseFrom(own)).toEqual(['ahead.example']);
    expect(await leaseFrom(ahead)).toEqual([]);
  });

  test('can be ended after the lease until they are leased again', async () => {
    await trackBrand(server.database, 'late.example');
    const [task] = await lease();
    nowMs += HOUR_MS;
    expect(await done(task)).toBe(true);
    expect(await lease()).toEqual([]);
  });

  test('end once: a repeat changes nothing, and another end is 409', async () => {
    await trackBrand(server.database, 'twice.example');
    const [task] = await lease();
    expect([await done(task), await done(task)]).toEqual([true, false]);
    expect(codeOf(await end(task, 'failed'))).toEqual([409, 'conflict', []]);
    nowMs += DAY_MS;
    expect(await lease()).toHaveLength(1);
  });

  test('that failed come back after 15 minutes, doubling to a day, until one is done', async () => {
    await trackBrand(server.database, 'broken.example');
    const delays: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      const [task] = await lease();
      expect((await end(task, 'failed')).status).toBe(200);
      const { rows } = await server.database.query<{ retry_at: Date }>('select retry_at from intake.task');
      const retryMs = rows[0]?.retry_at.getTime() ?? 0;
      delays.push((retryMs - nowMs) / MINUTE_MS);
      nowMs = retryMs - 1;
      expect(await lease()).toEqual([]);
      nowMs = retryMs;
    }
    expect(delays).toEqual([15, 30, 60, 120, 240, 480, 960, 1_440, 1_440]);
    await done((await lease())[0]);
    nowMs += DAY_MS;
    await end((await lease())[0], 'failed');
    nowMs += 15 * MINUTE_MS;
    expect(await lease()).toHaveLength(1);
  });

  test('of another collector are not found, but another key of the same collector ends them', async () => {
    await trackBrand(server.database, 'own.example');
    const [task] = await lease();
    const stranger = await server.issue('stranger');
    expect(codeOf(await end(task, 'done', stranger.text))).toEqual([404, 'not_found', []]);
    const sibling = await server.issue('tests');
    expect((await end(task, 'done', sibling.text)).status).toBe(200);
  });

  test('need a key for every type that they ask for', async () => {
    await trackBrand(server.database, 'granted.example');
    const half = await server.issue('half', ['ad_library.scan', 'site.scan']);
    expect(codeOf(await post('', null, half.text))).toEqual([403, 'forbidden', []]);
    expect(domainsOf(await lease({ type: 'site.scan' }, half.text))).toEqual(['granted.example']);
  });

  test('of one collector are limited, and ended ones do not count', async () => {
    for (let index = 0; index < LEASES_MAX + 5; index += 1) {
      await trackBrand(server.database, `many${index}.example`);
    }
    const first = await lease({ limit: 100 });
    await lease({ limit: 99 });
    expect(await lease({ limit: 100 })).toHaveLength(1);
    const full = await post('', null);
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '60']);
    await done(first[0]);
    expect(await lease({ limit: 100 })).toHaveLength(1);
    nowMs += 30 * MINUTE_MS;
    expect(await lease({ limit: 100 })).toHaveLength(100);
  });

  test('are counted for operators by type, with the reason of the newest failure', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await trackBrand(server.database, `${name}.example`);
    await lease({ limit: 1 });
    nowMs += HOUR_MS;
    const [, second, third] = await lease();
    await done(second);
    await end(third, 'failed');
    expect(await countTasks(server.database, new Date(nowMs))).toEqual([
      {
        type: 'ad_library.scan',
        leased: 2,
        done: 1,
        failed: 1,
        expired: 1,
        failing: 1,
        last_reason: 'The page did not load.',
      },
    ]);
  });

  test('are forgotten after their time, so that the tables do not grow', async () => {
    await trackBrand(server.database, 'gone.example');
    await done((await lease())[0]);
    await server.database.query('truncate tracking.tracked_brand');
    await trackBrand(server.database, 'kept.example');
    nowMs += 91 * DAY_MS;
    await lease();
    const { rows } = await server.database.query(
      `select domain from intake.task union all select domain from intake.lease order by domain`,
    );
    expect(rows).toEqual([{ domain: 'kept.example' }, { domain: 'kept.example' }]);
  });

  test.each([
    ['a limit of zero', { limit: 0 }, ['limit']],
    ['a limit that is too large', { limit: 101 }, ['limit']],
    ['a limit of another type', { limit: '10' }, ['limit']],
    ['a type without tasks', { type: 'creative.file' }, ['type']],
    ['an unknown field', { brands: ['a.example'] }, ['']],
    ['a list', [], ['']],
  ])('%s is 400', async (_name, body, paths) => {
    expect(codeOf(await post('', body))).toEqual([400, 'bad_request', paths]);
  });

  test.each([
    ['broken JSON', '{"limit":', 'application/json', 400],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'application/json', 400],
    ['lines', '{}', NDJSON, 415],
    ['another charset', '{}', 'application/json; charset=utf-16', 415],
    ['deeply nested JSON', '['.repeat(8_000), 'application/json', 400],
    ['a body that is too large', ' '.repeat(16 * 1024 + 1), 'application/json', 413],
  ])('%s is refused', async (_name, body, contentType, status) => {
    const reply = await send(`${server.url}/intake/tasks`, body, {
      key,
      headers: { 'content-type': contentType },
    });
    expect(reply.status).toBe(status);
  });

  test.each([
    ['no reason', {}, ['reason']],
    ['a blank reason', { reason: '  ' }, ['reason']],
    ['a reason that is too long', { reason: 'x'.repeat(501) }, ['reason']],
  ])('a failure with %s is 400, and the task stays leased', async (_name, body, paths) => {
    await trackBrand(server.database, 'reason.example');
    const [task] = await lease();
    expect(codeOf(await post(`/${task?.id}/failed`, body))).toEqual([400, 'bad_request', paths]);
    expect(await done(task)).toBe(true);
  });

  test.each([randomUUID(), 'x', '..%2f..%2fdone', '00000000', encodeURIComponent('é')])(
    'the task %s is not found',
    async (id) => {
      expect((await post(`/${id}/done`, null)).status).toBe(404);
    },
  );

  test('need a valid key, also when the key is revoked while the body arrives', async () => {
    await trackBrand(server.database, 'revoked.example');
    expect((await post('', null, 'svc_collect_wrong')).status).toBe(401);
    const slow = await sendPartOf(`${server.url}/intake/tasks`, key, '{"limit"');
    expect([slow.status, slow.body.includes('body_too_slow')]).toEqual([400, true]);
    expect(await lease()).toHaveLength(1);
  });

  test('survive a process that is killed at any commit: none is lost, and none is done twice', async () => {
    await trackBrand(server.database, 'killed.example');
    const options = { type: 'ad_library.scan', limit: 1, collector: 'tests' } as const;
    for (let point = 1; point <= 3; point += 1) {
      nowMs += 2 * DAY_MS;
      const dying = new DyingProcess(point);
      const database = dying.database(server.database);
      const attempt = async (): Promise<void> => {
        const [task] = await leaseTasks(database, new Date(nowMs), options);
        const ending = { id: task?.id ?? '', collector: 'tests', end: { outcome: 'done' } as const };
        await endTask(database, new Date(nowMs), ending);
        // The reply was lost: the collector sends the end again.
        const repeated = await endTask(database, new Date(nowMs), ending);
        expect(repeated.changed).toBe(false);
      };
      await attempt().catch((error: Error) => expect(error.message).toBe('This process was killed.'));
      nowMs += 30 * MINUTE_MS;
      const left = await lease();
      expect(left).toHaveLength(point === 1 ? 1 : 0);
      for (const task of left) await done(task);
    }
    const { rows } = await server.database.query(
      `select count(*)::int as done from intake.lease where outcome = 'done'`,
    );
    expect(rows).toEqual([{ done: 3 }]);
  });
});

test('tasks are 503 with retry-after when the requests before them do not end', async () => {
  const client = await server.database.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.intakeTasks]);
    const reply = await post('', null);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [ADVISORY_LOCKS.intakeTasks]);
    client.release();
  }
});

test.each([
  ['refuses connections', 'connect ECONNREFUSED', 'ECONNREFUSED'],
  ['has no free connection', 'timeout exceeded when trying to connect', undefined],
  ['takes no more connections', 'too many clients already', '53300'],
  ['has a full disk', 'could not extend file', '53100'],
  ['lets a transaction lose to another one', 'deadlock detected', '40P01'],
])('tasks are 503 with retry-after while Postgres %s', async (_, message, code) => {
  await using stack = await openIntakeServer();
  const { text } = await stack.issue('away');
  await createBrandTables(stack.database);
  const fault = Object.assign(new Error(message), code === undefined ? {} : { code });
  const connect = stack.database.connect.bind(stack.database);
  // Keys are looked up with a callback, and tasks are leased in a transaction.
  const connectOrFail = (callback?: Parameters<typeof connect>[0]) =>
    callback === undefined ? Promise.reject(fault) : connect(callback);
  Object.assign(stack.database, { connect: connectOrFail });
  const reply = await send(`${stack.url}/intake/tasks`, null, { key: text });
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
});

test('a request has one time for all its waits: while Postgres is slow it gets 503, and leases nothing', async () => {
  const through = await proxied(server.databaseUrl);
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(through.proxy);
  const database = openPool(through.url, 4, requestPoolSettings(REQUEST_ANSWER_MS));
  resources.defer(() => database.end());
  const slow = buildIntake({
    ...server,
    database,
    clock: systemClock,
    log: silentLog(),
    bodyTimeoutMs: 500,
    requestBudgetMs: 1_500,
  });
  resources.defer(() => slow.close());
  const request = {
    method: 'POST',
    url: '/intake/tasks',
    headers: { authorization: `Bearer ${key}` },
  } as const;
  await createBrandTables(server.database);
  await forgetBrands(server.database);
  await trackBrand(server.database, 'late.example');
  await database.query('select 1');
  // Two checks of the key and a transaction of several statements.
  postgres.set('slow', 400);
  const since = performance.now();
  const late = await slow.inject(request);
  expect(late.statusCode).toBe(503);
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  expect(performance.now() - since).toBeLessThan(4_000);
  postgres.set('pass');
  const { tasks } = LeaseTasksReply.parse((await slow.inject(request)).json());
  expect(domainsOf(tasks)).toEqual(['late.example']);
});
