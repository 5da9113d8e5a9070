import { setTimeout as delay } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type pg from 'pg';
import { freePort } from '../ports.ts';
import type { CallWriter } from './call-writer.ts';
import { addNodeServices } from './node-service.ts';
import { addNotOffered } from './not-offered.ts';
import { Pages } from './pages.ts';
import { Reader } from './reader.ts';
import { RecentEvents } from './recent-events.ts';
import { unavailable } from './refusal-trailers.ts';
import { closeSession, openReaders, openWriterSession } from './session.ts';
import { StreamStates } from './stream-states.ts';
import { streamsDefinition, streamsService } from './streams-service.ts';
import { Writer } from './writer.ts';

/** A predecessor that was killed is gone at once; one that stops in order needs its own deadline. */
const LOCK_WAIT_MS = 15_000;
const RECONNECT_PAUSE_MS = 250;
const MAX_RECONNECT_PAUSE_MS = 2_000;
/** Each running page of a read or of a subscription that catches up takes one connection. */
const READER_CONNECTIONS = 8;
/** An append holds at most 1 MiB, but a client may send it in parts of 3 MiB before it is told. */
const MAX_MESSAGE_BYTES = 17 * 1024 * 1024;
const MAX_CALLS_PER_CONNECTION = 10_000;
const STOP_LIMIT_MS = 3_000;

export interface EventStoreOptions {
  readonly databaseUrl: string;
  readonly host: string;
  /** 0 means: any free one. */
  readonly port: number;
  readonly log?: EventStoreLog;
}

/** The part of a pino logger that is used here. */
export interface EventStoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface LocalEventStore {
  /** Connection string for the client. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

const SILENT: EventStoreLog = { info: () => undefined, warn: () => undefined };

/**
 * Starts the local event store over a PostgreSQL database. It throws `OwnedByAnother` when another process writes
 * to the same database. While PostgreSQL is away calls are answered UNAVAILABLE, and it carries on when it is back.
 */
export async function startEventStore(options: EventStoreOptions): Promise<LocalEventStore> {
  const log = options.log ?? SILENT;
  const readers = openReaders(options.databaseUrl, READER_CONNECTIONS);
  const pages = new Pages(readers);
  const states = new StreamStates();
  const recent = new RecentEvents();
  const openCalls = new Set<CallWriter>();
  let session: pg.Client | null = null;
  let isStopping = false;

  const writer = new Writer(states, recent, (error) => void lose(session, error));

  async function connect(): Promise<void> {
    const client = await openWriterSession(options.databaseUrl, LOCK_WAIT_MS);
    try {
      await writer.open(client);
    } catch (error) {
      await closeSession(client);
      throw error;
    }
    session = client;
    client.once('end', () => void lose(client, new Error('The connection to PostgreSQL has ended.')));
  }

  async function lose(client: pg.Client | null, error: unknown): Promise<void> {
    if (client === null || client !== session) return;
    session = null;
    writer.suspend();
    if (isStopping) return;
    log.warn({ err: error }, 'database lost');
    await closeSession(client);
    for (
      let pauseMs = RECONNECT_PAUSE_MS;
      !isStopping;
      pauseMs = Math.min(2 * pauseMs, MAX_RECONNECT_PAUSE_MS)
    ) {
      try {
        await connect();
        log.info({}, 'database found again');
        return;
      } catch (cause) {
        log.warn({ err: cause, pauseMs }, 'database still away');
        await delay(pauseMs);
      }
    }
  }

  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MAX_CALLS_PER_CONNECTION,
  });
  let port = options.port;
  server.addService(
    streamsDefinition,
    streamsService({
      writer,
      pages,
      states,
      recent,
      reader: new Reader(pages, states),
      isAvailable: () => session !== null,
      onOpen: (call) => {
        openCalls.add(call);
        call.onOver(() => openCalls.delete(call));
      },
    }),
  );
  addNodeServices(server, () => ({ host: options.host, port }));
  addNotOffered(server);

  try {
    await connect();
    port = await listen(server, options.host, options.port === 0 ? await freePort() : options.port);
  } catch (error) {
    isStopping = true;
    await writer.close();
    if (session !== null) await closeSession(session);
    await readers.end();
    throw error;
  }
  log.info({ host: options.host, port }, 'event store listening');

  return {
    url: `esdb://${options.host}:${port}?tls=false`,
    port,
    stop: async () => {
      isStopping = true;
      // What was accepted is written and answered before the calls are ended.
      await Promise.race([writer.close(), delay(STOP_LIMIT_MS, undefined, { ref: false })]);
      for (const call of openCalls) call.fail(unavailable('The event store is stopping.'));
      await shutDown(server);
      if (session !== null) await closeSession(session);
      await Promise.race([readers.end(), delay(STOP_LIMIT_MS, undefined, { ref: false })]);
      log.info({}, 'event store stopped');
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
}

async function shutDown(server: Server): Promise<void> {
  const orderly = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  await Promise.race([orderly, delay(STOP_LIMIT_MS, undefined, { ref: false })]);
  server.forceShutdown();
}
