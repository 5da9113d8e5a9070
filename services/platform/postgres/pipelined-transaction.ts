import { Client, type ClientConfig } from 'pg';
import type { Writable } from 'node:stream';
import { statementNames } from './statement-names.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export type PipelinedStatement = { readonly text: string; readonly values?: readonly unknown[] };

/** One connection for transactions whose statements do not depend on each other's answers. */
export type Pipeline = AsyncDisposable & {
  /**
   * Runs the statements as one transaction that leaves in one write: of small statements, writing each and waiting for
   * it costs more than running it. Throws what the first that failed says; then none of them did anything.
   */
  transaction(statements: readonly PipelinedStatement[]): Promise<void>;
  /** Statements are planned anew on their next use: tables have grown by other hands than these. */
  forgetPlans(): void;
};

/** Connects on first use, and again after the connection was lost. */
export const openPipeline = (url: string, settings: Partial<ClientConfig> = {}): Pipeline => {
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
      // The stream is `pg`'s own, which it does not document.
      const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } })
        .connection;
      stream.cork();
      const answers = [
        ...(isStale ? [client.query('discard plans')] : []),
        client.query('begin'),
        ...statements.map(({ text, values }) =>
          values === undefined
            ? client.query(text)
            : client.query({ ...nameOf(text), values: values as unknown[] }),
        ),
        // After a failure the server takes it for a rollback.
        client.query('commit'),
      ];
      isStale = false;
      stream.uncork();
      const outcomes = await Promise.allSettled(answers);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
    forgetPlans: () => {
      isStale = true;
    },
    [Symbol.asyncDispose]: async () => {
      const client = await opened?.catch(() => undefined);
      opened = undefined;
      await client?.end();
    },
  };
};
