import type { AtLimit } from './at-limit.ts';

/** Descriptions of the waits and queues of `npm start` and of its local event store, as in `at-limit.ts`. */

const ENDS_START: AtLimit[1] = 'the start ends with the reason';
const KILLED: AtLimit[1] = 'it is killed; nothing acknowledged is lost';
const ENDS_REQUEST: AtLimit[1] = 'the connection is closed';
const SENT_AGAIN: AtLimit[1] = 'sent again, 5 times at most';

export const LOCAL_AT_LIMIT: Readonly<Record<string, Readonly<Record<string, AtLimit>>>> = {
  'deploy/local/demo/living/send-part.ts': {
    REQUEST_LIMIT_MS: ['an answer of the intake to a part of the demo', SENT_AGAIN],
  },
  'deploy/local/demo/pictures/start-pictures.ts': {
    REQUEST_TIMEOUT_MS: ['a request for a picture that arrives', ENDS_REQUEST],
    CONNECTIONS_MAX: ['connections to the pictures of the demo', 'further ones are refused'],
  },
  'deploy/local/demo/publish-observations.ts': {
    BACKLOG_MAX: ['observations of the demo that ingest has not taken', 'publishing pauses'],
    PUBLISH_TIMEOUT_MS: ['an acknowledgement of NATS', SENT_AGAIN],
    STALLED_MS: ['ingest without progress', ENDS_START],
  },
  'deploy/local/demo/receiver/receiver.ts': {
    REQUEST_TIMEOUT_MS: ['a delivery to the receiver of the demo that arrives', ENDS_REQUEST],
  },
  'deploy/local/demo/track-brands.ts': {
    DISPOSE_LIMIT_MS: ['the end of a client of the event store', 'it is left'],
    SHOWN_LIMIT_MS: ['the list of tracked brands', ENDS_START],
  },
  'deploy/local/demo/wait-until-projected.ts': {
    STALLED_MS: ['read models without progress', ENDS_START],
    DISPOSE_LIMIT_MS: ['the end of a client of the event store', 'it is left'],
  },
  'deploy/local/demo/workspace.ts': {
    COMMAND_LIMIT_MS: ['a command that creates the workspace', ENDS_START],
    REQUEST_LIMIT_MS: ['an answer of the API', 'asked again, or the start ends with the reason'],
    ANSWER_LIMIT_MS: ['the API key of the demo, until it is known', ENDS_START],
    INTAKE_READY_MS: ['the intake', ENDS_START],
  },
  'deploy/local/event-store/main.ts': {
    STOP_LIMIT_MS: ['an ordered end of the local event store', 'the process exits with 1'],
  },
  'deploy/local/event-store/start.ts': {
    LOCK_WAIT_MS: ['the former process of the same data', ENDS_START],
    MAX_CALLS_PER_CONNECTION: ['calls of one connection in progress', 'the others wait'],
    MAX_STREAMS_PER_CONNECTION: ['calls of one connection that wait or are in progress', 'refused at once'],
    STOP_LIMIT_MS: ['each step of its end', 'the next step'],
  },
  'deploy/local/event-store/wire/flow-control.ts': {
    MAX_UNSENT_BYTES: ['bytes of a call that its client has not taken', 'reading for it pauses'],
  },
  'deploy/local/event-store/write/writer-session.ts': {
    CONNECT_LIMIT_MS: ['a connection to Postgres', 'opened again'],
    STATEMENT_LIMIT_MS: ['a statement', 'the connection is replaced'],
  },
  'deploy/local/event-store/write/writer.ts': {
    MAX_WAITING_BYTES: ['bytes of appends that wait', 'their callers are read no further'],
  },
  'deploy/local/main.ts': {
    ORPHAN_STOP_MS: ['processes that an earlier start has left', KILLED],
    STOP_LIMIT_MS: ['an ordered end of `npm start`', 'the process exits with 1'],
    SERVERS_STOP_MS: ['the end of its servers', 'Postgres is left, and ends by itself'],
  },
  'deploy/local/nats/binary.ts': {
    DOWNLOAD_LIMIT_MS: ['the package of NATS', ENDS_START],
    LISTS_LIMIT_MS: ['the lists of packages', ENDS_START],
    UNPACK_LIMIT_MS: ['the unpacking of the package', ENDS_START],
    VERSION_LIMIT_MS: ['the version of the program that was found', ENDS_START],
  },
  'deploy/local/nats/start.ts': {
    READY_LIMIT_MS: ['the start of NATS', ENDS_START],
    CONNECT_LIMIT_MS: ['an answer of NATS while it starts', 'asked again'],
    STOP_LIMIT_MS: ['the end of NATS', KILLED],
  },
  'deploy/local/os/processes.ts': { KILL_LIMIT_MS: ['the end of a killed process', 'an error says so'] },
  'deploy/local/postgres/stale-server.ts': {
    FAST_STOP_MS: ['the end of Postgres', 'it is ended without a checkpoint, then killed'],
    IMMEDIATE_STOP_MS: ['its end after each of these', 'the next one; at last an error says so'],
  },
  'deploy/local/postgres/start.ts': {
    READY_LIMIT_MS: ['the start of Postgres', ENDS_START],
    INITDB_LIMIT_MS: ['the creation of its files', ENDS_START],
    CONNECT_LIMIT_MS: ['a connection to Postgres', 'tried again, or the start ends with the reason'],
  },
  'deploy/local/reset.ts': { ORPHAN_STOP_MS: ['processes that an earlier start has left', KILLED] },
  'deploy/local/stack/exit-with-parent.ts': {
    LEAVE_LIMIT_MS: ['a process whose `npm start` is gone', 'the process exits with 1'],
  },
  'deploy/local/stack/servers.ts': {
    EVENT_STORE_READY_MS: ['the start of the event store', ENDS_START],
    EVENT_STORE_STOP_MS: ['its end', KILLED],
    POSTGRES_STOP_MIN_MS: ['the end of Postgres, at least', 'it is left, and ends by itself'],
  },
  'deploy/local/stack/services.ts': {
    API_READY_MS: ['the start of the API', ENDS_START],
    SERVICE_STOP_MS: ['the end of a process', KILLED],
  },
  'deploy/local/stack/wait-until-ready.ts': {
    TRY_LIMIT_MS: ['one look whether a server answers', 'repeated'],
  },
};
