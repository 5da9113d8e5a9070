import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { pause } from '#platform/clock.ts';
import { type Database, type OpenReadDatabase, openPool, openReadDatabase } from '#platform/postgres/pool.ts';
import { createHeavyReads, HEAVY_IN_FLIGHT_MAX } from '#operations/dependencies/heavy-reads.ts';

/** Reads that have a place and their connections. */

/** Options of `expect.poll`. The server cancels a read after 4 s. */
const WAIT = { timeout: 4_000, interval: 20 } as const;
/** Pipelined connections, and the milliseconds of one read after which one takes no further reads. */
const HOT_CLIENTS = 4;
const BUSY_MS = 101;
/** Slow runs of fast statements on other connections, and reads of statements that have not run yet. */
const FAST_ON_OTHERS = 4;
const UNMEASURED = 4;
/** A lock held by the test, for which all reads wait. */
const GATE = 42_000_077;
const WAITS = `(select pg_advisory_xact_lock_shared($1)::text)`;
const FAST = { sql: `select 'fast' as kind, ${WAITS}`, values: [GATE] };
const SLOW = `select 'slow' as kind, pg_sleep($2)::text, ${WAITS}`;
const SLOW_SECONDS = 0.1;
const RUNS = 20;

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

let reads: OpenReadDatabase;
let others: Database;
beforeAll(async () => {
  others = openPool(inject('databaseUrl'), 2);
  resources.defer(() => others.end());
  reads = resources.use(openReadDatabase(inject('databaseUrl')));
  await reads.connect();
  const slowly = Array.from({ length: RUNS }, () => reads.query({ sql: SLOW, values: [GATE, SLOW_SECONDS] }));
  await Promise.all(slowly);
  for (let run = 0; run < RUNS; run += 1) await reads.query(FAST);
  expect([reads.speedOf?.(FAST.sql), reads.speedOf?.(SLOW)]).toEqual(['fast', 'slow']);
});

/** Number of statements that wait for the gate at the server. */
const waiting = async (): Promise<number> => {
  const { rows } = await others.query<{ count: number }>(
    `select count(*)::int as count from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
    [GATE],
  );
  return rows[0]?.count ?? 0;
};

/** Closes the gate until the result is disposed of. */
const closeGate = async (): Promise<AsyncDisposable> => {
  const client = openPool(inject('databaseUrl'), 1);
  await client.query('select pg_advisory_lock($1)', [GATE]);
  let ending: Promise<void> | undefined;
  return { [Symbol.asyncDispose]: () => (ending ??= client.end()) };
};

test('all slow and unmeasured reads that have a place run, while slow runs of fast statements have connections of theirs', async () => {
  await using gate = await closeGate();
  const running: Promise<string>[] = [];
  const start = (read: Promise<unknown>): void =>
    void running.push(
      read.then(
        () => 'answered',
        ({ message }: Error) => message,
      ),
    );
  for (let read = 0; read < HOT_CLIENTS; read += 1) {
    start(reads.query(FAST));
    // Reads of one iteration of the event loop share a connection.
    await pause(1);
  }
  await expect.poll(waiting, WAIT).toBe(HOT_CLIENTS);
  await pause(BUSY_MS);
  for (let read = 1; read <= FAST_ON_OTHERS; read += 1) {
    start(reads.query(FAST));
    await expect.poll(waiting, WAIT).toBe(HOT_CLIENTS + read);
  }
  const heavy = createHeavyReads();
  for (let read = 0; read < HEAVY_IN_FLIGHT_MAX; read += 1)
    start(heavy.of(reads, `slow ${read}`).query({ sql: SLOW, values: [GATE, 0] }));
  for (let read = 0; read < UNMEASURED; read += 1) {
    const sql = `select 'unmeasured ${read}' as kind, ${WAITS}`;
    start(heavy.of(reads, `unmeasured ${read}`).query({ sql, values: [GATE] }));
  }
  await expect.poll(waiting, WAIT).toBe(HOT_CLIENTS + FAST_ON_OTHERS + HEAVY_IN_FLIGHT_MAX + UNMEASURED);
  await gate[Symbol.asyncDispose]();
  expect(new Set(await Promise.all(running))).toEqual(new Set(['answered']));
});
