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
import { currentTraceparent } from '../telemetry/tracing.ts';

/** A lost server is looked for without end, this often; the process lives through its restarts. */
const RECONNECT_WAIT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
const NANOS_PER_DAY = 86_400_000_000_000;
/** Work that nobody took in this time is asked for again by whoever wants it. */
const WORK_KEPT_DAYS = 7;
const DEAD_LETTERS_KEPT_DAYS = 30;
const STREAM_MAX_BYTES = 8 * 1024 ** 3;
/** Ids only: a hundred bytes each. */
const DELIVERIES_MAX_BYTES = 1024 ** 3;
const DUPLICATE_WINDOW_NANOS = 120_000_000_000;

/** The header by which whoever takes a message goes on with the trace that published it. */
const TRACEPARENT = 'traceparent';

export const tracedHeaders = (): { readonly headers?: MsgHdrs } => {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return {};
  const given = headers();
  given.set(TRACEPARENT, traceparent);
  return { headers: given };
};

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
 * Makes sure that the streams are there: at the start, and again by whoever finds that the server came back without
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
      // A full queue refuses what is handed in rather than dropping what waits.
      discard: stream.retention === RetentionPolicy.Workqueue ? DiscardPolicy.New : DiscardPolicy.Old,
    };
    await manager.streams.add(config).catch(() => manager.streams.update(stream.name, config));
  }
};

/**
 * Tells of each time that the connection came back. `next` resolves at the next one; what was pulled or acknowledged
 * around the loss may not have reached the server.
 */
export const watchReconnects = (connection: NatsConnection): { next(): Promise<void> } => {
  let coming = Promise.withResolvers<void>();
  const watch = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type !== Events.Reconnect) continue;
      coming.resolve();
      coming = Promise.withResolvers<void>();
    }
  };
  void watch();
  return { next: () => coming.promise };
};

/**
 * Connects and makes sure that the streams are there. Throws when the server is not there: whoever waits for it says
 * so. A connection that was made once lives through its restarts.
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
