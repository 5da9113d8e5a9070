import { EventStoreDBClient } from '@eventstore/db-client';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import { pause } from '../clock.ts';
import { TimeUsedUp } from '../concurrency/time-budget.ts';
import { EventStoreSilent, isDiscoveryFailure } from './errors.ts';
import { parseUrl } from './node-connection.ts';

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

/** Calls in a row without an answer after which the client is replaced. */
const SILENT_CALLS_MAX = 3;

/**
 * Clients of one process with equal options share a TCP connection, and a new client would take over the broken one of its
 * predecessor. Intervals that differ by a millisecond keep them apart.
 */
const KEEPALIVE_FIRST_MS = 10_000;
const KEEPALIVE_DISTINCT = 5_000;
let made = 0;

const connect = (url: string): EventStoreDBClient => {
  const options = parseUrl(url);
  if (options.keepAliveInterval !== undefined) {
    return sendCredentials(EventStoreDBClient.connectionString(url), url);
  }
  made = (made + 1) % KEEPALIVE_DISTINCT;
  const end = url.trim().replace(/\/+$/, '');
  const separator = end.includes('?') ? '&' : '?';
  const distinct = `${end}${separator}keepAliveInterval=${KEEPALIVE_FIRST_MS + made}`;
  return sendCredentials(EventStoreDBClient.connectionString(distinct), url);
};

/** True for errors after which the client does not find its server again by itself. */
const needsNewClient = (error: unknown): boolean =>
  isDiscoveryFailure(error) || (error as { readonly type?: unknown } | null)?.type === 'not-leader';

/** Cancels the calls of a client and closes its connection, which the package leaves open. */
const close = async (client: EventStoreDBClient, isConnected: boolean): Promise<void> => {
  await client.dispose().catch(() => undefined);
  if (!isConnected) return;
  const connected = client as unknown as { getChannel(): Promise<{ close(): void }> };
  const channel = await connected.getChannel();
  channel.close();
};

/** A client of the event store that is replaced when it must be. */
export type RenewableClient = AsyncDisposable & {
  /** Returns the client to use now. Connects on first use. */
  current(): EventStoreDBClient;
  /** Runs a call. Replaces the client when its error needs that, and throws the error: the caller tries again. */
  run<T>(call: (client: EventStoreDBClient) => Promise<T>): Promise<T>;
  /** Replaces the client if it is still this one and the error needs that. */
  renewAfter(error: unknown, failed: EventStoreDBClient): void;
  /** Replaces the client if it is still this one. */
  renew(failed: EventStoreDBClient): void;
  /**
   * Calls back when this client is replaced, until the returned function is called. Its open calls end without a word,
   * because the package takes their end for the caller's own wish.
   */
  onReplaced(client: EventStoreDBClient, callback: () => void): () => void;
};

/** Opens a renewable client. Throws when the connection string is invalid. */
export const openRenewableClient = (url: string): RenewableClient => {
  let client = connect(url);
  const closing = new Set<Promise<void>>();
  const callbacks = new Set<() => void>();

  const closeSoon = (closed: EventStoreDBClient, isConnected: boolean): void => {
    const done = Promise.race([close(closed, isConnected).catch(() => undefined), pause(DISPOSE_LIMIT_MS)]);
    closing.add(done);
    void done.finally(() => closing.delete(done));
  };
  let silentCalls = 0;
  const replace = (failed: EventStoreDBClient, isConnected: boolean): void => {
    if (failed !== client) return;
    silentCalls = 0;
    client = connect(url);
    closeSoon(failed, isConnected);
    const replaced = [...callbacks];
    callbacks.clear();
    for (const callback of replaced) callback();
  };
  const renewAfter = (error: unknown, failed: EventStoreDBClient): void => {
    // A caller without time left says nothing about the server.
    if (failed !== client || error instanceof TimeUsedUp) return;
    silentCalls = error instanceof EventStoreSilent ? silentCalls + 1 : 0;
    if (!needsNewClient(error) && silentCalls < SILENT_CALLS_MAX) return;
    replace(failed, !isDiscoveryFailure(error));
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
    renew: (failed) => replace(failed, true),
    onReplaced: (used, callback) => {
      if (used === client) callbacks.add(callback);
      else callback();
      return () => callbacks.delete(callback);
    },
    [Symbol.asyncDispose]: async () => {
      closeSoon(client, false);
      await Promise.all(closing);
    },
  };
};
