import { LOCAL_AT_LIMIT } from './at-limit-of-local-stack.ts';

/**
 * Descriptions of the waits and queues of the services, with what happens at each limit, by file (within `services/`,
 * if it begins with no other folder) and constant. The limits themselves are read from the code (`read-constants.ts`).
 */

/** `[what waits or is bounded, what happens at the limit]`. */
export type AtLimit = readonly [what: string, then: string];

const BACKGROUND = 'the others wait; the work is retried if the wait is too long';
const POOL: AtLimit = ['connections of the process to Postgres', BACKGROUND];
const LEASED = 'another process takes the work over';
const RETRIED = 'the work is retried';
const REFUSED_503 = '503 with `retry-after`';
const ENDS_REQUEST = 'the connection is closed';

export const AT_LIMIT: Readonly<Record<string, Readonly<Record<string, AtLimit>>>> = {
  'alerts/digests/digest-pace.ts': {
    DIGEST_WAIT_MS: [
      'a digest after the end of its period, while there are very many',
      'the others are sent without pauses',
    ],
    DIGESTS_PER_MINUTE: [
      'digests that are sent in a minute',
      'the others wait; there are more where these could not all be sent in time',
    ],
  },
  'alerts/digests/period-end.ts': {
    PERIOD_WAIT_MS: [
      'digests after midnight for events of their period that are not matched yet',
      'they are sent; these events go into the next ones',
    ],
  },
  'alerts/run.ts': {
    BUFFERED_ITEMS: ['events buffered from the log', 'reading pauses'],
    POOL_CLIENTS: POOL,
  },
  'api/idempotency/idempotency-store.ts': {
    WAIT_MS: ['a repeated request for the first one with its idempotency key', '409; try again'],
    FREED_AT_ONCE: ['claims of keys that are freed after their answer was lost', 'free after 30 s'],
  },
  'api/main.ts': {
    POOL_CLIENTS: ['connections for commands and idempotency keys', 'waits 5 s, then 503'],
    CONTROL_CLIENTS: [
      'connections for changes of rights, checkpoints and the row of the process',
      'waits 5 s, then 503',
    ],
  },
  'api/server/admission.ts': {
    IN_FLIGHT_MAX: ['requests in progress', `${REFUSED_503}; 64 more for keys`],
    IN_FLIGHT_OF_WORKSPACE_MAX: ['the same of one workspace', `${REFUSED_503}; 64 more for keys`],
  },
  'api/server/file-places.ts': {
    FILES_IN_FLIGHT_MAX: ['report and media files that are opened or sent', REFUSED_503],
    FILES_WAITING_MAX: ['those of them that wait for the object store', REFUSED_503],
  },
  'api/server/request-pipeline.ts': {
    RECEIVER_WAIT_MS: ['the same for a test send, in addition', REFUSED_503],
  },
  'api/server/server.ts': { REQUEST_TIMEOUT_MS: ['a request that arrives', ENDS_REQUEST] },
  'application/access/access-subscription.ts': {
    BUFFER_ITEMS: ['events of keys buffered from the log', 'reading pauses'],
  },
  'application/access/apply-recorded.ts': {
    APPLY_WAIT_MS: [
      'a command about keys or members, until the event store shows what it recorded',
      `${REFUSED_503}; it is applied later`,
    ],
  },
  'application/access/key-lease-cache.ts': {
    LEASE_MS: ['use of a cached API key', 'it is read again; a revocation replies after this time'],
  },
  'application/access/rate-limiter.ts': {
    RIGHTS_WAITING_MAX: ['requests of one caller that wait for them', '429 with `retry-after`'],
  },
  'application/access/refused-requests.ts': {
    REFUSED_PER_MINUTE: [
      'requests without a valid key of one address in a minute, to each kind of server',
      '429 with `retry-after`',
    ],
  },
  'application/access/rights/borrowing.ts': {
    RIGHTS_WAIT_MS: ['a request for rights that other processes have', '429 with `retry-after`'],
  },
  'application/collecting/plan-targets.ts': {
    CONCURRENT_TARGETS: ['targets that a collector reads at once', 'the others stay due'],
  },
  'application/commands/command-handler.ts': {
    serialize: [
      'commands on one stream in a process',
      'the others wait, and get 503 when they could not ask the event store in time',
    ],
  },
  'application/commands/growth-claims.ts': {
    inOrder: ['claims of one list in a process', 'the others wait, a request as long as it may'],
  },
  'application/commands/projection-wait.ts': {
    READ_POSITION_WAIT_MS: [
      'a read for the position that it must show',
      'it shows what there is, and names its position',
    ],
  },
  'application/commands/snapshots/with-snapshots.ts': {
    WRITES_AT_ONCE: ['snapshots that a process stores at once', 'further ones are left to a later command'],
  },
  'application/delivery-outbox/claim.ts': { CLAIM_LEASE_MS: ['a claimed delivery', LEASED] },
  'application/delivery-outbox/failing-endpoints.ts': {
    FAILING_LIMIT_MS: ['an endpoint without a success', 'it is suspended until its rule is changed'],
  },
  'application/delivery-outbox/journal/committed-end.ts': {
    LOCK_TIMEOUT_MS: ['the relay of delivery events for open writes', 'tried again at the next round'],
  },
  'application/delivery-outbox/journal/publish-events.ts': {
    STREAMS_AT_ONCE: ['appends of delivery events at once', 'the others wait'],
  },
  'application/delivery-outbox/endpoint-leases.ts': {
    ENDPOINT_LEASE_MS: ['an endpoint whose deliveries one process sends', LEASED],
  },
  'application/delivery-outbox/merging/enqueue-or-hold-back.ts': {
    WAITING_MAX: [
      'deliveries of a rule to one endpoint',
      'further alerts are held back and sent as one message',
    ],
  },
  'application/delivery-outbox/notify-due.ts': {
    IN_FLIGHT_MAX: ['notices of due deliveries without an acknowledgement', 'the others wait'],
    PUBLISH_TIMEOUT_MS: ['an acknowledgement of NATS', 'the sweep finds the delivery in the outbox'],
    CALLS_MAX: ['calls that publish notices at once', 'the sweep finds further deliveries in the outbox'],
  },
  'application/invariants/check-invariants.ts': {
    STATEMENT_TIMEOUT_MS: ['the check of one rule between read models', 'the rule counts as not checked'],
  },
  'application/media/image-decoder.ts': {
    DECODE_TIMEOUT_SECONDS: ['the decoding of an image', 'it counts as too slow, and has no thumbnail'],
  },
  'application/media/thumbnails.ts': {
    DECODED_AT_ONCE: ['images decoded at once', 'the others wait, as many as calls may'],
    CALLS_AT_ONCE: ['calls that decode or wait for it', 'further results come without images'],
  },
  'application/reads/replica.ts': {
    POSITION_ANSWER_MS: ['the position of a standby', 'its callers read from the primary'],
  },
  'application/sign-in/sign-in-mail.ts': {
    SENDING_AT_ONCE_MAX: ['mails with a code that are sent or wait for it', 'further ones are dropped'],
  },
  'application/vault/signing-secrets.ts': {
    LEASE_MS: ['use of a cached signing secret', 'it is read again; a rotation replies after this time'],
    LOG_ANSWER_MS: [
      'the log for the current signing secret',
      'the only secret in the vault signs; with several, the send is postponed',
    ],
  },
  'collector/add/add-brand.ts': {
    OTHER_READER_WAIT_MS: ['another process that reads the same target', 'the command names its state'],
  },
  'collector/add/add-context.ts': { POOL_CLIENTS: POOL },
  'collector/add/link-pages.ts': {
    SHOWN_WAIT_MS: ['the read model that shows a link of pages', 'the command ends; the link is recorded'],
  },
  'collector/ads-archive/archive-batch-store.ts': {
    TARGET_LEASE_MS: ['targets of a batch of the library API', LEASED],
    BATCH_LIMIT_MS: ['a batch of the library API', 'it is published as partial'],
  },
  'collector/ads-archive/paced-account.ts': {
    serialize: ['calls of one account of the library API', 'the others wait for the pace of the account'],
  },
  'collector/ads-archive/run-batches.ts': {
    choosing: ['accounts that choose their next brands', 'the others wait for its statement'],
  },
  'collector/cli/with-database.ts': { POOL_CLIENTS: POOL },
  'collector/main.ts': { POOL_CLIENTS: POOL },
  'collector/schedule/consume-wishes.ts': {
    ACK_WAIT_MS: ['a wish for a scan without an acknowledgement', 'NATS delivers it again'],
    FETCHED_MESSAGES: ['wishes fetched ahead', 'the rest stays in the queue'],
    PULL_MS: ['a wish for a scan', 'asked again'],
  },
  'collector/schedule/run-targets.ts': {
    BATCH_LIMIT_MS: ['a batch of a target', 'it is published as partial'],
  },
  'collector/site/tools/tool-detector.ts': {
    serialize: ['pages compared with the rules of tools', 'the others wait'],
    DETECT_TIMEOUT_MS: ['the comparison of a page', 'its thread is ended; the tools found by then count'],
    START_TIMEOUT_MS: ['the thread that reads the rules', 'the site is read again later'],
  },
  'delivery/consume-jobs.ts': {
    PULL_MS: ['a notice of due deliveries', 'asked again'],
    FETCHED_MESSAGES: [
      'notices of due deliveries fetched ahead; none are fetched while the process is full',
      'the rest stays in the queue',
    ],
    CONCURRENT_CLAIMS: ['batches of deliveries claimed at once', 'the others wait'],
  },
  'delivery/endpoints/endpoint-queues.ts': {
    IN_FLIGHT_MAX: ['deliveries being sent', 'the others wait in their queues'],
    RETRIES_IN_FLIGHT_MAX: ['retries among them', 'first attempts go on'],
    IN_FLIGHT_OF: [
      'deliveries being sent to one endpoint, or by e-mail, by all processes',
      'the others wait in their queues',
    ],
    IN_FLIGHT_OF_WORKSPACE_MAX: ['deliveries being sent of one workspace', 'the others wait'],
    WAITING_PER_ENDPOINT: ['deliveries queued for one endpoint', 'the rest stays in Postgres'],
    WAITING_OF_FAILING: ['the same, after a failed attempt', 'the rest stays in Postgres'],
    LOAD_MAX: ['deliveries that a process holds, without those of full queues', 'no more are claimed'],
    HELD_MAX: ['all deliveries that a process holds', 'no more are claimed'],
    WAITING_EMAILS_OF_WORKSPACE: ['e-mails queued of one workspace', 'the rest stays in Postgres'],
    WAITING_EMAILS_MAX: ['e-mails queued of all workspaces', 'the rest stays in Postgres'],
  },
  'delivery/endpoints/endpoint-turns.ts': {
    ENDPOINTS_WAITING_MAX: [
      'endpoints with due deliveries that wait for their turn',
      'a later sweep finds the others',
    ],
  },
  'delivery/endpoints/endpoint-pacing.ts': {
    IN_FLIGHT_AT_FIRST: [
      'deliveries being sent to a new webhook endpoint, or after a failed attempt; one more for each that arrives',
      'the others wait in its queue',
    ],
    FAILURE_WAIT_MS: [
      'the next send to a webhook endpoint after a failed attempt; doubles with each',
      'then sent',
    ],
    FAILURE_WAIT_MAX_MS: ['the longest of these pauses', 'then sent'],
  },
  'delivery/jetstream-consumer.ts': {
    ACK_PENDING_MAX: [
      'notices of due deliveries without an acknowledgement, of all processes',
      'NATS delivers no more; sweeps find the deliveries',
    ],
    ACK_WAIT_MS: ['one of them', 'NATS delivers it again'],
  },
  'delivery/main.ts': {
    POOL_CLIENTS: POOL,
    STATEMENT_TIMEOUT_MS: ['a statement', RETRIED],
  },
  'delivery/recipients.ts': {
    LOG_ANSWER_MS: ['the log for a member that the read model lacks', 'the e-mail is postponed'],
  },
  'delivery/worker.ts': {
    CLOSE_LIMIT_MS: ['sends in progress at the end of the process', 'sent again when their lease has ended'],
    WAITING_AT_A_TURN: [
      'deliveries queued for one endpoint after its turn, while many have more due',
      'the rest stays in Postgres until its next turn',
    ],
  },
  'ingest/attribution/complete-moves.ts': {
    MOVES_AT_ONCE: ['moves of ads decided together', 'the next part'],
  },
  'ingest/attribution/move-ads.ts': {
    MOVES_AT_ONCE: ['moves of ads decided together', 'the next part'],
    ADS_AT_ONCE: ['ads whose brand is judged together', 'the next part'],
  },
  'ingest/files/ingest-files.ts': {
    SUBMIT_CONCURRENCY: ['observations of a file submitted at once', 'reading of the file pauses'],
  },
  'ingest/intake/brand-locks.ts': {
    LOCKS_MAX: ['locks of brands, and as many of pages, that a process holds at once', 'the others wait'],
    LOCK_WAIT_MS: [
      'the lock of a brand or of pages that another process records',
      'the scan is recorded without it; expected revisions keep the log correct',
    ],
    LOCK_SILENCE_MS: [
      'a process that has such a lock, without a statement in it',
      'Postgres frees the lock; the process takes it again and repeats the work',
    ],
    PROOF_ANSWER_MS: ['a proof of such a lock', 'the lock counts as lost'],
  },
  'ingest/intake/observation-handler.ts': { POOL_CLIENTS: POOL },
  'ingest/intake/prove-of-late.ts': {
    PROOF_LIMIT_MS: [
      'the proofs of lease and locks before an append',
      'they are made again, 3 times at most',
    ],
  },
  'ingest/queue/consumer.ts': {
    FETCHED_MESSAGES: [
      'observations requested at once, without bodies',
      'more are requested as these arrive',
    ],
    PULL_MS: ['a request for observations', 'another one follows'],
    WAITING_MAX: [
      'observations that wait for their turn or for a newer release, without bodies',
      'NATS delivers no more until some are acknowledged',
    ],
    ORDERED_AT_ONCE: [
      'bodies read at once to find the order of their messages',
      'the next one is read after one of them',
    ],
    ACK_WAIT_MS: ['an observation without a sign of work', 'NATS delivers it again'],
  },
  'ingest/queue/message-body.ts': {
    BODY_LIMIT_MS: ['the body of an observation', 'the leader of its stream is asked for it'],
  },
  'ingest/queue/process-message.ts': {
    RELEASE_WAIT_MS: ['an observation that waits for a newer release', 'NATS delivers it again'],
    CHUNK_WAIT_MS: ['the end of a scan for its chunks', 'NATS delivers it again, 20 times at most'],
  },
  'ingest/storefront/record-scan.ts': {
    serialize: ['scans of one shop in a process', 'the others wait, without an acknowledgement'],
  },
  'intake/examples/shop-catalogue.ts': {
    REQUEST_TIMEOUT_MS: ['a request of the example', 'it ends with the reason'],
  },
  'intake/main.ts': { POOL_CLIENTS: ['connections for key lookups', 'waits 5 s, then 503'] },
  'intake/observations/publish-lines.ts': {
    PUBLISH_TIMEOUT_MS: ['an acknowledgement of NATS', '503 with the lines that are kept'],
  },
  'intake/observations/receive-observations.ts': {
    LINES_PER_TURN: [
      'lines of one request that are read in one turn of the event loop',
      'further ones wait for a later turn',
    ],
  },
  'intake/server/request-body.ts': {
    DISCARD_LIMIT_MS: ['the rest of a refused body', 'the connection is closed'],
  },
  'intake/server/request-slots.ts': {
    SLOTS_PER_KEY: ['requests of one key', '429 with `retry-after`'],
    SLOTS: ['requests of a process', REFUSED_503],
  },
  'intake/server/server.ts': {
    REQUESTS_PER_MINUTE: ['requests of one collector key in a minute', '429 with `retry-after`'],
    INTAKE_BUDGET_MS: [
      'a request of `intake`, in addition to the time in which its body may arrive; each of its waits takes the lesser of its own limit and what is left',
      `${REFUSED_503}; its waits end`,
    ],
    OBSERVATIONS_TIMEOUT_MS: ['the body of observations', '400; send smaller parts'],
    FILE_TIMEOUT_MS: ['the body of a file', '400; send it again'],
    REQUEST_TIMEOUT_MS: ['a request that arrives', ENDS_REQUEST],
  },
  'intake/tasks/task-requests.ts': {
    TASK_BODY_TIMEOUT_MS: ['the body of a task request', '400; send it again'],
  },
  'mcp/app.ts': {
    REQUEST_TIMEOUT_MS: ['a request that arrives', ENDS_REQUEST],
    KEEP_ALIVE_TIMEOUT_MS: ['an idle connection', ENDS_REQUEST],
    HEADERS_TIMEOUT_MS: ['the headers of a request', ENDS_REQUEST],
    CLIENT_SILENCE_MS: ['a byte from or to a client, while its request is in progress', ENDS_REQUEST],
  },
  'mcp/calls/call-limits.ts': {
    CALLS_AT_ONCE_MAX: ['calls of one connection', 'the call is refused'],
    CALL_BUDGET_MS: [
      'a call, in all; each of its waits takes the lesser of its own limit and what is left',
      'the call fails, and may be repeated; its waits end',
    ],
  },
  'mcp/http/oauth-routes.ts': {
    REQUESTS_PER_MINUTE: ['requests to `/oauth/…` of one address in a minute', '429 with `retry-after`'],
    REGISTRATIONS_PER_MINUTE: ['registrations of apps of one address in a minute', '429 with `retry-after`'],
  },
  'mcp/members/upstream.ts': {
    ANSWER_TIMEOUT_SECONDS: [
      'an answer of the OpenID provider of the organisation',
      'the sign-in fails; try again',
    ],
  },
  'mcp/main.ts': { POOL_CLIENTS: ['connections for commands', 'waits 5 s, then the call fails'] },
  'mcp/output/pictures.ts': { IMAGES_WAIT_MS: ['the images of a result', 'the result comes without them'] },
  'media/archive.ts': { FETCHED_AT_ONCE: ['files fetched at once', 'the others stay wanted'] },
  'media/fetch/download-file.ts': { DOWNLOAD_LIMIT_MS: ['a file', 'tried again later'] },
  'media/main.ts': {
    POOL_CLIENTS: POOL,
    DECODED_AT_ONCE: ['images decoded at once', 'the others wait, as many as files are fetched at once'],
  },
  'media/measure/measure-video.ts': {
    PROGRAM_LIMIT_MS: ['the measurement of a film', 'stored without its measures'],
  },
  'operations/dependencies/heavy-reads.ts': {
    HEAVY_PER_WORKSPACE_MAX: ['the same of one workspace', 'further ones wait'],
    HEAVY_IN_FLIGHT_MAX: ['searches and other slow reads that run', 'further ones wait'],
    WAITING_MAX: ['searches and slow reads that wait', REFUSED_503],
    WAITING_PER_WORKSPACE_MAX: ['those of one workspace that wait', REFUSED_503],
    HEAVY_WAIT_MS: ['one of them', REFUSED_503],
    UNMEASURED_IN_FLIGHT_MAX: ['reads that run of statements not yet measured', 'further ones wait'],
    UNMEASURED_PER_WORKSPACE_MAX: ['the same of one workspace', 'further ones wait'],
    UNMEASURED_WAITING_MAX: ['such reads that wait', REFUSED_503],
    UNMEASURED_WAITING_PER_WORKSPACE_MAX: ['those of one workspace that wait', REFUSED_503],
    UNMEASURED_WAIT_MS: ['one of them', REFUSED_503],
    FAST_IN_FLIGHT_MAX: ['reads of fast statements that run', 'further ones wait'],
    FAST_PER_WORKSPACE_MAX: ['the same of one workspace', 'further ones wait'],
    FAST_WAITING_MAX: ['such reads that wait', REFUSED_503],
    FAST_WAITING_PER_WORKSPACE_MAX: ['those of one workspace that wait', REFUSED_503],
    FAST_WAIT_MS: ['one of them', REFUSED_503],
  },
  'ops/cli/commands/verify.ts': {
    CANCEL_WAIT_MS: ['the end of a cancelled verification', 'the command ends; the projector ends it'],
  },
  'ops/cli/dependencies.ts': { POOL_CLIENTS: POOL },
  'ops/deliveries/requeue-missing.ts': { BUFFERED_ITEMS: ['events buffered from the log', 'reading pauses'] },
  'ops/http/routes/history.ts': {
    FOLLOWERS_MAX: ['followers of histories', '409; try again'],
    EXPORTS_MAX: ['exports of histories', '409; try again'],
  },
  'ops/http/routes/log.ts': {
    SEARCH_LIMIT_MS: ['a search of the log', 'what was found until then, marked as incomplete'],
    SEARCHES_MAX: ['searches of the log', '409; try again'],
  },
  'ops/http/server.ts': {
    REQUEST_TIMEOUT_MS: ['a request that arrives', ENDS_REQUEST],
    HEADERS_TIMEOUT_MS: ['its headers', ENDS_REQUEST],
  },
  'ops/main.ts': { POOL_CLIENTS: POOL },
  'ops/log/transfer/copy-log.ts': {
    IN_FLIGHT_MAX_EVENTS: ['events of a copy without an answer', 'reading pauses'],
    IN_FLIGHT_MAX_APPENDS: ['their appends', 'reading pauses'],
    IN_FLIGHT_MAX_BYTES: ['their bytes', 'reading pauses'],
  },
  'ops/metrics/service-metrics.ts': {
    READ_LIMIT_MS: ['the figures of one server for `/metrics`', 'left out'],
  },
  'ops/projections/status.ts': {
    OLDEST_LIMIT_MS: ['the oldest unapplied event', 'the lag in seconds is unknown'],
  },
  'platform/channels/email.ts': {
    CONNECT_TIMEOUT_MS: ['a connection to the mail server', RETRIED],
    SMTP_CLIENTS: ['connections to the mail server', 'further messages wait'],
    SOCKET_TIMEOUT_MS: ['an answer of the mail server, or its next byte', RETRIED],
    SEND_TIMEOUT_MS: ['a message to the mail server, in all', `${RETRIED} on new connections`],
  },
  'platform/channels/http-post.ts': {
    INTERIM_MAX: ['interim responses (1xx) to one request', 'the attempt failed, and is repeated later'],
    TOTAL_TIMEOUT_MS: ['the headers of an answer of a receiver', 'the attempt failed, and is repeated later'],
    ANSWER_READ_MS: ['the body of that answer', 'recorded as far as it came'],
  },
  'ops/http/budgets.ts': {
    OPS_BUDGET_MS: [
      'a request of `ops`, in all; each of its waits takes the lesser of its own limit and what is left. A stream has it until it begins',
      `${REFUSED_503}; its waits end`,
    ],
    OPS_LONG_BUDGET_MS: [
      'the same for an export or a check of a whole history',
      `${REFUSED_503}; its waits end`,
    ],
  },
  'platform/concurrency/time-budget.ts': {
    REQUEST_BUDGET_MS: [
      'a request of `api` or `mcp`, in all; each of its waits takes the lesser of its own limit and what is left. The stream of a report or media file has limits of its own',
      `${REFUSED_503}; its waits end, and nothing that it has not begun is recorded`,
    ],
  },
  'platform/concurrency/fair-turns.ts': {
    PER_TURN: [
      'requests of one caller that start in one turn of the event loop',
      'further ones wait for a later turn',
    ],
    TURNS_WAITING_MAX: [
      'requests that wait for their turn',
      'further ones start at once, and meet the other limits',
    ],
  },
  'platform/egress/http-client.ts': {
    ANSWER_TIMEOUT_MS: ['an answer from the internet', 'tried again later'],
    CONNECTIONS_PER_HOST: ['connections to one host', 'further requests wait; no process sends as many'],
    KEEP_IDLE_MS: ['an idle connection', 'it is closed'],
  },
  'platform/egress/ssrf-guard.ts': {
    CONNECT_TIMEOUT_MS: ['a connection to the internet', 'tried again later'],
    RESOLVE_TIMEOUT_MS: ['the addresses of its host', 'tried again later'],
  },
  'platform/event-store/append/append-stream.ts': {
    IN_FLIGHT_MAX: ['appends without an answer', 'further ones wait'],
    IN_FLIGHT_MAX_BYTES: ['their bytes', 'further ones wait'],
    REFUSING_LIMIT_MS: ['a node that only refuses appends', 'the next append looks for another node'],
    WAITING_MAX: ['appends that wait for them', 'refused at once: 503; background work is retried'],
    SERVER_DEADLINE_MS: ['the server for the start of an append', 'the append is repeated'],
  },
  'platform/event-store/append/append-with-retry.ts': {
    APPEND_TIMEOUT_MS: ['an append of background work', 'repeated 8 times, then the work is retried'],
  },
  'platform/event-store/catch-up-subscription.ts': {
    SILENT_MS: ['a subscription without a word', 'the log is asked; if it went on, a new connection'],
    BUFFER_BYTES_MAX: ['bytes buffered from the log', 'reading pauses'],
  },
  'platform/event-store/copy/raw-log.ts': {
    READ_SILENCE_MS: [
      'the next event of `ops log copy`, `compare` and `export`, the connection included',
      'read on from there 12 times, then the command ends',
    ],
    APPEND_TIMEOUT_MS: [
      'an append of `ops log copy` or `import`',
      'repeated 12 times, then the command ends',
    ],
  },
  'platform/event-store/node-connection.ts': {
    KEEPALIVE_MS: ['an answer to a ping on a quiet connection to the event store', 'it is replaced'],
    FIND_NODE_LIMIT_MS: ['a node of the cluster, for appends, copies and the version of the server', RETRIED],
  },
  'platform/event-store/reads.ts': {
    READ_SILENCE_MS: ['the next event of a read of background work', RETRIED],
    LOOK_ANSWER_MS: [
      'the look at the log for a silent subscription, or whether a read is answered that its caller has left',
      'it is repeated; three in a row, and another connection is made',
    ],
  },
  'platform/event-store/read-slots.ts': {
    READS_WAITING_MAX: ['reads of streams that wait', 'refused at once: 503; background work is retried'],
    PATIENT_WAIT_MS: ['a read of background work', RETRIED],
    READS_MAX: ['reads of streams in progress', 'further ones wait'],
  },
  'platform/event-store/short-reads.ts': {
    SILENT_RETRY_MS: [
      'further reads of signing secrets, or of members, after one without an answer',
      'one of them asks the log again; the others go on without it',
    ],
  },
  'platform/event-store/renewable-client.ts': {
    DISPOSE_LIMIT_MS: ['the end of a replaced client', 'it is left'],
    KEEPALIVE_FIRST_MS: ['a quiet connection of reads and subscriptions', 'a ping asks whether it lives'],
  },
  'platform/event-store/settings.ts': {
    EVENT_STORE_ANSWER_MS: [
      'the event store, from the arrival of a request to its append: waits for commands before it, reads and the append together; a late call has a quarter of it',
      REFUSED_503,
    ],
  },
  'platform/event-store/server-version.ts': { ANSWER_MS: ['the version of the server', 'asked again'] },
  'platform/http-client/polite-client.ts': {
    serialize: ['requests of the collector to one host', 'the others wait for the pace of the host'],
  },
  'platform/http-client/request-once.ts': {
    REQUEST_TIMEOUT_MS: ['a request of the collector', 'tried again later'],
  },
  'platform/http/http-server.ts': {
    KEEP_ALIVE_TIMEOUT_MS: ['an idle connection', ENDS_REQUEST],
    HEADERS_TIMEOUT_MS: ['the headers of a request', ENDS_REQUEST],
    CLIENT_SILENCE_MS: ['a byte from or to a client, while its request is in progress', ENDS_REQUEST],
  },
  'platform/nats/connection.ts': {
    CONNECT_TIMEOUT_MS: ['a connection to NATS', 'the next address, without end'],
    JETSTREAM_ANSWER_MS: ['an answer of JetStream, unless its caller waits another time', RETRIED],
    SILENCE_MS: ['an answer to a ping on a connection to NATS', 'the connection is replaced'],
  },
  'platform/object-store/s3-object-store.ts': {
    CONNECT_TIMEOUT_MS: ['a connection to the object store', RETRIED],
    ANSWER_TIMEOUT_MS: ['an answer of the object store, or the next byte', RETRIED],
    PARTS_AT_ONCE: ['parts of an upload in memory', 'reading pauses'],
    SOCKET_CLIENTS: [
      'connections to the object store',
      'further requests wait; their callers bound how many',
    ],
  },
  'platform/postgres/hot-connections.ts': {
    WAITING_MAX: ['light reads that wait for a connection', REFUSED_503],
    WAIT_MS: ['one of them', REFUSED_503],
    IN_FLIGHT_OF_CONNECTION: ['light reads on one connection', 'further ones wait'],
  },
  'platform/postgres/lease/leases.ts': {
    IDLE_TRANSACTION_LIMIT_MS: [
      'a transaction that proves a lease, for the next statement of its process',
      `the server ends it: ${RETRIED}`,
    ],
    STATEMENT_TIMEOUT_MS: ['a statement about leases', 'tried again, until the lease has ended'],
    LEASE_MS: ['a lease without a renewal', LEASED],
    TAKEOVER_WAIT_MS: ['a takeover for an open transaction of the former owner', 'tried again'],
    CLIENTS: ['connections for leases', 'the others wait'],
  },
  'platform/postgres/lease/row-lease.ts': {
    ROW_LEASE_MS: ['a target that is read, or a media file that is fetched', LEASED],
  },
  'platform/postgres/notifications.ts': {
    CONNECT_TIMEOUT_MS: ['a connection for notifications', 'opened again'],
    SILENCE_MS: ['an answer on it', 'opened again'],
  },
  'platform/postgres/pipelined-transaction.ts': {
    CONNECT_TIMEOUT_MS: ['a connection of the projector', RETRIED],
    STATEMENT_TIMEOUT_MS: [
      'a statement of the projector without a shorter timeout',
      'the work is retried; without an answer 1 s later on another connection',
    ],
  },
  'platform/postgres/pool.ts': {
    CONNECT_TIMEOUT_MS: ['a new connection, or a free one', '503; background work is retried'],
    HOT_CLIENTS: ['connections for light reads', 'each carries up to 64'],
    UNPROVEN_CLIENTS: ['connections for reads that are not known to be fast', 'further ones wait 5 s'],
    FAST_ON_UNPROVEN_CLIENTS: [
      'those of them for light reads, while each pipelined connection works on one read for over 100 ms',
      'further light reads wait 2 s for a pipelined one',
    ],
    SLOW_POOL_CLIENTS: ['connections for searches', 'further ones wait'],
    HOT_STATEMENT_TIMEOUT_MS: ['a light read; in `api` it is `READ_ANSWER_MS`', 'cancelled: 503'],
    HOT_SILENCE_MS: ['a byte on its connection', '503; the connection is replaced'],
    SLOW_STATEMENT_TIMEOUT_MS: ['a search', 'cancelled: 503'],
    REQUEST_STATEMENT_TIMEOUT_MS: ['a statement of a command', 'cancelled: 503'],
    LONG_STATEMENT_TIMEOUT_MS: ['a statement over whole tables', 'cancelled: the job fails with the reason'],
    SILENCE_MARGIN_MS: [
      'the answer to a statement, after the time at which the server cancels it',
      'the connection is replaced',
    ],
    KEEP_ALIVE_MS: ['a quiet connection to Postgres', 'the kernel asks whether it lives'],
    BACKGROUND_STATEMENT_TIMEOUT_MS: ['a statement of background work', `cancelled: ${RETRIED}`],
  },
  'platform/postgres/schema-installer.ts': {
    INSTALL_TIMEOUT_MS: ['a step of an upgrade of tables', 'the process ends with the reason'],
    LOCK_WAIT_MS: [
      'an upgrade of tables for a table that is in use; others wait behind it',
      'rolled back, and tried again for half an hour',
    ],
  },
  'platform/postgres/settings.ts': {
    READ_ANSWER_MS: [
      'Postgres, from the arrival of a request of `api`: the check of its key and its light reads together',
      REFUSED_503,
    ],
  },
  'platform/postgres/silence.ts': {
    CLOSE_LIMIT_MS: ['the end of a connection', 'its socket is closed'],
    PROBE_ANSWER_MS: ['an answer on an idle connection', 'the connection is replaced'],
  },
  'platform/process/health-server.ts': { REQUEST_TIMEOUT_MS: ['a request for health', ENDS_REQUEST] },
  'platform/process/known-log.ts': {
    ANSWER_MS: ['the look whether the log is the known one', 'the reason is logged, and it is repeated'],
  },
  'platform/process/readiness.ts': {
    CHECK_TIMEOUT_MS: ['a check of readiness', 'counts as failed'],
    NATS_CONNECT_TIMEOUT_MS: ['its connection to NATS', 'counts as failed'],
  },
  'platform/process/run-process.ts': {
    SHUTDOWN_DEADLINE_MS: ['an ordered end', 'the process exits with 1'],
  },
  'platform/process/wait-for-servers.ts': {
    KNOWN_LOG_WAIT_MS: [
      'the start of a process that works without the event store, for it',
      'it starts; the log is checked once the event store answers',
    ],
  },
  'platform/telemetry/tracing-sdk.ts': {
    EXPORT_TIMEOUT_MS: ['an export of spans', 'the spans are dropped'],
    QUEUED_SPANS_MAX: ['spans in memory', 'further ones are dropped'],
    FLUSH_LIMIT_MS: ['the last export', 'the spans are dropped'],
  },
  'projector/apply/apply-each.ts': {
    SHARES_AT_ONCE: ['projections that apply a batch at once', 'the others wait'],
  },
  'projector/apply/write-changes.ts': {
    COPY_BUFFER_CHARACTERS: ['characters of rows on their way to Postgres', 'written before more are added'],
  },
  'projector/read-model-schema.ts': {
    READERS_WAIT_MS: ['a swap, or the removal of tables, for readers of replaced tables', 'tried again'],
  },
  'projector/rebuild/rebuild-manager.ts': {
    CONCURRENT_REBUILDS_MAX: ['rebuilds of read models in a process', 'further ones wait'],
  },
  'projector/run.ts': {
    LOCK_TIMEOUT_MS: [
      'a lock that a statement of a small batch needs',
      'its projection is left behind, and tries again alone',
    ],
    HURRIED_STATEMENT_TIMEOUT_MS: [
      'a statement of a small batch',
      'its projection is left behind, and tries again alone',
    ],
    STATEMENT_TIMEOUT_MS: ['any other statement about live tables', RETRIED],
    REQUESTS_STATEMENT_TIMEOUT_MS: [
      'the look at requests of operators, each 2 s',
      'the session begins again',
    ],
    POOL_CLIENTS: ['connections for control tables', BACKGROUND],
    LIVE_CLIENTS: ['connections of projections', BACKGROUND],
    BUILDING_CLIENTS: ['connections of rebuilds and verifications', BACKGROUND],
  },
  'projector/scheduler.ts': {
    CUT_OFF_WAIT_MS: [
      'the end of work of a session that failed or ends: batches, rebuilds, verifications and jobs',
      'the next session begins; what still runs can write nothing',
    ],
  },
  'projector/subscription/reader-groups.ts': {
    BUFFERED_ITEMS: ['events buffered from the log', 'reading pauses'],
  },
  'projector/verify/verification-manager.ts': {
    PAUSE_TIMEOUT_MS: [
      'a projection at the position of its verification',
      'the verification fails with the reason',
    ],
  },
  'worker/main.ts': { POOL_CLIENTS: POOL },
  'worker/scans/scan-cadence.ts': { POOL_CLIENTS: POOL },
  ...LOCAL_AT_LIMIT,
};
