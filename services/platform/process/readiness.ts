import { connect, type NatsConnection } from 'nats';
import { pause } from '../clock.ts';
import { openEventStore } from '../event-store/event-store.ts';
import { natsOptions } from '../nats/connection-url.ts';
import { type Database, openPool } from '../postgres/pool.ts';

/** A server that has not answered in this time does not answer. */
const CHECK_TIMEOUT_MS = 2_000;

/** `null` when all is well; else what is missing, in a few words. To throw says the same. */
export type Check = () => Promise<string | null>;
export type Checks = Readonly<Record<string, Check>>;

export type Missing = { readonly what: string; readonly why: string };

const reasonOf = (error: unknown): string => {
  const { message, code } = error as { message?: string; code?: unknown };
  return message || (typeof code === 'string' ? code : 'it failed');
};

const within = async (check: Check): Promise<string | null> => {
  const answered = new AbortController();
  const late = pause(CHECK_TIMEOUT_MS, answered.signal).then(() => `no answer in ${CHECK_TIMEOUT_MS} ms`);
  const why = await Promise.race([check().catch(reasonOf), late]);
  answered.abort();
  return why;
};

/** Asks all at once, each within its time. Empty: ready. */
export const findMissing = async (checks: Checks): Promise<readonly Missing[]> => {
  const answers = await Promise.all(
    Object.entries(checks).map(async ([what, check]) => {
      const why = await within(check);
      return why === null ? [] : [{ what, why }];
    }),
  );
  return answers.flat();
};

/**
 * A condition of the start that is not asked for again once it was met: read models that are built anew later must
 * not take every process that reads them out of service at once.
 */
export const untilFirstMet = (check: Check): Check => {
  let met = false;
  return async () => {
    if (met) return null;
    const why = await check();
    met = why === null;
    return why;
  };
};

const UNDEFINED_TABLE = '42P01';

/** Whether the tables of these projections were ever built; what they lag behind is another question. */
export const readModelsMade =
  (pool: Database, names: readonly string[]): Check =>
  async () => {
    const made = await pool
      .query<{ name: string }>(`select name from projector.projection where state <> 'building'`)
      .catch((error: unknown) => {
        if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return { rows: [] };
        throw error;
      });
    const known = new Set(made.rows.map(({ name }) => name));
    const missing = names.filter((name) => !known.has(name));
    return missing.length === 0 ? null : `not built yet: ${missing.join(', ')}`;
  };

export type ServerUrls = {
  readonly DATABASE_URL: string;
  readonly EVENT_STORE_URL?: string;
  readonly NATS_URL?: string;
};

export type ServerChecks = AsyncDisposable & { readonly checks: Checks };

/** Whether the servers answer, over connections of its own that are opened when they are first asked. */
export const openServerChecks = (urls: ServerUrls): ServerChecks => {
  const resources = new AsyncDisposableStack();
  const pool = openPool(urls.DATABASE_URL, 1);
  resources.defer(() => pool.end());
  const checks: Record<string, Check> = {
    postgres: async () => {
      await pool.query('select 1');
      return null;
    },
  };
  const { EVENT_STORE_URL, NATS_URL } = urls;
  if (EVENT_STORE_URL !== undefined) {
    const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
    checks['event_store'] = async () => {
      await eventStore.head();
      return null;
    };
  }
  if (NATS_URL !== undefined) {
    let connection: NatsConnection | undefined;
    resources.defer(async () => connection?.close());
    checks['nats'] = async () => {
      if (connection === undefined || connection.isClosed()) {
        connection = await connect({ ...natsOptions(NATS_URL), name: 'readiness', maxReconnectAttempts: -1 });
      }
      await connection.flush();
      return null;
    };
  }
  return { checks, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
