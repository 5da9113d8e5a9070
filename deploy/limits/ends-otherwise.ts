/**
 * Ends of waits, and limits of queues, that name no constant of the table of limits. There is one sentence for each place, by file
 * and primitive, in the order of the code. A new place without one fails `tests/architecture/limits.test.ts`.
 */

const TIMER = 'A timer ends it, which is started next to it.';
const LISTENS = 'The kernel answers at once whether the port is free.';
const CLOSES = 'All connections are closed first.';
const SETTING = 'A setting of the process, with a greatest value.';

export const ENDS_OTHERWISE: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'alerts/run.ts': { createPromiseQueue: ['Each wait for a result states its time.'] },
  'alerts/signals/signal-checks.ts': { createWakeSignal: ['Each wait for it also ends at the next look.'] },
  'application/access/access-subscription.ts': {
    'Promise.withResolvers': [
      'The log is followed again until the event store answers. Until then the process is not ready, and says what it waits for.',
    ],
  },
  'application/access/rate-limiter.ts': {
    'new Promise': ['RIGHTS_WAIT_MS, by a timer of the clock; RIGHTS_WAITING_MAX wait.'],
  },
  'application/commands/command-handler.ts': {
    'Promise.withResolvers': [
      '`EventStore.waitFor`: EVENT_STORE_ANSWER_MS for a request. Other work waits for that before it, which has limits.',
    ],
  },
  'application/commands/projection-wait.ts': { 'new Promise': [TIMER] },
  'application/reads/position-watch.ts': { 'new Promise': [TIMER] },
  'application/reads/replica.ts': {
    'Promise.withResolvers': [TIMER, 'The read that it races with has a statement timeout.'],
  },
  'collector/collector.ts': { createWakeSignal: ['Each wait for it also ends at the next poll.'] },
  'collector/site/tools/tool-detector.ts': { 'new Promise': [TIMER] },
  'delivery/consume-jobs.ts': {
    'new Promise': ['The end of the process. The sends that take up the capacity have a time each.'],
    createWakeSignal: [
      'An idle consumer waits for work, until the end of the process.',
      'A claim of messages that have arrived, which ends like the statement behind it.',
    ],
  },
  'delivery/endpoints/endpoint-queues.ts': {
    'Promise.withResolvers': ['CLOSE_LIMIT_MS of the worker.'],
  },
  'delivery/worker.ts': {
    createWakeSignal: ['The end of a send, which has a time; at the end CLOSE_LIMIT_MS.'],
  },
  'ingest/intake/brand-locks.ts': {
    statement_timeout: ['LOCK_WAIT_MS and five seconds.'],
    lock_timeout: ['LOCK_WAIT_MS.'],
  },
  'ingest/queue/consumer.ts': {
    max_ack_pending: ['WAITING_MAX; less in tests.'],
    ack_wait: ['ACK_WAIT_MS; less in tests.'],
  },
  'ingest/queue/slots.ts': {
    createSemaphore: [
      `INGEST_LANES. ${SETTING} WAITING_MAX observations wait.`,
      'A third of INGEST_LANES. WAITING_MAX observations wait.',
    ],
  },
  'intake/server/request-body.ts': { 'Promise.withResolvers': [TIMER] },
  'mcp/calls/call-limits.ts': { 'Promise.withResolvers': [TIMER] },
  'operations/dependencies/read-places.ts': { 'new Promise': [`${TIMER} WAITING_MAX wait.`] },
  'platform/channels/email.ts': { 'Promise.withResolvers': [TIMER] },
  'platform/channels/http-post.ts': {
    'new Promise': ['Its attempt has a deadline, which is looked at ten times a second.'],
  },
  'platform/clock.ts': { 'new Promise': [TIMER] },
  'platform/concurrency/fair-turns.ts': {
    'Promise.withResolvers': ['A later turn of the event loop. TURNS_WAITING_MAX wait.'],
  },
  'platform/concurrency/keyed-queue.ts': { createSemaphore: ['Its creator states the number.'] },
  'platform/concurrency/promise-queue.ts': { createWakeSignal: ['Each wait for a result states its time.'] },
  'platform/concurrency/semaphore.ts': {
    'new Promise': ['The work in the slots has limits of its own. Each creator limits how many wait.'],
  },
  'platform/concurrency/time-budget.ts': {
    'AbortSignal.timeout': ['What is left of the time of a request.'],
    'new Promise': ['The time of a request.'],
  },
  'platform/concurrency/wake-signal.ts': { 'new Promise': ['Each creator says what ends its waits.'] },
  'platform/event-store/append/append-stream.ts': {
    'new Promise': ['The time of the append, which is looked at twenty times a second. WAITING_MAX wait.'],
    deadline: ['The stream stays open; each append on it has a time.'],
  },
  'platform/event-store/catch-up-subscription.ts': {
    'new Promise': ['The next turn of the event loop.'],
    createWakeSignal: ['SILENT_MS, then the log is asked.'],
  },
  'platform/event-store/copy/raw-log.ts': {
    deadline: ['The stream stays open; each append on it has a time.', 'Between one and two hours from now.'],
  },
  'platform/event-store/errors.ts': { 'Promise.withResolvers': [TIMER] },
  'platform/event-store/event-store.ts': { 'Promise.withResolvers': [TIMER] },
  'platform/event-store/read-slots.ts': { 'new Promise': [`${TIMER} READS_WAITING_MAX wait.`] },
  'platform/event-store/server-version.ts': { 'new Promise': ['The deadline of the call: ANSWER_MS.'] },
  'platform/http/http-server.ts': {
    requestTimeout: ['Each server states it: REQUEST_TIMEOUT_MS.'],
    connectionTimeout: ['CLIENT_SILENCE_MS, unless a test states another one.'],
  },
  'platform/http/request-budget.ts': {
    'Promise.withResolvers': ['The close of the connection: CLIENT_SILENCE_MS at the latest.'],
  },
  'platform/nats/connection.ts': {
    createWakeSignal: ['Consumers wait for it only next to their own work, until the end of the process.'],
  },
  'platform/postgres/bounded-statements.ts': {
    query_timeout: [
      'The time that the statement states.',
      'The time of the pool, or what is left of a request.',
    ],
    statement_timeout: ['The time of the pool, or what is left of a request.'],
  },
  'platform/postgres/closable-pool.ts': { openPool: ['Each caller states the number of connections.'] },
  'platform/postgres/hot-connections.ts': { 'new Promise': [`${TIMER} WAITING_MAX wait.`] },
  'platform/postgres/notifications.ts': {
    once: ['The loss of the connection: a question every five seconds has SILENCE_MS for its answer.'],
  },
  'platform/postgres/pool.ts': {
    openPool: ['Each caller states the number of connections.'],
    statement_timeout: [
      'BACKGROUND_STATEMENT_TIMEOUT_MS, unless the caller states another time.',
      'HOT_STATEMENT_TIMEOUT_MS; in `api` READ_ANSWER_MS.',
    ],
  },
  'platform/process/health-server.ts': { 'new Promise': [CLOSES], once: [LISTENS] },
  'platform/telemetry/tracing-sdk.ts': { 'new Promise': ['FLUSH_LIMIT_MS.'] },
  'projector/apply/write-changes.ts': { once: ['The end of the COPY, whose connection has SILENCE_MS.'] },
  'projector/run.ts': { createWakeSignal: ['Each wait for it also ends at the next poll.'] },
  'projector/verify/verify-projection.ts': {
    idle_in_transaction_session_timeout: [
      'The verification reads in it all the time; each statement has a time.',
      'The verification reads in it all the time; each statement has a time.',
    ],
  },
  'worker/nightly-verification.ts': {
    'AbortSignal.timeout': ['`times.limitMs`, with a default next to it.'],
  },
  'deploy/local/demo/pictures/start-pictures.ts': { 'new Promise': [LISTENS, CLOSES] },
  'deploy/local/demo/receiver/receiver.ts': { 'new Promise': [LISTENS, CLOSES] },
  'deploy/local/event-store/read/subscriptions.ts': {
    createWakeSignal: ['A subscription without new events waits for them, until its call ends.'],
  },
  'deploy/local/event-store/start.ts': {
    'new Promise': ['STOP_LIMIT_MS.', LISTENS],
  },
  'deploy/local/event-store/storage/copy-out.ts': {
    'new Promise': ['STATEMENT_LIMIT_MS of the connection.'],
  },
  'deploy/local/event-store/wire/append-codec.ts': {
    deadline: ['The number of a field.', 'The number of a field.'],
  },
  'deploy/local/event-store/wire/flow-control.ts': {
    createWakeSignal: ['The end of the call, which a client that is gone does not outlive.'],
  },
  'deploy/local/event-store/write/writer.ts': { 'new Promise': ['The next turn of the event loop.'] },
  'deploy/local/main.ts': { 'new Promise': ['`npm start` runs until it is interrupted.'] },
  'deploy/local/nats/binary.ts': { timeout: ['Each caller states it.'] },
  'deploy/local/os/ports.ts': { 'new Promise': [LISTENS] },
  'deploy/local/stack/servers.ts': { 'new Promise': [TIMER] },
  'deploy/local/stack/supervisor.ts': {
    'new Promise': ['A service runs until it is stopped, which has a time.'],
  },
  'deploy/local/stack/wait-until-ready.ts': { 'new Promise': ['TRY_LIMIT_MS.'] },
  'deploy/local/world/open-world.ts': { 'new Promise': [LISTENS, CLOSES] },
};
