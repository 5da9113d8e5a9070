import { EventStoreDBClient } from '@eventstore/db-client';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import { pause } from '../clock.ts';

/** Maximum milliseconds to wait for the client to close. A call that the server left open would hold it for ever. */
const DISPOSE_LIMIT_MS = 200;

/** The protected member of the client that returns header and options of each call. */
type CallArguments = { callArguments: (...options: readonly unknown[]) => [Metadata, CallOptions] };

const PLAIN_TEXT_CREDENTIALS = /^(?:esdb|kurrentdb):\/\/([^:@/]+):([^@/]*)@.*[?&]tls=false(?:&|$)/i;

/**
 * Sends the credentials of a connection string with `tls=false`. The client omits them there, but the local event store
 * checks them. Settings refuse such a string for another host, unless the operator allows plain text.
 */
const sendCredentials = (client: EventStoreDBClient, url: string): EventStoreDBClient => {
  const [, user, password] = PLAIN_TEXT_CREDENTIALS.exec(url) ?? [];
  if (user === undefined || password === undefined) return client;
  const basic = Buffer.from(`${decodeURIComponent(user)}:${decodeURIComponent(password)}`).toString('base64');
  const calls = client as unknown as CallArguments;
  const argumentsOf = calls.callArguments;
  calls.callArguments = (...options) => {
    const [metadata, { credentials: _, ...others }] = argumentsOf(...options);
    metadata.set('authorization', `Basic ${basic}`);
    return [metadata, others];
  };
  return client;
};

/** The client's own error may repeat the connection string, which can hold a password. */
const connect = (url: string): EventStoreDBClient => {
  try {
    return sendCredentials(EventStoreDBClient.connectionString(url), url);
  } catch {
    throw new Error(
      'EVENT_STORE_URL is not a connection string. Use the form esdb://user:password@host:2113?tls=true.',
    );
  }
};

/** Thrown when the event store does not answer in time. */
export class EventStoreSilent extends Error {
  constructor(milliseconds: number) {
    super(`the event store did not answer within ${milliseconds} ms`);
    this.name = 'EventStoreSilent';
  }
}

/** Calls in a row without an answer after which the client is replaced. */
const SILENT_CALLS_MAX = 3;
/** gRPC status `UNAVAILABLE`. */
const GRPC_UNAVAILABLE = 14;

/**
 * True for a failed discovery of the cluster's nodes. The client has no type for it: it remembers the failure of its first
 * append, and then repeats it for ever.
 */
export const isDiscoveryFailure = (error: unknown): boolean => {
  const { message, type, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const isUntyped = type === undefined && code === GRPC_UNAVAILABLE;
  return isUntyped || (typeof message === 'string' && message.startsWith('Failed to discover'));
};

/** True for errors after which the client does not find its server again by itself. */
const needsNewClient = (error: unknown): boolean =>
  isDiscoveryFailure(error) || (error as { readonly type?: unknown } | null)?.type === 'not-leader';

/** A client of the event store that is replaced when it must be. */
export type RenewableClient = AsyncDisposable & {
  /** Returns the client to use now. Connects on first use. */
  current(): EventStoreDBClient;
  /** Runs a call. Replaces the client when its error needs that, and throws the error: the caller tries again. */
  run<T>(call: (client: EventStoreDBClient) => Promise<T>): Promise<T>;
  /** Replaces the client if it is still this one and the error needs that. */
  renewAfter(error: unknown, failed: EventStoreDBClient): void;
};

/** Opens a renewable client. Throws when the connection string is invalid. */
export const openRenewableClient = (url: string): RenewableClient => {
  let client = connect(url);
  const closing = new Set<Promise<void>>();

  const close = (closed: EventStoreDBClient): void => {
    const done = Promise.race([closed.dispose().catch(() => undefined), pause(DISPOSE_LIMIT_MS)]);
    closing.add(done);
    void done.finally(() => closing.delete(done));
  };
  let silentCalls = 0;
  const renewAfter = (error: unknown, failed: EventStoreDBClient): void => {
    if (failed !== client) return;
    silentCalls = error instanceof EventStoreSilent ? silentCalls + 1 : 0;
    if (!needsNewClient(error) && silentCalls < SILENT_CALLS_MAX) return;
    silentCalls = 0;
    client = connect(url);
    close(failed);
  };
  return {
    current: () => client,
    run: async (call) => {
      const used = client;
      try {
        const answer = await call(used);
        silentCalls = 0;
        return answer;
      } catch (error) {
        renewAfter(error, used);
        throw error;
      }
    },
    renewAfter,
    [Symbol.asyncDispose]: async () => {
      close(client);
      await Promise.all(closing);
    },
  };
};
