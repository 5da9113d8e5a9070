import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Pool } from 'pg';

/** Always counts, which is cheaper than checking for a port. Names end in their unit; labels have few values. */
export const registry = new Registry();

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const SEND_BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const BATCH_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];

const requests = new Histogram({
  name: 'adintel_api_request_duration_seconds',
  help: 'Duration from reading a request to writing its reply to the socket, by operation and status.',
  buckets: DURATION_BUCKETS_SECONDS,
  labelNames: ['operation', 'status'] as const,
  registers: [registry],
});

export const requestMeter =
  (operation: string) =>
  (status: number, seconds: number): void =>
    requests.observe({ operation, status }, seconds);

const appends = new Histogram({
  name: 'adintel_event_store_append_duration_seconds',
  help: 'Duration of one append with its retries. outcome: recorded, conflict (concurrent append), failed.',
  buckets: DURATION_BUCKETS_SECONDS,
  labelNames: ['outcome'] as const,
  registers: [registry],
});
const meterAppends = (outcome: 'recorded' | 'conflict' | 'failed') => {
  appends.zero({ outcome });
  return (seconds: number): void => appends.observe({ outcome }, seconds);
};
export const appendMeter = {
  recorded: meterAppends('recorded'),
  conflict: meterAppends('conflict'),
  failed: meterAppends('failed'),
} as const;

const batchEvents = new Histogram({
  name: 'adintel_projection_batch_facts',
  help: 'Events that a projection applied in one transaction.',
  buckets: BATCH_BUCKETS,
  labelNames: ['projection'] as const,
  registers: [registry],
});
const batchSeconds = new Histogram({
  name: 'adintel_projection_apply_duration_seconds',
  help: 'Duration of projecting, writing and committing one batch.',
  buckets: DURATION_BUCKETS_SECONDS,
  labelNames: ['projection'] as const,
  registers: [registry],
});

export const batchMeter =
  (projection: string) =>
  (events: number, seconds: number): void => {
    batchEvents.observe({ projection }, events);
    batchSeconds.observe({ projection }, seconds);
  };

/**
 * `outcome`: taken, refused (dead letter), put_back (scan incomplete), waits (needs a newer release; each attempt
 * counts). Other types than taken ones are `unknown`, because collectors choose the text.
 */
export const observationsTaken = new Counter({
  name: 'adintel_ingest_observations_total',
  help: 'Observations consumed from the queue, by type and outcome.',
  labelNames: ['type', 'outcome'] as const,
  registers: [registry],
});
/** The type of a refused line is `unknown`. */
export const intakeLines = new Counter({
  name: 'adintel_intake_lines_total',
  help: 'Lines sent to the intake, by type and outcome. outcome: accepted, refused.',
  labelNames: ['type', 'outcome'] as const,
  registers: [registry],
});
export const appTokens = new Counter({
  name: 'adintel_mcp_tokens_total',
  help: 'Token replies to apps, by grant: authorization_code (the first ones of a connection), refresh_token.',
  labelNames: ['grant'] as const,
  registers: [registry],
});
export const intakeTasks = new Counter({
  name: 'adintel_intake_tasks_total',
  help: 'Tasks of third-party collectors, by type and outcome. outcome: leased, done, failed.',
  labelNames: ['type', 'outcome'] as const,
  registers: [registry],
});
export const collectorAttempts = new Counter({
  name: 'adintel_collector_attempts_total',
  help: 'Attempts at targets that ended, by source and outcome. outcome: complete, partial, look, wait, refused, forbidden, closed, no_catalogue, unreadable, gave_up.',
  labelNames: ['source', 'outcome'] as const,
  registers: [registry],
});
export const collectorCalls = new Counter({
  name: 'adintel_collector_calls_total',
  help: 'Calls to the official library API, by account and answer. answer: page, reduce, invalid, limited, denied, fault.',
  labelNames: ['account', 'answer'] as const,
  registers: [registry],
});
/** `retried`: given back for a later try. */
export const mediaFiles = new Counter({
  name: 'adintel_media_files_total',
  help: 'Files of ads that the media archive tried, by kind and outcome. outcome: stored, missed, refused, retried.',
  labelNames: ['kind', 'outcome'] as const,
  registers: [registry],
});
/** `part`: texts, urls, entries (of lists), dates. */
export const shortenedParts = new Counter({
  name: 'adintel_ingest_shortened_total',
  help: 'Texts cut, URLs, list entries and dates left out of observations beyond their limits, by type and part.',
  labelNames: ['type', 'part'] as const,
  registers: [registry],
});
export const observedEvents = new Counter({
  name: 'adintel_ingest_facts_total',
  help: 'Events recorded from observations.',
  registers: [registry],
});

/** `class`: delivered, cancelled, or the failure class. */
export const deliveryAttempts = new Counter({
  name: 'adintel_delivery_attempts_total',
  help: 'Delivery attempts of this process, by channel and class.',
  labelNames: ['channel', 'class'] as const,
  registers: [registry],
});
export const droppedOutcomes = new Counter({
  name: 'adintel_delivery_outcomes_dropped_total',
  help: 'Outcomes of attempts that were not recorded: their claims were lost to another process, or they were recorded before.',
  registers: [registry],
});
const attemptSeconds = new Histogram({
  name: 'adintel_delivery_attempt_duration_seconds',
  help: 'Duration of one delivery attempt, by channel.',
  buckets: SEND_BUCKETS_SECONDS,
  labelNames: ['channel'] as const,
  registers: [registry],
});
export const meterAttempt = (channel: string, outcome: string, seconds: number): void => {
  deliveryAttempts.inc({ channel, class: outcome });
  attemptSeconds.observe({ channel }, seconds);
};

const pools = new Set<Pool>();
const dropEnded = (): void => {
  for (const pool of pools) if (pool.ending) pools.delete(pool);
};
/** Counts the pool until it is ended. */
export const meterPool = (pool: Pool): void => {
  dropEnded();
  pools.add(pool);
};
const sumOfPools = (count: (pool: Pool) => number): number => {
  dropEnded();
  return [...pools].reduce((sum, pool) => sum + count(pool), 0);
};

void new Gauge({
  name: 'adintel_postgres_pool_connections',
  help: 'Connections of the pools of this process. state: busy, idle.',
  labelNames: ['state'] as const,
  registers: [registry],
  collect() {
    this.set(
      { state: 'busy' },
      sumOfPools((pool) => pool.totalCount - pool.idleCount),
    );
    this.set(
      { state: 'idle' },
      sumOfPools((pool) => pool.idleCount),
    );
  },
});
void new Gauge({
  name: 'adintel_postgres_pool_limit',
  help: 'Maximum connections of the pools of this process.',
  registers: [registry],
  collect() {
    this.set(sumOfPools((pool) => pool.options.max ?? 0));
  },
});
void new Gauge({
  name: 'adintel_postgres_pool_waiting',
  help: 'Queries and transactions that wait for a connection.',
  registers: [registry],
  collect() {
    this.set(sumOfPools((pool) => pool.waitingCount));
  },
});

/** Default metrics `process_*` and `nodejs_*`. */
export const meterProcess = (): void => {
  if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry });
};

/** The process `ops` reads these from the three servers at each scrape. */
export const SERVICE_METRICS = {
  up: {
    name: 'adintel_server_up',
    help: '1 when the server answers. server: postgres, event_store, nats.',
    labelNames: ['server'],
  },
  projectionState: {
    name: 'adintel_projection_state',
    help: '1 for the current state of the projection.',
    labelNames: ['projection', 'state'],
  },
  lagEvents: {
    name: 'adintel_projection_lag_facts',
    help: 'Events that the projection has not applied yet.',
    labelNames: ['projection'],
  },
  lagSeconds: {
    name: 'adintel_projection_lag_seconds',
    help: 'Age of the oldest event that the projection has not applied yet; 0 when there is none.',
    labelNames: ['projection'],
  },
  appliedEvents: {
    name: 'adintel_projection_facts_applied',
    help: 'Events applied to the current tables of the projection.',
    labelNames: ['projection'],
  },
  parked: {
    name: 'adintel_projection_parked_facts',
    help: 'Parked events: events that failed to apply, and the later events of their streams.',
    labelNames: ['projection'],
  },
  alertsWaiting: {
    name: 'adintel_alerts_waiting_streams',
    help: 'Streams that alerts does not match, because they hold an event of a newer release.',
    labelNames: [],
  },
  figuresVerified: {
    name: 'adintel_figures_verified_timestamp_seconds',
    help: 'Time of the last verification of the figures that ended with a report.',
    labelNames: [],
  },
  figuresRules: {
    name: 'adintel_figures_rules',
    help: 'Rules between figures at the last verification. state: holds, violated, not_checked, left_out.',
    labelNames: ['state'],
  },
  collectorTargets: {
    name: 'adintel_collector_targets',
    help: 'Targets of the collector; one may have several states. state: due, in_flight, overdue, refused, shut, paused.',
    labelNames: ['source', 'state'],
  },
  mediaArchive: {
    name: 'adintel_media_archive_files',
    help: 'Files of the media archive. state: wanted, expiring (wanted, and the address ends within 12 hours), stored, missed, refused.',
    labelNames: ['state'],
  },
  mediaBytes: {
    name: 'adintel_media_archive_bytes',
    help: 'Bytes of the media archive. of: stored, quota.',
    labelNames: ['of'],
  },
  collectorAccount: {
    name: 'adintel_collector_account',
    help: 'State of each account of the official library API, 1 for the present one. state: open, shut, off.',
    labelNames: ['account', 'state'],
  },
  collectorTokenDays: {
    name: 'adintel_collector_token_days',
    help: 'Days until the token of the account at the official library API ends; negative when it has ended.',
    labelNames: ['account'],
  },
  collectorUsage: {
    name: 'adintel_collector_usage_percent',
    help: 'Usage of the account that the official library API reported last, within the hour.',
    labelNames: ['account'],
  },
  collectorRoundDays: {
    name: 'adintel_collector_round_days',
    help: 'Forecast days to read all targets of the source once, with one process and the present accounts of the library API.',
    labelNames: ['source'],
  },
  collectorLate: {
    name: 'adintel_collector_late_targets',
    help: 'Targets that the forecast shows as later than their cadence promises, with one process and the present accounts of the library API.',
    labelNames: ['source'],
  },
  buildProgress: {
    name: 'adintel_projection_build_progress_ratio',
    help: 'Share of the log that a running rebuild of the projection has applied, 0 to 1.',
    labelNames: ['projection'],
  },
  deliveriesWaiting: {
    name: 'adintel_deliveries_waiting',
    help: 'Unfinished deliveries. status: queued, retrying, held_back (sent as one message later).',
    labelNames: ['status'],
  },
  deliveriesOverdue: {
    name: 'adintel_deliveries_overdue_seconds',
    help: 'Time since the oldest due delivery became due; 0 when none is due.',
    labelNames: [],
  },
  deliveryAttempts: {
    name: 'adintel_service_delivery_attempts_total',
    help: 'Delivery attempts of all processes, counted from the journal since this process started.',
    labelNames: ['channel', 'class'],
  },
  queueMessages: {
    name: 'adintel_queue_messages',
    help: 'Messages in a JetStream stream. In OBSERVATIONS: pending work.',
    labelNames: ['stream'],
  },
  queueUnacknowledged: {
    name: 'adintel_queue_unacknowledged_messages',
    help: 'Messages that a consumer has received and not acknowledged.',
    labelNames: ['stream', 'consumer'],
  },
} as const;
