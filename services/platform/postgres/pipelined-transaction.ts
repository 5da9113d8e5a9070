import { Client } from 'pg';
import { KEEP_ALIVE_MS, SILENCE_MARGIN_MS, socketOf } from './pool.ts';
import { closeClient } from './read-database.ts';
import { SERVER_OPTIONS } from './server-options.ts';
import { statementNames } from './statement-names.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Limit of a statement, unless the pipeline has its own. */
const STATEMENT_TIMEOUT_MS = 20_000;

export type PipelinedStatement = { readonly text: string; readonly values?: readonly unknown[] };

/** Pipelined connection, for transactions whose statements do not depend on earlier results. */
export type Pipeline = AsyncDisposable & {
  /** Sends all in one write: round trips cost more than small statements. Throws the first error, after a rollback. */
  transaction(statements: readonly PipelinedStatement[]): Promise<void>;
  /** Must be called after other connections filled the tables. */
  discardPlans(): void;
};

export type PipelineSettings = { readonly options?: string; readonly statement_timeout?: number };

/** Creates a pipeline that connects on first use, and again after a lost connection. */
export const createPipeline = (
  url: string,
  { statement_timeout: statementMs = STATEMENT_TIMEOUT_MS, ...settings }: PipelineSettings = {},
): Pipeline => {
  const nameOf = statementNames();
  let opened: Promise<Client> | undefined;
  let isStale = false;

  const open = async (forget: () => void): Promise<Client> => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...settings,
      statement_timeout: statementMs,
      query_timeout: statementMs + SILENCE_MARGIN_MS,
      options: `${SERVER_OPTIONS} ${settings.options ?? ''}`,
      pipeline: true,
    });
    client.on('error', forget);
    client.on('end', forget);
    await client.connect();
    return client;
  };
  const connected = (): Promise<Client> => {
    if (opened) return opened;
    // A connection that ends must not forget the one that has replaced it.
    const forget = (): void => {
      if (opened === opening) opened = undefined;
    };
    const opening: Promise<Client> = open(forget);
    opened = opening;
    opening.catch(forget);
    return opening;
  };

  return {
    transaction: async (statements) => {
      const client = await connected();
      const stream = socketOf(client);
      stream.cork();
      const queries = [
        ...(isStale ? [client.query('discard plans')] : []),
        client.query('begin'),
        ...statements.map(({ text, values }) =>
          values === undefined
            ? client.query(text)
            : client.query({ ...nameOf(text), values: values as unknown[] }),
        ),
        // After a failed statement the server executes `commit` as a rollback.
        client.query('commit'),
      ];
      isStale = false;
      stream.uncork();
      const outcomes = await Promise.allSettled(queries);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
    discardPlans: () => {
      isStale = true;
    },
    [Symbol.asyncDispose]: async () => {
      const ending = await opened?.catch(() => undefined);
      opened = undefined;
      if (ending) await closeClient(ending);
    },
  };
};
