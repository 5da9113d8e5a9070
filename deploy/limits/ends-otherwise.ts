import type { Ends } from './read-waits.ts';

/**
 * Ends of waits, and limits of queues, that name no constant of the table of limits. There is one sentence for each place, by file
 * and a part of the line in which it begins. A new or another place without one fails `tests/architecture/limits.test.ts`.
 */

const TIMER = 'A timer ends it, which is started next to it.';
const LISTENS = 'The kernel answers at once whether the port is free.';
const CLOSES = 'All connections are closed first.';
const SETTING = 'A setting of the process, with a greatest value.';
const IN_REQUEST = 'The time of a request: its statements and appends end with it.';
const ROWS = 'It returns rows that were read before, and waits for nothing.';

export const ENDS_OTHERWISE: Ends = {
  'alerts/run.ts': {
    'const results = createPromiseQueue': 'Each wait for a result states its time.',
  },
  'alerts/signals/signal-checks.ts': {
    'const added = createWakeSignal': 'Each wait for it also ends at the next look.',
  },
  'application/access/access-subscription.ts': {
    'const filled = Promise.withResolvers':
      'The log is followed again until the event store answers. Until then the process is not ready, and says what it waits for.',
  },
  'application/access/rate-limiter.ts': {
    'const waiter: Waiter = {': 'RIGHTS_WAIT_MS, by a timer of the clock; RIGHTS_WAITING_MAX wait.',
  },
  'application/commands/command-handler.ts': {
    'const turn = Promise.withResolvers':
      '`EventStore.waitFor`: EVENT_STORE_ANSWER_MS for a request. Other work waits for that before it, which has limits.',
  },
  'application/commands/projection-wait.ts': {
    'new Promise<boolean>((resolve) => { const settle': TIMER,
  },
  'application/reads/position-watch.ts': {
    'new Promise<boolean>((resolve) => { const settle': TIMER,
  },
  'application/reads/replica.ts': {
    'const silent = Promise.withResolvers': TIMER,
    'const lost = Promise.withResolvers': 'The read that it races with has a statement timeout.',
  },
  'collector/collector.ts': {
    'const wishes = createWakeSignal': 'Each wait for it also ends at the next poll.',
  },
  'collector/site/tools/tool-detector.ts': {
    'new Promise((resolve, reject) => { const end': TIMER,
  },
  'delivery/consume-jobs.ts': {
    'const arrival = createWakeSignal': 'An idle consumer waits for work, until the end of the process.',
    'const taken = createWakeSignal':
      'A claim of messages that have arrived, which ends like the statement behind it.',
    'messages.closed()': 'Its messages were read to their end.',
  },
  'delivery/endpoints/endpoint-queues.ts': {
    'const idle = Promise.withResolvers': 'CLOSE_LIMIT_MS of the worker.',
  },
  'delivery/worker.ts': {
    'const released = createWakeSignal': 'The end of a send, which has a time; at the end CLOSE_LIMIT_MS.',
  },
  'ingest/intake/brand-locks.ts': {
    'statement_timeout: waitMs + 5_000': 'LOCK_WAIT_MS and five seconds.',
    'lock_timeout = ${waitMs}': 'LOCK_WAIT_MS.',
  },
  'ingest/queue/consumer.ts': {
    'messages.closed()': 'The loss of the consumer, or the end of the process, which closes it.',
    'ack_wait: ackWaitMs * NANOS_PER_MS': 'ACK_WAIT_MS; less in tests.',
    'max_ack_pending: waitingMax': 'WAITING_MAX; less in tests.',
  },
  'ingest/queue/slots.ts': {
    'const all = createSemaphore': `INGEST_LANES. ${SETTING} WAITING_MAX observations wait.`,
    'const large = createSemaphore': 'A third of INGEST_LANES. WAITING_MAX observations wait.',
  },
  'ingest/readers/content/xlsx-rows.ts': {
    'rows.drain()': [ROWS, ROWS, ROWS],
  },
  'ingest/readers/parsing/open-source.ts': {
    'pipeline(file, gunzip': 'The end of the file, or of its reader.',
  },
  'intake/server/request-body.ts': {
    'const late = Promise.withResolvers': TIMER,
  },
  'mcp/calls/call-limits.ts': {
    'const timeout = Promise.withResolvers': TIMER,
  },
  'mcp/members/pages-context.ts': {
    'history.closed(': IN_REQUEST,
  },
  'operations/api-keys/revoke-unused-api-keys.ts': {
    'keyUsage.flush()': IN_REQUEST,
  },
  'operations/dependencies/read-places.ts': {
    'const waiting: Waiting = {': `${TIMER} WAITING_MAX wait.`,
  },
  'operations/tracked-brands/track-brand.ts': {
    'scrapeRequests.request(': 'It publishes, and waits for nothing.',
  },
  'platform/channels/email.ts': {
    'const late = Promise.withResolvers': TIMER,
  },
  'platform/channels/http-post.ts': {
    'const attempt = new Attempt(': 'Its attempt has a deadline, which is looked at ten times a second.',
  },
  'platform/clock.ts': {
    'new Promise((resolve) => { if (signal?.aborted)': TIMER,
  },
  'platform/concurrency/fair-turns.ts': {
    'const { promise, resolve } = Promise.withResolvers':
      'A later turn of the event loop. TURNS_WAITING_MAX wait.',
  },
  'platform/concurrency/keyed-queue.ts': {
    'const slots = createSemaphore': 'Its creator states the number.',
  },
  'platform/concurrency/promise-queue.ts': {
    'const settled = createWakeSignal': 'Each wait for a result states its time.',
  },
  'platform/concurrency/semaphore.ts': {
    'waiters.push(resolve)':
      'The work in the slots has limits of its own. Each creator limits how many wait.',
  },
  'platform/concurrency/time-budget.ts': {
    'AbortSignal.timeout(Math.ceil(leftMs))': 'What is left of the time of a request.',
    'budget.endsAt <= performance.now()': 'The time of a request.',
  },
  'platform/concurrency/wake-signal.ts': {
    'new Promise((resolve) => { if (signal?.aborted)': 'Each creator says what ends its waits.',
  },
  'platform/event-store/append/append-stream.ts': {
    'const settle = (outcome':
      'The time of the append, which is looked at twenty times a second. WAITING_MAX wait.',
    'deadline: Number.POSITIVE_INFINITY': 'The stream stays open; each append on it has a time.',
  },
  'platform/event-store/catch-up-subscription.ts': {
    'new Promise(setImmediate)': 'The next turn of the event loop.',
    'const changed = createWakeSignal': 'SILENT_MS, then the log is asked.',
  },
  'platform/event-store/copy/raw-log.ts': {
    'appends.append({': 'Between one and two hours from now; APPEND_TIMEOUT_MS for its answer.',
    'deadline: Number.POSITIVE_INFINITY': 'The next event: READ_SILENCE_MS.',
  },
  'platform/event-store/errors.ts': {
    'const answered = Promise.withResolvers': TIMER,
  },
  'platform/event-store/event-store.ts': {
    'const isLate = Promise.withResolvers': TIMER,
  },
  'platform/event-store/node-connection.ts': {
    'discoverEndpoint({': 'FIND_NODE_LIMIT_MS, unless the caller states another time.',
  },
  'platform/event-store/read-slots.ts': {
    'new Promise((resolve, reject) => { const take': `${TIMER} READS_WAITING_MAX wait.`,
  },
  'platform/event-store/server-version.ts': {
    'client.makeUnaryRequest(': 'The deadline of the call: ANSWER_MS.',
  },
  'platform/http/http-server.ts': {
    'requestTimeout: requestTimeoutMs': 'Each server states it: REQUEST_TIMEOUT_MS.',
    'connectionTimeout: clientSilenceMs': 'CLIENT_SILENCE_MS, unless a test states another one.',
  },
  'platform/http/request-budget.ts': {
    'const closed = Promise.withResolvers': 'The close of the connection: CLIENT_SILENCE_MS at the latest.',
  },
  'platform/nats/connection.ts': {
    'const reconnected = createWakeSignal':
      'Consumers wait for it only next to their own work, until the end of the process.',
    'connection.drain()': 'An answer to a ping: SILENCE_MS. A process has SHUTDOWN_DEADLINE_MS for its end.',
  },
  'platform/postgres/bounded-statements.ts': {
    'text: setTimeoutTo(ms)': 'The time that the statement states.',
    'const bound = {': 'The time of the pool, or what is left of a request.',
    'set local statement_timeout': 'The time of the pool, or what is left of a request.',
  },
  'platform/postgres/closable-pool.ts': {
    'const database = openPool': 'Each caller states the number of connections.',
  },
  'platform/postgres/hot-connections.ts': {
    'new Promise<void>((resolve) => { const timer = setTimeout(': `${TIMER} WAITING_MAX wait.`,
  },
  'platform/postgres/notifications.ts': {
    "once(over, 'abort')":
      'The loss of the connection: a question every five seconds has SILENCE_MS for its answer.',
  },
  'platform/postgres/pipelined-transaction.ts': {
    'statement_timeout: statementMs': 'STATEMENT_TIMEOUT_MS, unless the caller states another time.',
  },
  'platform/postgres/pool.ts': {
    'const pool = openPool': 'Each caller states the number of connections.',
    'statement_timeout: statementMs':
      'BACKGROUND_STATEMENT_TIMEOUT_MS, unless the caller states another time.',
    'statement_timeout: hotTimeoutMs': 'HOT_STATEMENT_TIMEOUT_MS; in `api` READ_ANSWER_MS.',
  },
  'platform/process/health-server.ts': {
    'server.close(() => resolve())': CLOSES,
    "once(server, 'listening')": LISTENS,
  },
  'platform/process/readiness.ts': {
    'connection.flush()': 'CHECK_TIMEOUT_MS of the check.',
  },
  'platform/telemetry/tracing-sdk.ts': {
    'const deadline = new Promise': 'FLUSH_LIMIT_MS.',
  },
  'projector/apply/write-changes.ts': {
    'const done = finished': 'The end of the COPY, whose connection has SILENCE_MS.',
    "once(stream, 'drain')": 'The end of the COPY, whose connection has SILENCE_MS.',
  },
  'projector/run.ts': {
    'const wakeSignal = createWakeSignal': 'Each wait for it also ends at the next poll.',
  },
  'projector/verify/verify-projection.ts': {
    'live.query(': 'The verification reads in it all the time; each statement has a time.',
    'replayed.query(': 'The verification reads in it all the time; each statement has a time.',
  },
  'worker/nightly-verification.ts': {
    'const limit = AbortSignal.timeout': '`times.limitMs`, with a default next to it.',
  },
  'deploy/local/demo/pictures/start-pictures.ts': {
    "server.once('error', reject)": LISTENS,
    'server.close(() => resolve())': CLOSES,
  },
  'deploy/local/demo/receiver/receiver.ts': {
    "server.once('error', reject)": LISTENS,
    'server.close(() => resolve())': CLOSES,
  },
  'deploy/local/event-store/read/subscriptions.ts': {
    'const signal = createWakeSignal':
      'A subscription without new events waits for them, until its call ends.',
  },
  'deploy/local/event-store/start.ts': {
    'server.tryShutdown(': 'STOP_LIMIT_MS.',
    'server.bindAsync(': LISTENS,
  },
  'deploy/local/event-store/storage/copy-out.ts': {
    'new Promise((resolve, reject) => { const text': 'STATEMENT_LIMIT_MS of the connection.',
  },
  'deploy/local/event-store/wire/append-codec.ts': {
    BATCH_FIELDS: 'The number of a field.',
    UNARY_FIELDS: 'The number of a field.',
  },
  'deploy/local/event-store/wire/flow-control.ts': {
    '#writable = createWakeSignal': 'The end of the call, which a client that is gone does not outlive.',
  },
  'deploy/local/event-store/write/writer.ts': {
    'setImmediate(resolve)': 'The next turn of the event loop.',
  },
  'deploy/local/main.ts': {
    'new Promise<void>((resolve) => { if (signal.aborted)': '`npm start` runs until it is interrupted.',
  },
  'deploy/local/nats/binary.ts': {
    "await run('apt-get'": 'Each caller states it.',
  },
  'deploy/local/os/ports.ts': {
    'const probe = createServer()': LISTENS,
  },
  'deploy/local/stack/servers.ts': {
    'setTimeout(resolve, ms)': TIMER,
  },
  'deploy/local/stack/supervisor.ts': {
    'new Promise((resolve) => { const describe': 'A service runs until it is stopped, which has a time.',
  },
  'deploy/local/stack/wait-until-ready.ts': {
    'const socket = connect(': 'TRY_LIMIT_MS.',
  },
  'deploy/local/world/open-world.ts': {
    "server.once('error', reject)": LISTENS,
    'server.close(resolve)': CLOSES,
  },
};
