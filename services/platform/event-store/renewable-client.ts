import { EventStoreDBClient } from '@eventstore/db-client';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import { pause } from '../clock.ts';
import { TimeUsedUp } from '../concurrency/time-budget.ts';
import { EventStoreSilent, isDiscoveryFailure } from './errors.ts';
import { parseUrl } from './node-connection.ts';

/** A call that the server left open would hold the client for ever. */
const DISPOSE_LIMIT_MS = 200;

/** Protected member of the client. */
type CallArguments = { callArguments: (...options: readonly unknown[]) => [Metadata, CallOptions] };

const PLAIN_TEXT_CREDENTIALS = /^(?:esdb|kurrentdb):\/\/([^:@/]+):([^@/]*)@.*[?&]tls=false(?:&|$)/i;

/** The client omits credentials with `tls=false`, but the local event store checks them. */
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

const SILENT_CALLS_MAX = 3;

/** Clients with equal options share a TCP connection, also a broken one. Other intervals keep a new client apart. */
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

/** After these errors the client does not find its server again by itself. */
const needsNewClient = (error: unknown): boolean =>
  isDiscoveryFailure(error) || (error as { readonly type?: unknown } | null)?.type === 'not-leader';

/** The package leaves the connection open. */
const close = async (client: EventStoreDBClient, isConnected: boolean): Promise<void> => {
  await client.dispose().catch(() => undefined);
  if (!isConnected) return;
  const connected = client as unknown as { getChannel(): Promise<{ close(): void }> };
  const channel = await connected.getChannel();
  channel.close();
};

export type RenewableClient = AsyncDisposable & {
  /** Connects on first use. */
  current(): EventStoreDBClient;
  /** Throws the error of the call: the caller tries again. */
  run<T>(call: (client: EventStoreDBClient) => Promise<T>): Promise<T>;
  /** Does nothing when the client was replaced already. */
  renewAfter(error: unknown, failed: EventStoreDBClient): void;
  renew(failed: EventStoreDBClient): void;
  /** Open calls end without an error: the package takes it for the caller's wish. The result ends the callbacks. */
  onReplaced(client: EventStoreDBClient, callback: () => void): () => void;
};

/** Throws when the connection string is invalid. */
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
