import type { Pool } from 'pg';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { type Observe, openTimings } from './histogram.ts';

/**
 * What a process counts of itself. A process has one registry, and counts whether or not anybody asks: what is
 * counted here costs less than asking whether to. Names end in their unit; labels have few values, all of them ours.
 */
export const registry = new Registry();

const API_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const WRITE_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const SEND_BOUNDS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const BATCH_BOUNDS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];

const requests = openTimings(registry, {
  name: 'adintel_api_request_duration_seconds',
  help: 'From a request being read to its answer being handed to the socket, by operation and status.',
  bounds: API_BOUNDS_SECONDS,
});

/** Counts the requests of one operation. `none` is what no operation of the API answers. */
export const requestMeter = (operation: string): ((status: number, seconds: number) => void) => {
  const byStatus = new Map<number, Observe>();
  return (status, seconds) => {
    let observe = byStatus.get(status);
    if (observe === undefined) {
      observe = requests.of({ operation, status });
      byStatus.set(status, observe);
    }
    observe(seconds);
  };
};

const appends = openTimings(registry, {
  name: 'adintel_event_store_append_duration_seconds',
  help: 'One append with its repetitions. outcome: recorded, conflict (somebody else was faster), failed.',
  bounds: WRITE_BOUNDS_SECONDS,
});
export const appendMeter = {
  recorded: appends.of({ outcome: 'recorded' }),
  conflict: appends.of({ outcome: 'conflict' }),
  failed: appends.of({ outcome: 'failed' }),
} as const;

const batchEvents = openTimings(registry, {
  name: 'adintel_projection_batch_facts',
  help: 'Events that a projection applied in one transaction.',
  bounds: BATCH_BOUNDS,
});
const batchSeconds = openTimings(registry, {
  name: 'adintel_projection_apply_duration_seconds',
  help: 'Projecting, writing and committing one batch.',
  bounds: WRITE_BOUNDS_SECONDS,
});

/** Counts the batches of one projection. */
export const batchMeter = (projection: string): ((events: number, seconds: number) => void) => {
  const events = batchEvents.of({ projection });
  const duration = batchSeconds.of({ projection });
  return (count, seconds) => {
    events(count);
    duration(seconds);
  };
};

/**
 * `outcome`: taken, refused (set aside), put_back (the rest of its scan is still on its way). What is not taken has
 * the type `unknown`: anybody may write anything there.
 */
export const observationsTaken = new Counter({
  name: 'adintel_ingest_observations_total',
  help: 'Observations taken from the queue, by type and outcome.',
  labelNames: ['type', 'outcome'] as const,
  registers: [registry],
});
export const observedEvents = new Counter({
  name: 'adintel_ingest_facts_total',
  help: 'Events recorded from observations.',
  registers: [registry],
});

/** `class`: delivered, cancelled, or the class of the failure. */
export const deliveryAttempts = new Counter({
  name: 'adintel_delivery_attempts_total',
  help: 'Attempts of this process to deliver, by channel and class.',
  labelNames: ['channel', 'class'] as const,
  registers: [registry],
});
const attemptSeconds = openTimings(registry, {
  name: 'adintel_delivery_attempt_duration_seconds',
  help: 'One attempt to deliver, by channel.',
  bounds: SEND_BOUNDS_SECONDS,
});
const attemptMeters = new Map<string, Observe>();
export const meterAttempt = (channel: string, outcome: string, seconds: number): void => {
  deliveryAttempts.inc({ channel, class: outcome });
  const observe = attemptMeters.get(channel) ?? attemptSeconds.of({ channel });
  attemptMeters.set(channel, observe);
  observe(seconds);
};

const pools = new Set<Pool>();
const dropEnded = (): void => {
  for (const pool of pools) if (pool.ending) pools.delete(pool);
};
/** Counts a pool of connections among those of this process, until it is ended. */
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
  help: 'Connections that the pools of this process may open.',
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

/** Memory, processor, garbage collection, event-loop lag: `process_*` and `nodejs_*`. Once in a process. */
export const meterProcess = (): void => {
  if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry });
};

/** What the process `ops` reads from the three servers about the whole service, at each scrape. */
export const SERVICE_METRICS = {
  up: {
    name: 'adintel_server_up',
    help: '1 when the server answers. server: postgres, event_store, nats.',
    labelNames: ['server'],
  },
  projectionState: {
    name: 'adintel_projection_state',
    help: '1 for the state that the projection is in.',
    labelNames: ['projection', 'state'],
  },
  lagEvents: {
    name: 'adintel_projection_lag_facts',
    help: 'Events that the projection has still to apply.',
    labelNames: ['projection'],
  },
  lagSeconds: {
    name: 'adintel_projection_lag_seconds',
    help: 'Age of the oldest event that the projection has still to apply; 0 when there is none.',
    labelNames: ['projection'],
  },
  appliedEvents: {
    name: 'adintel_projection_facts_applied',
    help: 'Events that the tables of the projection were made from.',
    labelNames: ['projection'],
  },
  parked: {
    name: 'adintel_projection_parked_facts',
    help: 'Events that wait: one that could not be applied, and the later ones of its stream.',
    labelNames: ['projection'],
  },
  buildProgress: {
    name: 'adintel_projection_build_progress_ratio',
    help: 'Of a projection that is built anew beside its tables: how much of the log it has, 0 to 1.',
    labelNames: ['projection'],
  },
  deliveriesWaiting: {
    name: 'adintel_deliveries_waiting',
    help: 'Deliveries that are not at an end. status: queued, retrying.',
    labelNames: ['status'],
  },
  deliveriesOverdue: {
    name: 'adintel_deliveries_overdue_seconds',
    help: 'How long the delivery that waits longest is due; 0 when none is.',
    labelNames: [],
  },
  deliveryAttempts: {
    name: 'adintel_service_delivery_attempts_total',
    help: 'Attempts of all delivery processes, as the journal has them, since this process looks.',
    labelNames: ['channel', 'class'],
  },
  queueMessages: {
    name: 'adintel_queue_messages',
    help: 'Messages in a stream of JetStream. Of OBSERVATIONS and DELIVERIES: work to do.',
    labelNames: ['stream'],
  },
  queueUnacknowledged: {
    name: 'adintel_queue_unacknowledged_messages',
    help: 'Messages that a consumer has taken and not answered.',
    labelNames: ['stream', 'consumer'],
  },
} as const;
