import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { pause } from '#platform/clock.ts';
import { TimeUsedUp, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { inTransaction, type OpenReadDatabase, openPool, openReadDatabase } from '#platform/postgres/pool.ts';
import { startTransactionPooler } from './transaction-pooler.ts';

/** Order is asserted, and no time: a light read is answered while slow ones still run. */

const RUNS_TO_PROVE = 3;
const SLOW_READS = 20;
/** Seconds of one slow read; fourteen run at the same time. */
const SLOW_SECONDS = 0.8;
/** Pipelined connections, and the milliseconds of one read after which one takes no further reads. */
const HOT_CLIENTS = 4;
const BUSY_MS = 101;
/** Longer than a light read waits for such a connection. */
const RARELY_SECONDS = 3;
const LIGHT = { sql: 'select 1 as one', values: [] };

let reads: OpenReadDatabase;

beforeAll(async () => {
  reads = openReadDatabase(inject('databaseUrl'));
  await reads.connect();
  for (let run = 0; run < RUNS_TO_PROVE; run += 1) await reads.query(LIGHT);
});
afterAll(() => reads[Symbol.asyncDispose]());

test('light reads do not wait for slow ones', async () => {
  let answered = 0;
  const slow = Array.from({ length: SLOW_READS }, async () => {
    await reads.query({ sql: 'select pg_sleep($1)::text', values: [SLOW_SECONDS] });
    answered += 1;
  });
  for (let read = 0; read < SLOW_READS; read += 1) expect(await reads.query(LIGHT)).toEqual([{ one: 1 }]);
  expect(answered).toBeLessThan(SLOW_READS);
  await Promise.all(slow);
});

test('light reads do not wait while slow runs of a statement that is fast as a rule occupy all pipelined connections', async () => {
  const sleep = { sql: `select 'rarely' as slow, pg_sleep($1)::text`, values: [0] };
  for (let run = 0; run < 20; run += 1) await reads.query(sleep);
  let answered = 0;
  const runSlowly = async (): Promise<void> => {
    await reads.query({ ...sleep, values: [RARELY_SECONDS] });
    answered += 1;
  };
  const slow: Promise<void>[] = [];
  for (let run = 0; run < HOT_CLIENTS; run += 1) {
    slow.push(runSlowly());
    // Reads of one iteration of the event loop share a connection.
    await pause(1);
  }
  await pause(BUSY_MS);
  for (let read = 0; read < SLOW_READS; read += 1) expect(await reads.query(LIGHT)).toEqual([{ one: 1 }]);
  expect(answered).toBe(0);
  await Promise.all(slow);
});

test('connections that the server ended are opened again', async () => {
  const pool = openPool(inject('databaseUrl'), 1);
  try {
    const pids = await Promise.all(
      Array.from({ length: 20 }, () =>
        reads.query<{ pid: number }>({ sql: 'select pg_backend_pid() as pid', values: [] }),
      ),
    );
    await pool.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
      pids.map(([row]) => row?.pid),
    ]);
  } finally {
    await pool.end();
  }
  const answers = async (): Promise<boolean> => {
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => reads.query(LIGHT)));
    return all.every(({ status }) => status === 'fulfilled');
  };
  await expect.poll(answers, { timeout: 60_000 }).toBe(true);
});

test('statements of a request end with its time, here and at the server, and leave their connections as they were', async () => {
  const pool = openPool(inject('databaseUrl'), 1, { statement_timeout: 20_000 });
  const sleeping = `select 'of a request' as mark, pg_sleep(15)::text`;
  const ASLEEP = `select 1 from pg_stat_activity
    where state = 'active' and query like '%of a request%' and pid <> pg_backend_pid()`;
  const watcher = openPool(inject('databaseUrl'), 1);
  const isAsleep = async (): Promise<boolean> => ((await watcher.query(ASLEEP)).rowCount ?? 0) > 0;
  const timeoutOf = async (): Promise<string> =>
    (await pool.query<{ statement_timeout: string }>('show statement_timeout')).rows[0]?.statement_timeout ??
    '';
  try {
    const runs: readonly (() => Promise<unknown>)[] = [
      () => pool.query(sleeping),
      () => pool.query(sleeping.replace('15', '$1'), [15]),
      () => inTransaction(pool, (client) => client.query(sleeping)),
      () => reads.slow({ sql: sleeping, values: [] }),
      () => reads.query({ sql: sleeping, values: [] }),
    ];
    for (const run of runs) {
      const since = performance.now();
      await expect(withTimeBudget(600, run)).rejects.toBeInstanceOf(TimeUsedUp);
      expect(performance.now() - since).toBeLessThan(5_000);
      // The server's own limits are 4 s and more.
      await expect.poll(isAsleep, { timeout: 3_000, interval: 50 }).toBe(false);
      expect(await timeoutOf()).toBe('20s');
    }
    // A wait for the only connection ends, too, and its connection comes back to the pool.
    const taken = await pool.connect();
    await expect(withTimeBudget(100, () => pool.query('select 1'))).rejects.toBeInstanceOf(TimeUsedUp);
    taken.release();
    expect((await pool.query('select 1')).rowCount).toBe(1);
    await expect(
      withTimeBudget(0, async () => {
        await pause(5);
        return pool.query('select 1');
      }),
    ).rejects.toBeInstanceOf(TimeUsedUp);
  } finally {
    await Promise.all([pool.end(), watcher.end()]);
  }
});

test('behind a pooler of transactions, the timeout of one client applies to no statement of another', async () => {
  await using pooler = await startTransactionPooler(inject('databaseUrl'));
  await using resources = new AsyncDisposableStack();
  const open = () => {
    const pool = openPool(pooler.url, 1, { statement_timeout: 20_000 });
    resources.defer(() => pool.end());
    return pool;
  };
  const [other, own] = [open(), open()];
  const hot = resources.use(openReadDatabase(pooler.url));
  const timeouts = new Set<string | undefined>();
  const look = async (): Promise<void> => {
    const { rows } = await other.query<{ statement_timeout: string }>('show statement_timeout');
    timeouts.add(rows[0]?.statement_timeout);
  };
  const isOver = new AbortController();
  const watching = (async () => {
    await look();
    while (!isOver.signal.aborted) await look();
  })();
  await other.query('select 1');
  const show = `select current_setting('statement_timeout') as ms, pg_sleep(0.05)::text`;
  const short = await withTimeBudget(3_500, async () => {
    const single = await own.query<{ ms: string }>(show);
    const withCallback = await new Promise<string | undefined>((resolve, reject) => {
      void own.connect().then((client) =>
        client.query(show, (error: Error | null, result: { rows: { ms: string }[] }) => {
          client.release();
          if (error) reject(error);
          else resolve(result.rows[0]?.ms);
        }),
      );
    });
    const inOne = await inTransaction(own, (client) => client.query<{ ms: string }>(show));
    const read = await hot.query<{ ms: string }>({ sql: show, values: [] });
    return [single.rows[0]?.ms, withCallback, inOne.rows[0]?.ms, read[0]?.ms];
  });
  // The time that the request has left, in whole steps; the pools' own are 20 s and 4 s.
  for (const ms of short) expect(['3500ms', '3s', '2500ms', '2s', '1500ms', '1s']).toContain(ms);
  await expect(withTimeBudget(3_500, () => own.query('select 1 / 0'))).rejects.toThrow('division by zero');
  expect((await own.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '20s' }]);
  isOver.abort();
  await watching;
  expect([...timeouts]).toEqual(['20s']);
});

test('a transaction with little time left goes on after a rollback to a savepoint', async () => {
  await using resources = new AsyncDisposableStack();
  const pool = openPool(inject('databaseUrl'), 1, { statement_timeout: 20_000 });
  resources.defer(() => pool.end());
  const ids = await withTimeBudget(3_500, () =>
    inTransaction(pool, async (client) => {
      const id = async () =>
        (await client.query<{ id: string }>('select pg_current_xact_id() as id')).rows[0]?.id;
      const first = await id();
      await client.query('savepoint before');
      await client.query('rollback to savepoint before');
      return [first, await id(), await id()];
    }),
  );
  expect(new Set(ids).size).toBe(1);
});

test('the server processes of searches give way to all others on this machine', async ({ skip }) => {
  skip(process.platform !== 'linux', 'the niceness of a process is read from /proc');
  const pidOf = { sql: 'select pg_backend_pid() as pid', values: [] };
  const nicenessOf = (rows: readonly { readonly pid: number }[]): number => {
    const title = readFileSync(`/proc/${rows[0]?.pid}/cmdline`, 'utf8');
    skip(!title.startsWith('postgres: '), 'the server runs elsewhere');
    return getPriority(rows[0]?.pid);
  };
  const own = nicenessOf(await reads.query<{ pid: number }>(pidOf));
  expect(nicenessOf(await reads.slow<{ pid: number }>(pidOf))).toBeGreaterThan(own);
});
