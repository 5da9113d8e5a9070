import {
  connect,
  Events,
  headers,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type MsgHdrs,
  type NatsConnection,
} from 'nats';
import { natsOptions } from './connection-url.ts';
import { createWakeSignal, type WakeSignal } from '../concurrency/wake-signal.ts';
import { currentTraceparent } from '../telemetry/tracing.ts';
import { DEFAULT_STREAM_SETTINGS, ensureStreams, type StreamSettings } from './streams.ts';

/** Attempts never end, so the process survives restarts of the server. */
const RECONNECT_WAIT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Limit of an answer to a publication, or to a request about streams and consumers. */
const JETSTREAM_ANSWER_MS = 5_000;
/** The connection is replaced after this without an answer to a ping; until then publications stay in memory. */
const SILENCE_MS = 15_000;
const PINGS = 3;

const TRACEPARENT = 'traceparent';

/** Values must not contain line breaks. */
export const headersFrom = (values: Readonly<Record<string, string>>): MsgHdrs => {
  const messageHeaders = headers();
  for (const [name, value] of Object.entries(values)) messageHeaders.set(name, value);
  return messageHeaders;
};

export const tracedHeaders = (): { readonly headers?: MsgHdrs } => {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return {};
  return { headers: headersFrom({ [TRACEPARENT]: traceparent }) };
};

export const traceparentOf = (message: JsMsg): string | undefined =>
  message.headers?.get(TRACEPARENT) || undefined;

export type Nats = AsyncDisposable & {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly streamSettings: StreamSettings;
};

/** Consumers repeat pulls and acknowledgements after `next`: those around a disconnect may be lost. */
export const watchReconnects = (connection: NatsConnection): Pick<WakeSignal, 'next'> => {
  const reconnected = createWakeSignal();
  const watch = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type === Events.Reconnect) reconnected.notify();
    }
  };
  void watch();
  return reconnected;
};

/**
 * Creates missing streams. Throws when the server is not available; use `waitForServers` before. The connection
 * survives restarts of the server.
 */
export const openNats = async (
  url: string,
  name: string,
  streamSettings: StreamSettings = DEFAULT_STREAM_SETTINGS,
): Promise<Nats> => {
  const connection = await connect({
    ...natsOptions(url),
    name,
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: SILENCE_MS / PINGS,
    maxPingOut: PINGS - 1,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    // Otherwise the client builds an error with a stack trace for each request, also where none fails.
    noAsyncTraces: true,
  });
  try {
    const manager = await connection.jetstreamManager({ timeout: JETSTREAM_ANSWER_MS });
    await ensureStreams({ manager, streamSettings });
    return {
      connection,
      jetstream: connection.jetstream({ timeout: JETSTREAM_ANSWER_MS }),
      manager,
      streamSettings,
      [Symbol.asyncDispose]: () => connection.drain().catch(() => undefined),
    };
  } catch (error) {
    // It would reconnect for ever, next to those of further attempts.
    await connection.close();
    throw error;
  }
};
