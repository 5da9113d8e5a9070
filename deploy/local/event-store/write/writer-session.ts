import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Two numbers that no other user of the database takes: this lock makes one process the only writer. */
const LOCK_SPACE = 7_203_115;
const LOCK_ID = 1;
const LOCK_POLL_MS = 100;
const CONNECT_LIMIT_MS = 5_000;
/** A statement that takes longer than this is taken for lost, and the connection with it. */
const STATEMENT_LIMIT_MS = 30_000;

/** Another process writes to this schema, and did not leave within the time it was given. */
export class OwnedByAnother extends Error {}

/**
 * Opens the one connection that writes. The lock belongs to the session, and every write goes through that same
 * session: when the lock is ours, no write of a predecessor can still be on its way.
 */
export async function openWriterSession(databaseUrl: string, lockWaitMs: number): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS,
    keepAlive: true,
    application_name: 'event-store writer',
  });
  // A connection that breaks while nobody waits for an answer must not end the process.
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

/** Ends a session without waiting for a server that may never answer. */
export async function closeSession(client: pg.Client): Promise<void> {
  const closed = client.end().catch(() => undefined);
  await Promise.race([closed, delay(1_000, undefined, { ref: false })]);
  // `end` leaves a broken connection open; a session that is not closed keeps the lock.
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** The connections that pages are read through. */
export function openReaders(databaseUrl: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS,
    keepAlive: true,
    application_name: 'event-store reader',
  });
  // Idle or in use, a connection that breaks must not end the process: whoever waits on it is told by its query.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
