import type { EventStoreLog } from './logger.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { freePort } from '../os/ports.ts';
import type { CallWriter } from './wire/flow-control.ts';
import { Connection } from './connection.ts';
import { type Credentials, withCredentials } from './calls/authenticate.ts';
import { addNodeServices } from './calls/discovery-service.ts';
import { withCallLimit } from './calls/limit-calls.ts';
import { addNotOffered } from './calls/unimplemented.ts';
import { Pages } from './storage/event-pages.ts';
import { Reader } from './read/reader.ts';
import { RecentEvents } from './storage/event-cache.ts';
import { unavailable } from './wire/error-trailers.ts';
import { openReaders } from './write/writer-session.ts';
import { StreamStates } from './storage/stream-states.ts';
import { streamsDefinition, streamsService } from './calls/streams-service.ts';
import { Writer } from './write/writer.ts';

/** A killed predecessor has released its lock at once; one that stops in order needs its own deadline. */
const LOCK_WAIT_MS = 15_000;
/** Each running page of a read or catch-up takes one connection. */
const READER_CONNECTIONS = 8;
/** An append holds at most 1 MiB, but a client may send parts of up to 3 MiB before it gets the refusal. */
const MAX_MESSAGE_BYTES = 17 * 1024 * 1024;
const MAX_CALLS_PER_CONNECTION = 100;
const MAX_STREAMS_PER_CONNECTION = 10_000;
const STOP_LIMIT_MS = 3_000;

export interface EventStoreOptions {
  readonly databaseUrl: string;
  readonly host: string;
  readonly port: number;
  readonly log?: EventStoreLog;
  /** PEM texts; without them the server does not use TLS. */
  readonly tls?: { readonly key: Buffer; readonly certificate: Buffer };
  /** Without credentials every client is accepted. */
  readonly credentials?: Credentials;
  /** Wait in ms for a predecessor on the same database; fifteen seconds by default. */
  readonly lockWaitMs?: number;
}

export interface LocalEventStore {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

const SILENT: EventStoreLog = { info: () => undefined, warn: () => undefined };

/**
 * Throws `OwnedByAnother` when another process writes to the database. While PostgreSQL is down, calls end with
 * UNAVAILABLE.
 */
export async function startEventStore(options: EventStoreOptions): Promise<LocalEventStore> {
  const log = options.log ?? SILENT;
  const readers = openReaders(options.databaseUrl, READER_CONNECTIONS);
  const pages = new Pages(readers);
  const states = new StreamStates();
  const recent = new RecentEvents();
  const openCalls = new Set<CallWriter>();
  const writer = new Writer(states, recent, (error) => connection.distrust(error));
  const lockWaitMs = options.lockWaitMs ?? LOCK_WAIT_MS;
  const connection: Connection = new Connection(options.databaseUrl, lockWaitMs, log, writer);

  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MAX_STREAMS_PER_CONNECTION,
  });
  let port = options.port;
  const unlimited = streamsService({
    writer,
    pages,
    states,
    recent,
    reader: new Reader(pages, states),
    isAvailable: () => connection.isUp,
    onOpen: (call) => {
      openCalls.add(call);
      call.onOver(() => openCalls.delete(call));
    },
  });
  const streams: UntypedServiceImplementation = withCallLimit(
    options.credentials ? withCredentials(unlimited, options.credentials) : unlimited,
    MAX_CALLS_PER_CONNECTION,
  );
  server.addService(streamsDefinition, streams);
  addNodeServices(server, () => ({ host: options.host, port }));
  addNotOffered(server);

  try {
    await connection.open();
    const asked = options.port === 0 ? await freePort() : options.port;
    port = await listen(server, options.host, asked, credentialsOf(options));
  } catch (error) {
    await connection.close();
    await writer.close();
    await readers.end();
    throw error;
  }
  log.info({ host: options.host, port }, 'event store listening');

  return {
    url: `esdb://${userOf(options.credentials)}${options.host}:${port}?tls=${options.tls !== undefined}`,
    port,
    stop: async () => {
      // Accepted appends are written and answered before the calls are ended.
      await within(STOP_LIMIT_MS, writer.close());
      for (const call of openCalls) call.fail(unavailable('The event store is stopping.'));
      await within(STOP_LIMIT_MS, new Promise<void>((resolve) => server.tryShutdown(() => resolve())));
      server.forceShutdown();
      await connection.close();
      await within(STOP_LIMIT_MS, readers.end());
      log.info({}, 'event store stopped');
    },
  };
}

const userOf = (credentials: Credentials | undefined): string =>
  credentials === undefined
    ? ''
    : `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`;

async function within(limitMs: number, step: Promise<unknown>): Promise<void> {
  await Promise.race([step, delay(limitMs, undefined, { ref: false })]);
}

function credentialsOf({ tls }: EventStoreOptions): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.certificate }]);
}

function listen(server: Server, host: string, port: number, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
}
