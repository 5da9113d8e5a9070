import type { EventStoreLog } from './logger.ts';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Server,
  ServerCredentials,
  type UntypedServiceImplementation,
  type ServiceDefinition,
  status,
  type handleUnaryCall,
} from '@grpc/grpc-js';
import { freePort } from '../os/ports.ts';
import type { CallWriter } from './wire/flow-control.ts';
import { type Credentials, withCredentials } from './calls/authenticate.ts';
import { Pages } from './storage/event-pages.ts';
import { Reader } from './read/reader.ts';
import { RecentEvents } from './storage/event-cache.ts';
import { unavailable, callError } from './wire/error-trailers.ts';
import { openReaders, closeSession, openWriterSession } from './write/writer-session.ts';
import { StreamStates } from './storage/stream-states.ts';
import { streamsDefinition, streamsService, STREAMS } from './calls/streams-service.ts';
import { Writer } from './write/writer.ts';
import monitoring from '@eventstore/db-client/generated/monitoring_grpc_pb.js';
import operations from '@eventstore/db-client/generated/operations_grpc_pb.js';
import persistent from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import projections from '@eventstore/db-client/generated/projections_grpc_pb.js';
import users from '@eventstore/db-client/generated/users_grpc_pb.js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/** Calls with a stream of replies close; the others end with their answer. */
interface Call {
  readonly cancelled: boolean;
  getPeer(): string;
  once(name: 'cancelled' | 'close' | 'finish', listener: () => void): unknown;
}
type Answer = (...args: readonly unknown[]) => void;
type Serve = (call: Call, answer?: Answer) => void;

/** Calls in progress, and those that have not begun. */
interface CallsOfConnection {
  open: number;
  readonly waiting: Set<() => void>;
}

/**
 * Limits calls in progress per connection, as the real server does by its HTTP/2 settings. Node.js cannot: it counts a
 * stream for a moment after its end, and ends the next one with RESOURCE_EXHAUSTED.
 */
function withCallLimit(
  service: UntypedServiceImplementation,
  callsMax: number,
): UntypedServiceImplementation {
  const connections = new Map<string, CallsOfConnection>();

  const enter = (call: Call, begin: () => void): (() => void) => {
    const peer = call.getPeer();
    const connection = connections.get(peer) ?? { open: 0, waiting: new Set() };
    connections.set(peer, connection);
    let isOpen = false;
    const start = (): void => {
      isOpen = true;
      connection.open += 1;
      begin();
    };
    if (connection.open < callsMax) start();
    else connection.waiting.add(start);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      connection.waiting.delete(start);
      if (isOpen) connection.open -= 1;
      const [next] = connection.waiting;
      if (next && connection.open < callsMax) {
        connection.waiting.delete(next);
        next();
      }
      if (connection.open === 0) connections.delete(peer);
    };
  };

  const limited =
    (serve: Serve): Serve =>
    (call, answer) => {
      const over = { leave: (): void => undefined };
      const end = (): void => over.leave();
      for (const name of ['cancelled', 'close', 'finish'] as const) call.once(name, end);
      const answerAndEnd: Answer | undefined =
        answer &&
        ((...args) => {
          answer(...args);
          end();
        });
      over.leave = enter(call, () => serve(call, answerAndEnd));
      if (call.cancelled) end();
    };
  return Object.fromEntries(Object.entries(service).map(([name, serve]) => [name, limited(serve as Serve)]));
}

const RECONNECT_PAUSE_MS = 250;
const MAX_RECONNECT_PAUSE_MS = 2_000;

/** When the connection breaks, the writer refuses calls at once and reopens from what is really in the log. */
class Connection {
  readonly #databaseUrl: string;
  readonly #lockWaitMs: number;
  readonly #log: EventStoreLog;
  readonly #writer: Writer;
  #session: pg.Client | null = null;
  #isClosed = false;

  constructor(databaseUrl: string, lockWaitMs: number, log: EventStoreLog, writer: Writer) {
    this.#databaseUrl = databaseUrl;
    this.#lockWaitMs = lockWaitMs;
    this.#log = log;
    this.#writer = writer;
  }

  get isUp(): boolean {
    return this.#session !== null;
  }

  async open(): Promise<void> {
    const client = await openWriterSession(this.#databaseUrl, this.#lockWaitMs);
    let hasEnded = false;
    client.once('end', () => {
      hasEnded = true;
      this.#lose(client, new Error('The connection to PostgreSQL has ended.'));
    });
    try {
      await this.#writer.open(client);
      if (hasEnded || this.#isClosed) throw new Error('The connection to PostgreSQL has ended.');
    } catch (error) {
      this.#writer.suspend();
      await closeSession(client);
      throw error;
    }
    this.#session = client;
  }

  distrust(error: unknown): void {
    if (this.#session !== null) this.#lose(this.#session, error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const session = this.#session;
    this.#session = null;
    if (session !== null) await closeSession(session);
  }

  #lose(client: pg.Client, error: unknown): void {
    if (client !== this.#session) return;
    this.#session = null;
    this.#writer.suspend();
    this.#log.warn({ err: error }, 'database lost');
    void this.#reopen(client);
  }

  async #reopen(lost: pg.Client): Promise<void> {
    await closeSession(lost);
    let pauseMs = RECONNECT_PAUSE_MS;
    while (!this.#isClosed && !this.isUp) {
      try {
        await this.open();
        this.#log.info({}, 'database found again');
      } catch (error) {
        this.#log.warn({ err: error, pauseMs }, 'database still away');
        await delay(pauseMs);
        pauseMs = Math.min(2 * pauseMs, MAX_RECONNECT_PAUSE_MS);
      }
    }
  }
}

/** Server version whose protocol this follows. */
const PROTOCOL_VERSION = '24.10.5';

/** Clients request this list before their first append, and batch appends only if BatchAppend is in it. */
const getSupportedMethods: handleUnaryCall<shared.Empty, features.SupportedMethods> = (_call, answer) => {
  const methods = ['read', 'append', 'batchappend', 'delete', 'tombstone'].map((name) => {
    const method = new features.SupportedMethod();
    method.setServiceName(STREAMS.toLowerCase());
    method.setMethodName(name);
    return method;
  });
  const reply = new features.SupportedMethods();
  reply.setEventStoreServerVersion(PROTOCOL_VERSION);
  reply.setMethodsList(methods);
  answer(null, reply);
};

/** Clients choose the leader from the members: one, alive and leading. */
function readGossip(
  address: () => { host: string; port: number },
): handleUnaryCall<shared.Empty, gossip.ClusterInfo> {
  const instanceId = new shared.UUID();
  instanceId.setString(randomUUID());
  return (_call, answer) => {
    const { host, port } = address();
    const endPoint = new gossip.EndPoint();
    endPoint.setAddress(host);
    endPoint.setPort(port);
    const member = new gossip.MemberInfo();
    member.setInstanceId(instanceId);
    member.setTimeStamp(String(Date.now()));
    member.setState(gossip.MemberInfo.VNodeState.LEADER);
    member.setIsAlive(true);
    member.setHttpEndPoint(endPoint);
    const reply = new gossip.ClusterInfo();
    reply.setMembersList([member]);
    answer(null, reply);
  };
}

export function addNodeServices(server: Server, address: () => { host: string; port: number }): void {
  server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods });
  server.addService(gossipGrpc.GossipService, { read: readGossip(address) });
}

const INSTEAD: readonly [unknown, string][] = [
  [
    persistent.PersistentSubscriptionsService,
    'The local event store has no persistent subscriptions: use a catch-up subscription and keep its checkpoint.',
  ],
  [
    projections.ProjectionsService,
    'The local event store runs no projections: subscribe to $all and build the read model in the service.',
  ],
  [
    operations.OperationsService,
    'The local event store has no operations: it needs no scavenge, and is stopped by ending its process.',
  ],
  [users.UsersService, 'The local event store has one user, that of its settings, or none.'],
  [
    monitoring.MonitoringService,
    'The local event store has no statistics: ask PostgreSQL for those of its table.',
  ],
];

function addNotOffered(server: Server): void {
  for (const [definition, sentence] of INSTEAD) {
    const service = definition as ServiceDefinition;
    const calls = Object.entries(service).map(([name, method]) => [
      name,
      refusal(method.responseStream, sentence),
    ]);
    server.addService(service, Object.fromEntries(calls) as UntypedServiceImplementation);
  }
}

function refusal(isStream: boolean, sentence: string) {
  const error = callError(status.UNIMPLEMENTED, sentence);
  if (isStream) return (call: { emit(event: 'error', error: unknown): void }) => call.emit('error', error);
  return (_call: unknown, answer: (error: unknown) => void) => answer(error);
}

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
