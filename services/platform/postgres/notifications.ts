import { Client, type Notification } from 'pg';
import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';
import { closeClient } from './read-database.ts';
import { SERVER_OPTIONS } from './server-options.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 1_000;
/** Probes the server, because a connection that only listens does not notice that it is cut off. */
const PROBE_MS = 15_000;
const ANSWER_MS = 5_000;

type Listener = {
  readonly url: string;
  readonly channel: string;
  readonly log: Log;
  /** Called after each connection. Notifications may have been missed before. */
  readonly onListening: () => void | Promise<void>;
  readonly onNotification: (notification: Notification) => void;
  readonly onLost?: () => void;
};

/** Listens until disposed, and opens a lost connection again. */
export const listenForNotifications = (listener: Listener): AsyncDisposable => {
  const { url, channel, log, onListening, onNotification, onLost } = listener;
  const ending = new AbortController();

  const listen = async (): Promise<void> => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      options: SERVER_OPTIONS,
      statement_timeout: ANSWER_MS,
      query_timeout: ANSWER_MS,
      application_name: `listener-${channel}`,
    });
    const lost = new AbortController();
    client.on('error', () => lost.abort());
    client.on('end', () => lost.abort());
    client.on('notification', onNotification);
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      await onListening();
      const over = AbortSignal.any([lost.signal, ending.signal]);
      while (!over.aborted) {
        await pause(PROBE_MS, over);
        if (!over.aborted) await client.query('select 1');
      }
    } finally {
      onLost?.();
      await closeClient(client);
    }
  };

  const listening = (async () => {
    while (!ending.signal.aborted) {
      await listen().catch((error: unknown) => log.warn({ err: error, channel }, 'stopped listening'));
      await pause(RECONNECT_MS, ending.signal);
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await listening;
    },
  };
};
