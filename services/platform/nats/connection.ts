import {
  connect,
  DiscardPolicy,
  Events,
  headers,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type MsgHdrs,
  type NatsConnection,
  RetentionPolicy,
  StorageType,
} from 'nats';
import {
  DEAD_LETTERS_STREAM,
  DEAD_LETTERS_SUBJECTS,
  DELIVERIES_STREAM,
  DELIVERIES_SUBJECTS,
  OBSERVATIONS_STREAM,
  OBSERVATIONS_SUBJECTS,
  SCRAPES_STREAM,
  SCRAPES_SUBJECTS,
} from '#contracts/messages/subjects.ts';
import { natsOptions } from './connection-url.ts';
import { createWakeSignal, type WakeSignal } from '../concurrency/wake-signal.ts';
import { currentTraceparent } from '../telemetry/tracing.ts';

/** Milliseconds between reconnection attempts. They never end, so the process survives restarts of the server. */
const RECONNECT_WAIT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
const NANOS_PER_DAY = 86_400_000_000_000;
/** Retention of work messages in days. Producers must request expired work again. */
const WORK_KEPT_DAYS = 7;
const DEAD_LETTERS_KEPT_DAYS = 30;
const STREAM_MAX_BYTES = 8 * 1024 ** 3;
/** Maximum bytes of the delivery queue. It holds only ids, about a hundred bytes each. */
const DELIVERIES_MAX_BYTES = 1024 ** 3;
const DUPLICATE_WINDOW_NANOS = 120_000_000_000;

/** Header that carries the trace context from the publisher to the consumer of a message. */
const TRACEPARENT = 'traceparent';

/** Returns message headers with these values, by name. Values must not contain line breaks. */
export const headersFrom = (values: Readonly<Record<string, string>>): MsgHdrs => {
  const messageHeaders = headers();
  for (const [name, value] of Object.entries(values)) messageHeaders.set(name, value);
  return messageHeaders;
};

/** Returns publish options with the current trace context; empty when tracing is off. */
export const tracedHeaders = (): { readonly headers?: MsgHdrs } => {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return {};
  return { headers: headersFrom({ [TRACEPARENT]: traceparent }) };
};

/** Returns the `traceparent` of a message, or `undefined` when it has none. */
export const traceparentOf = (message: JsMsg): string | undefined =>
  message.headers?.get(TRACEPARENT) || undefined;

export type Nats = AsyncDisposable & {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
};

const STREAMS = [
  {
    name: OBSERVATIONS_STREAM,
    subjects: [OBSERVATIONS_SUBJECTS],
    retention: RetentionPolicy.Workqueue,
    days: WORK_KEPT_DAYS,
  },
  {
    name: SCRAPES_STREAM,
    subjects: [SCRAPES_SUBJECTS],
    retention: RetentionPolicy.Limits,
    days: WORK_KEPT_DAYS,
  },
  {
    name: DEAD_LETTERS_STREAM,
    subjects: [DEAD_LETTERS_SUBJECTS],
    retention: RetentionPolicy.Limits,
    days: DEAD_LETTERS_KEPT_DAYS,
  },
  {
    name: DELIVERIES_STREAM,
    subjects: [DELIVERIES_SUBJECTS],
    retention: RetentionPolicy.Workqueue,
    days: WORK_KEPT_DAYS,
  },
] as const;

/**
 * Creates or updates the streams. It runs at start, and again when a caller finds that the server restarted without
 * its storage.
 */
export const ensureStreams = async (manager: JetStreamManager): Promise<void> => {
  for (const stream of STREAMS) {
    const config = {
      name: stream.name,
      subjects: [...stream.subjects],
      retention: stream.retention,
      storage: StorageType.File,
      max_age: stream.days * NANOS_PER_DAY,
      max_bytes: stream.name === DELIVERIES_STREAM ? DELIVERIES_MAX_BYTES : STREAM_MAX_BYTES,
      duplicate_window: DUPLICATE_WINDOW_NANOS,
      // A full work queue rejects new messages and does not drop waiting ones.
      discard: stream.retention === RetentionPolicy.Workqueue ? DiscardPolicy.New : DiscardPolicy.Old,
      // Ingest reads bodies of messages one by one; any replica may answer.
      allow_direct: stream.name === OBSERVATIONS_STREAM,
    };
    await manager.streams.add(config).catch(() => manager.streams.update(stream.name, config));
  }
};

/**
 * Watches for reconnections. `next` resolves at the next one. Pulls and acknowledgements sent around the disconnect
 * may not have reached the server, so consumers must repeat them.
 */
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
 * Connects and creates the streams. Throws when the server is not available; use `waitForServers` before. An open
 * connection survives restarts of the server.
 */
export const openNats = async (url: string, name: string): Promise<Nats> => {
  const connection = await connect({
    ...natsOptions(url),
    name,
    timeout: CONNECT_TIMEOUT_MS,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
  });
  const manager = await connection.jetstreamManager();
  await ensureStreams(manager);
  return {
    connection,
    jetstream: connection.jetstream(),
    manager,
    [Symbol.asyncDispose]: () => connection.drain().catch(() => undefined),
  };
};
