import { once } from 'node:events';
import { Client, type Notification } from 'pg';
import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';
import { closeClient, endWhenSilent, probeWhileQuiet } from './silence.ts';
import { SERVER_OPTIONS } from './server-options.ts';

/** Milliseconds to open the connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Milliseconds before a lost connection is opened again. */
const RECONNECT_MS = 1_000;
/** Milliseconds that the server may take to answer. */
const SILENCE_MS = 5_000;

type Listener = {
  readonly url: string;
  readonly channel: string;
  readonly log: Log;
  /** Called after each connection listens. Notifications may have been missed before. */
  readonly onListening: () => void | Promise<void>;
  readonly onNotification: (notification: Notification) => void;
  /** Called when a connection is lost. */
  readonly onLost?: () => void;
};

/** Listens to a channel of Postgres on a connection of its own, until disposed of. Opens a lost connection again. */
export const listenForNotifications = (listener: Listener): AsyncDisposable => {
  const { url, channel, log, onListening, onNotification, onLost } = listener;
  const ending = new AbortController();

  const listen = async (): Promise<void> => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      options: SERVER_OPTIONS,
      statement_timeout: SILENCE_MS,
      application_name: `listener-${channel}`,
    });
    const lost = new AbortController();
    client.on('error', () => lost.abort());
    client.on('end', () => lost.abort());
    client.on('notification', onNotification);
    try {
      await client.connect();
      await endWhenSilent(client, SILENCE_MS)(client.query(`listen ${channel}`));
      await onListening();
      probeWhileQuiet(client);
      const over = AbortSignal.any([lost.signal, ending.signal]);
      if (!over.aborted) await once(over, 'abort');
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
