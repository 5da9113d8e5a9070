import { Client, type ClientConfig } from 'pg';
import type { Writable } from 'node:stream';
import { statementNames } from './statement-names.ts';

/** Milliseconds to open the connection. */
const CONNECT_TIMEOUT_MS = 5_000;

export type PipelinedStatement = { readonly text: string; readonly values?: readonly unknown[] };

/** One connection with query pipelining, for transactions whose statements do not depend on earlier results. */
export type Pipeline = AsyncDisposable & {
  /**
   * Runs the statements in one transaction and sends them in one write: for small statements, the round trips cost
   * more than the work. Throws the error of the first failed statement; the transaction is then rolled back.
   */
  transaction(statements: readonly PipelinedStatement[]): Promise<void>;
  /** Discards cached plans before the next transaction. Call it after other connections filled the tables. */
  discardPlans(): void;
};

/** Creates a pipeline. It connects on first use and reconnects after the connection was lost. */
export const createPipeline = (url: string, settings: Partial<ClientConfig> = {}): Pipeline => {
  const nameOf = statementNames();
  let opened: Promise<Client> | undefined;
  let isStale = false;

  const open = async (): Promise<Client> => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...settings,
      pipeline: true,
    });
    const forget = (): void => {
      opened = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    await client.connect();
    return client;
  };
  const connected = async (): Promise<Client> => {
    opened ??= open();
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };

  return {
    transaction: async (statements) => {
      const client = await connected();
      // `connection.stream` of `pg` is not documented.
      const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } })
        .connection;
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
      const client = await opened?.catch(() => undefined);
      opened = undefined;
      await client?.end();
    },
  };
};
