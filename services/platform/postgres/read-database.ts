import { Client, type QueryResult } from 'pg';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { pause } from '../clock.ts';
import { isConnectionFailure } from './connection-failure.ts';
import { KEEP_ALIVE_MS, openPool, requestPoolSettings, SILENCE_MARGIN_MS, socketOf } from './pool.ts';
import { SERVER_OPTIONS } from './server-options.ts';
import { REQUEST_ANSWER_MS } from './settings.ts';
import { statementNames } from './statement-names.ts';

/** Each carries many statements at the same time. */
const LIGHT_CLIENTS = 4;
/** Further light reads are refused. */
export const LIGHT_READS_MAX = 2_048;
export const HEAVY_CLIENTS = 6;
const HEAVY_STATEMENT_TIMEOUT_MS = 5_000;
/** A connection that closes more slowly loses its socket. */
const CLOSE_LIMIT_MS = 1_000;

/** Too many light reads run. The caller may try again. */
export class ReadsBusy extends Error {
  constructor() {
    super('Too many reads are in progress. Try again.');
    this.name = 'ReadsBusy';
  }
}

export type OpenReadDatabase = ReadDatabase &
  AsyncDisposable & {
    /** Opens connections before the first read, which shows a failure. */
    connect(): Promise<void>;
  };

export type ReadDatabaseLimits = {
  /** Limit of a light read and its connection; `REQUEST_ANSWER_MS` when absent. */
  readonly answerMs?: number;
};

type Slot = { opening: Promise<Client> | undefined; client: Client | undefined; inFlight: number };

/** Destroys the socket when the server does not close in time. */
export const closeClient = async (client: Client): Promise<void> => {
  const closed = new AbortController();
  await Promise.race([client.end().catch(() => undefined), pause(CLOSE_LIMIT_MS, closed.signal)]);
  closed.abort();
  socketOf(client).destroy();
};

/** All statements of one iteration of the event loop go out in one write, which under load halves their cost. */
const openLightReads = (url: string, answerMs: number) => {
  const slots: Slot[] = Array.from({ length: LIGHT_CLIENTS }, () => ({
    opening: undefined,
    client: undefined,
    inFlight: 0,
  }));
  let inFlight = 0;
  let isClosed = false;
  let gathering: Slot | null = null;

  /** Connections without reads may be dead, too, and no read would find that. */
  const forgetFailed = (failed: Client): void => {
    for (const slot of slots) {
      if (!slot.client || (slot.client !== failed && slot.inFlight > 0)) continue;
      socketOf(slot.client).destroy();
      slot.opening = undefined;
      slot.client = undefined;
    }
  };
  const open = (slot: Slot): Promise<Client> => {
    if (isClosed) throw new Error('The read database is closed.');
    const { connectionTimeoutMillis, statement_timeout, query_timeout } = requestPoolSettings(answerMs);
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis,
      statement_timeout,
      query_timeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      options: SERVER_OPTIONS,
      pipeline: true,
    });
    // A connection that ends must not forget the one that has replaced it.
    const forget = (): void => {
      if (slot.opening !== opening) return;
      if (slot.client) return forgetFailed(slot.client);
      slot.opening = undefined;
    };
    const connect = async (): Promise<Client> => {
      await client.connect();
      slot.client = client;
      return client;
    };
    client.on('error', forget);
    client.on('end', forget);
    const opening: Promise<Client> = connect();
    slot.opening = opening;
    opening.catch(forget);
    return opening;
  };
  const gather = (): Slot => {
    if (gathering) return gathering;
    let least = slots[0] as Slot;
    for (const slot of slots) if (slot.inFlight < least.inFlight) least = slot;
    gathering = least;
    const stream = least.client && socketOf(least.client);
    stream?.cork();
    setImmediate(() => {
      gathering = null;
      stream?.uncork();
    });
    return least;
  };

  return {
    run: async (statement: { text: string; name?: string; values: unknown[] }): Promise<QueryResult> => {
      if (inFlight >= LIGHT_READS_MAX) throw new ReadsBusy();
      const slot = gather();
      inFlight += 1;
      slot.inFlight += 1;
      let client: Client | undefined;
      try {
        client = slot.client ?? (await (slot.opening ?? open(slot)));
        return await client.query(statement);
      } catch (error) {
        if (client && slot.client === client && isConnectionFailure(error)) forgetFailed(client);
        throw error;
      } finally {
        slot.inFlight -= 1;
        inFlight -= 1;
      }
    },
    connect: async (): Promise<void> => {
      await Promise.allSettled(slots.map((slot) => slot.opening ?? open(slot)));
    },
    close: async (): Promise<void> => {
      isClosed = true;
      const opened = await Promise.allSettled(slots.flatMap(({ opening }) => opening ?? []));
      await Promise.all(
        opened.flatMap((one) => (one.status === 'fulfilled' ? [closeClient(one.value)] : [])),
      );
    },
  };
};

/** `query` pipelines light reads. `slow` runs heavy reads with a plan for their values, each on an own connection. */
export const openReadDatabase = (
  url: string,
  { answerMs = REQUEST_ANSWER_MS }: ReadDatabaseLimits = {},
): OpenReadDatabase => {
  const light = openLightReads(url, answerMs);
  const heavy = openPool(url, HEAVY_CLIENTS, {
    ...requestPoolSettings(answerMs),
    statement_timeout: HEAVY_STATEMENT_TIMEOUT_MS,
    query_timeout: HEAVY_STATEMENT_TIMEOUT_MS + SILENCE_MARGIN_MS,
    options: '-c plan_cache_mode=force_custom_plan -c max_parallel_workers_per_gather=0',
  });
  /** The SQL tag of slonik writes `$slonik_1` instead of `$1`. */
  const statementOf = statementNames((sql) => sql.replaceAll('$slonik_', '$'));
  return {
    query: async <Row>({ sql, values }: ReadQuery) => {
      const { text, name } = statementOf(sql);
      const run = light.run({ text, ...(name === undefined ? {} : { name }), values: values as unknown[] });
      return (await run).rows as readonly Row[];
    },
    slow: async <Row>({ sql, values }: ReadQuery) => {
      const { rows } = await heavy.query(statementOf(sql).text, values as unknown[]);
      return rows as readonly Row[];
    },
    connect: () => light.connect(),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([light.close(), heavy.end()]);
    },
  };
};

const serverOf = (url: string): string => {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`;
};

/** On the server of `DATABASE_URL` a `READ_DATABASE_URL` has a read-only role; elsewhere it is a standby. */
export const readDatabaseUrls = ({
  DATABASE_URL,
  READ_DATABASE_URL: reader = DATABASE_URL,
}: {
  readonly DATABASE_URL: string;
  readonly READ_DATABASE_URL?: string | undefined;
}): { readonly primary: string; readonly standby: string | null } =>
  serverOf(reader) === serverOf(DATABASE_URL)
    ? { primary: reader, standby: null }
    : { primary: DATABASE_URL, standby: reader };

/** Leaves the primary time to answer the read. */
const STANDBY_ANSWER_MS = 1_000;

/** Closes the databases with `resources`. */
export const openReadDatabases = (
  urls: Parameters<typeof readDatabaseUrls>[0],
  resources: AsyncDisposableStack,
  limits: ReadDatabaseLimits = {},
): { readonly db: OpenReadDatabase; readonly standby: OpenReadDatabase | undefined } => {
  const { primary, standby } = readDatabaseUrls(urls);
  return {
    db: resources.use(openReadDatabase(primary, limits)),
    standby:
      standby === null
        ? undefined
        : resources.use(openReadDatabase(standby, { answerMs: STANDBY_ANSWER_MS })),
  };
};
