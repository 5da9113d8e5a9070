import type { Client, ClientBase } from 'pg';
import type { Socket } from 'node:net';
import { pause } from '../clock.ts';
import { ServerSilent } from './connection-failure.ts';

/** Ends connections whose server is silent: it was cut off without a word, or it hangs. */

/** Milliseconds that a connection may take to close before its socket is destroyed. */
const CLOSE_LIMIT_MS = 1_000;
/** Milliseconds between two questions to the server on a quiet connection. */
const PROBE_MS = 5_000;
/** Milliseconds that the server may take to answer one. */
const PROBE_ANSWER_MS = 5_000;
/** Milliseconds after which a quiet connection that died without a word is found. */
export const DEAD_FOUND_MS = PROBE_MS + PROBE_ANSWER_MS;

/** `connection.stream` of `pg` is not documented. */
export const socketOf = (client: ClientBase): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

/** Counts a statement as awaited until its answer settles. */
export type Await = <T>(answer: Promise<T>) => Promise<T>;

/**
 * Destroys the socket of a connected client when statements wait and the server sends nothing for `silenceMs`. All waiting
 * statements then throw. The server must answer each statement sooner: `silenceMs` is above its statement timeout, so
 * that a slow server keeps its connections.
 */
export const endWhenSilent = (client: ClientBase, silenceMs: number): Await => {
  const socket = socketOf(client);
  let waiting = 0;
  let heardAt = 0;
  let timer: NodeJS.Timeout | undefined;
  socket.on('data', () => {
    heardAt = performance.now();
  });
  const leftMs = (): number => heardAt + silenceMs - performance.now();
  const look = (): void => {
    timer = undefined;
    if (waiting === 0) return;
    if (leftMs() > 0) watch();
    // A busy process may not have read yet what has arrived: timers run before sockets are read.
    else
      setImmediate(() => {
        if (waiting === 0) return;
        if (leftMs() > 0) watch();
        else socket.destroy(new ServerSilent(silenceMs));
      });
  };
  const watch = (): void => {
    timer ??= setTimeout(look, Math.max(1, leftMs()));
    timer.unref();
  };
  return async (answer) => {
    if (waiting === 0) heardAt = performance.now();
    waiting += 1;
    watch();
    try {
      return await answer;
    } finally {
      waiting -= 1;
    }
  };
};

/**
 * Asks the server each `PROBE_MS` while the connection is quiet: alone it does not notice that it is cut off. Destroys the
 * socket when no answer comes in `PROBE_ANSWER_MS`; the client then emits `error` and `end`. Ends with the connection.
 * `isQuiet`: false while the connection is in use, and then nothing is asked.
 */
export const probeWhileQuiet = (client: ClientBase, isQuiet: () => boolean = () => true): void => {
  const awaiting = endWhenSilent(client, PROBE_ANSWER_MS);
  const ended = new AbortController();
  client.on('end', () => ended.abort());
  const probing = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await pause(PROBE_MS, ended.signal);
      if (!ended.signal.aborted && isQuiet()) await awaiting(client.query('select 1'));
    }
  };
  probing().catch(() => undefined);
};

/** Closes a connection; destroys its socket when the server does not take leave. */
export const closeClient = async (client: Client): Promise<void> => {
  const closed = new AbortController();
  await Promise.race([client.end().catch(() => undefined), pause(CLOSE_LIMIT_MS, closed.signal)]);
  closed.abort();
  socketOf(client).destroy();
};
