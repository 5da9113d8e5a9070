import { connect, type NatsConnection } from 'nats';
import { pause } from '../clock.ts';
import { withTimeBudget } from '../concurrency/time-budget.ts';
import { openEventStore } from '../event-store/event-store.ts';
import { natsOptions } from '../nats/connection-url.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { type Database, openPool } from '../postgres/pool.ts';
import { readDatabaseUrls } from '../postgres/read-database.ts';

/** A check without a result counts as failed. */
const CHECK_TIMEOUT_MS = 2_000;
const NATS_CONNECT_TIMEOUT_MS = 5_000;

/** `null` when the check passes, else a short reason. A rejection counts as a failure. */
export type Check = () => Promise<string | null>;
export type Checks = Readonly<Record<string, Check>>;

export type Missing = { readonly what: string; readonly why: string };

const reasonOf = (error: unknown): string => {
  const { message, code } = error as { message?: string; code?: unknown };
  return message || (typeof code === 'string' ? code : 'unknown error');
};

const runWithTimeout = async (check: Check): Promise<string | null> => {
  const finished = new AbortController();
  const timeout = pause(CHECK_TIMEOUT_MS, finished.signal).then(
    () => `no response in ${CHECK_TIMEOUT_MS} ms`,
  );
  const why = await Promise.race([check().catch(reasonOf), timeout]);
  finished.abort();
  return why;
};

/** Returns the failed checks; empty means ready. */
export const findMissing = async (checks: Checks): Promise<readonly Missing[]> => {
  const failures = await Promise.all(
    Object.entries(checks).map(async ([what, check]) => {
      const why = await runWithTimeout(check);
      return why === null ? [] : [{ what, why }];
    }),
  );
  return failures.flat();
};

/** Checks that the store answers. Requests end with the check. */
export const checkObjectStore =
  (objectStore: Pick<ObjectStore, 'exists'>): Check =>
  () =>
    withTimeBudget(CHECK_TIMEOUT_MS, async () => {
      await objectStore.exists('readiness');
      return null;
    });

/** Passes for ever after the first pass: a later rebuild would make every process that reads it not ready. */
export const passOnceMet = (check: Check): Check => {
  let hasPassed = false;
  return async () => {
    if (hasPassed) return null;
    const why = await check();
    hasPassed = why === null;
    return why;
  };
};

const UNDEFINED_TABLE = '42P01';

/** Passes once the tables were built. Does not check their lag. */
export const checkReadModelsBuilt =
  (pool: Database, names: readonly string[]): Check =>
  async () => {
    const built = await pool
      .query<{ name: string }>(`select name from projector.projection where state <> 'building'`)
      .catch((error: unknown) => {
        if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return { rows: [] };
        throw error;
      });
    const builtNames = new Set(built.rows.map(({ name }) => name));
    const missing = names.filter((name) => !builtNames.has(name));
    return missing.length === 0 ? null : `not built yet: ${missing.join(', ')}`;
  };

export type ServerUrls = {
  readonly DATABASE_URL: string;
  readonly EVENT_STORE_URL?: string;
  readonly NATS_URL?: string;
  readonly READ_DATABASE_URL?: string | undefined;
};

export type ServerChecks = AsyncDisposable & { readonly checks: Checks };

/** Opens connections of their own with the first check. */
export const openServerChecks = (urls: ServerUrls): ServerChecks => {
  const resources = new AsyncDisposableStack();
  const checkPostgres = (url: string): Check => {
    const pool = openPool(url, 1, { statement_timeout: CHECK_TIMEOUT_MS / 2 });
    resources.defer(() => pool.end());
    return async () => {
      await pool.query('select 1');
      return null;
    };
  };
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL } = urls;
  const { standby } = readDatabaseUrls(urls);
  const checks: Record<string, Check> = { postgres: checkPostgres(DATABASE_URL) };
  if (standby !== null) checks['read_standby'] = checkPostgres(standby);
  if (EVENT_STORE_URL !== undefined) {
    const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
    checks['event_store'] = async () => {
      await eventStore.head();
      return null;
    };
  }
  if (NATS_URL !== undefined) {
    // A check that ran out of time leaves its attempt to the next one.
    let opening: Promise<NatsConnection> | undefined;
    const open = (): Promise<NatsConnection> => {
      const attempt = connect({
        ...natsOptions(NATS_URL),
        name: 'readiness',
        maxReconnectAttempts: -1,
        timeout: NATS_CONNECT_TIMEOUT_MS,
      });
      attempt.catch(() => {
        if (opening === attempt) opening = undefined;
      });
      return attempt;
    };
    resources.defer(async () => (await opening?.catch(() => undefined))?.close());
    checks['nats'] = async () => {
      opening ??= open();
      const connection = await opening;
      if (connection.isClosed()) opening = undefined;
      await connection.flush();
      return null;
    };
  }
  return { checks, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
