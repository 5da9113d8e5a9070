import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** The advisory lock makes one process the only writer. No other user of the database uses these numbers. */
const LOCK_SPACE = 7_203_115;
const LOCK_ID = 1;
const LOCK_POLL_MS = 100;
const CONNECT_LIMIT_MS = 5_000;
/** A statement that exceeds it counts as lost, and its connection too. */
const STATEMENT_LIMIT_MS = 30_000;

/** Thrown when the other process did not release the schema in time. */
export class OwnedByAnother extends Error {}

/**
 * The advisory lock belongs to the session of every write, so once it is ours, no write of a predecessor can still be
 * pending.
 */
export async function openWriterSession(databaseUrl: string, lockWaitMs: number): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS,
    keepAlive: true,
    application_name: 'event-store writer',
  });
  // A connection error while no query is pending must not end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('set synchronous_commit = on');
    await takeLock(client, lockWaitMs);
    await client.query(await readFile(new URL('../schema.sql', import.meta.url), 'utf8'));
    return client;
  } catch (error) {
    await closeSession(client);
    throw error;
  }
}

async function takeLock(client: pg.Client, lockWaitMs: number): Promise<void> {
  const deadline = Date.now() + lockWaitMs;
  for (;;) {
    const answer = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock(${LOCK_SPACE}, ${LOCK_ID}) as taken`,
    );
    if (answer.rows[0]?.taken === true) return;
    if (Date.now() >= deadline) break;
    await delay(LOCK_POLL_MS);
  }
  throw new OwnedByAnother(
    `Another event store process writes to this database and did not leave within ${lockWaitMs} ms. ` +
      'Stop it first, or give this one a database of its own.',
  );
}

/** Does not wait for a server that may never reply. */
export async function closeSession(client: pg.Client): Promise<void> {
  const closed = client.end().catch(() => undefined);
  await Promise.race([closed, delay(1_000, undefined, { ref: false })]);
  // `end` leaves a broken connection open, and an open session keeps the lock.
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

export function openReaders(databaseUrl: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS,
    keepAlive: true,
    application_name: 'event-store reader',
  });
  // A connection error, idle or in use, must not end the process: the pending query reports it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
