import { Counter, Gauge, Registry } from 'prom-client';
import { SERVICE_METRICS, registry as ownRegistry } from '#platform/telemetry/metrics.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { pause } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { Missing } from '#platform/process/readiness.ts';
import { projections } from '#projections/index.ts';
import { ACCOUNT_STATES, readLibraryAccounts } from '#application/collecting/library-account.ts';
import { type SourcePlan, planSources } from '#application/collecting/plan-sources.ts';
import { TARGET_STATES, countTargets } from '#application/collecting/target-states.ts';
import { ARCHIVE_STATES, readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { readVerification } from '#application/invariants/check-invariants.ts';
import { countWaitingStreams } from '../waiting-events.ts';
import { readStatus } from '../projections.ts';

const ENTRIES_MAX = 100_000;

/**
 * Counts attempts since the first scrape, up to the last published entry. Entries get their sequence numbers before
 * they commit, so a later entry may still be invisible and would be missed.
 */
export const createAttemptCounter = (registry: Registry, pool: Database): (() => Promise<void>) => {
  const { name, help, labelNames } = SERVICE_METRICS.deliveryAttempts;
  const counter = new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
  let after: string | null = null;
  let counting: Promise<void> | null = null;
  const count = async (): Promise<void> => {
    const { rows } = await pool.query<{ seq: string }>('select seq from delivery.recorded');
    const recorded = rows[0]?.seq ?? '0';
    if (after === null) {
      after = recorded;
      return;
    }
    const upTo = BigInt(after) + BigInt(ENTRIES_MAX);
    const to = BigInt(recorded) < upTo ? recorded : String(upTo);
    const counted = await pool.query<{ channel: string; class: string; attempts: number }>(
      `select d.channel, coalesce(j.failure, 'delivered') as class, count(*)::int as attempts
       from delivery.journal j join delivery.delivery d using (delivery_id)
       where j.seq > $1 and j.seq <= $2 and j.type = 'DeliveryAttempted' group by 1, 2`,
      [after, to],
    );
    for (const { attempts, ...labels } of counted.rows) counter.inc(labels, attempts);
    after = to;
  };
  // Single-flight: two concurrent runs would count the same entries twice.
  return () => {
    counting ??= count().finally(() => {
      counting = null;
    });
    return counting;
  };
};

/** Scrapes within this time share one read, to limit the load on the servers. */
const READ_AGAIN_MS = 2_000;
const READ_LIMIT_MS = 6_000;
const STATES = ['building', 'live', 'paused', 'failed'];

export type MetricsDependencies = {
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly nats: () => Nats | null;
  readonly missing: () => Promise<readonly Missing[]>;
  readonly servers: readonly string[];
  readonly archiveCallsPerHour: number;
};

const ROUNDS_KEPT_MS = 600_000;

type Gauges = Readonly<Record<keyof typeof SERVICE_METRICS, Gauge>>;

const readServers = async (gauges: Gauges, { missing, servers }: MetricsDependencies): Promise<void> => {
  const down = new Set((await missing()).map(({ what }) => what));
  for (const server of servers) gauges.up.set({ server }, down.has(server) ? 0 : 1);
};

const readProjections = async (gauges: Gauges, { pool, eventStore }: MetricsDependencies): Promise<void> => {
  const all = await readStatus(pool, eventStore, projections);
  for (const { name: projection, state, lag_seconds: seconds, build, ...one } of all) {
    for (const each of STATES)
      gauges.projectionState.set({ projection, state: each }, each === state ? 1 : 0);
    gauges.lagEvents.set({ projection }, one.lag_facts);
    if (seconds !== null) gauges.lagSeconds.set({ projection }, seconds);
    gauges.appliedEvents.set({ projection }, one.facts_applied);
    gauges.parked.set({ projection }, one.parked);
    if (build && ['reading', 'indexing', 'ready'].includes(build.state)) {
      gauges.buildProgress.set({ projection }, build.facts / Math.max(1, build.total_facts));
    }
  }
};

const readDeliveries = async (gauges: Gauges, { pool }: MetricsDependencies): Promise<void> => {
  const { rows } = await pool.query<{ queued: number; retrying: number; held_back: number; overdue: number }>(
    `select count(*) filter (where attempts = attempts_before)::int as queued,
       count(*) filter (where attempts > attempts_before)::int as retrying,
       (select count(*) from delivery.held)::int as held_back,
       greatest(0, extract(epoch from now() - min(next_attempt_at)))::float8 as overdue
     from delivery.due`,
  );
  const [due] = rows;
  gauges.deliveriesWaiting.set({ status: 'queued' }, due?.queued ?? 0);
  gauges.deliveriesWaiting.set({ status: 'retrying' }, due?.retrying ?? 0);
  gauges.deliveriesWaiting.set({ status: 'held_back' }, due?.held_back ?? 0);
  gauges.deliveriesOverdue.set(due?.overdue ?? 0);
};

const readWaitingStreams = async (gauges: Gauges, { pool }: MetricsDependencies): Promise<void> => {
  gauges.alertsWaiting.set(await countWaitingStreams(pool));
};

const RULE_STATES = ['holds', 'violated', 'not_checked', 'left_out'] as const;

const readFigures = async (gauges: Gauges, { pool }: MetricsDependencies): Promise<void> => {
  const last = await readVerification(pool);
  if (!last?.report || last.verified_at === null) return;
  gauges.figuresVerified.set(Date.parse(last.verified_at) / 1_000);
  for (const state of RULE_STATES) {
    const rules = last.report.invariants.filter((one) => one.state === state);
    gauges.figuresRules.set({ state }, rules.length);
  }
};

const readTargets = async (gauges: Gauges, { pool }: MetricsDependencies): Promise<void> => {
  for (const counts of await countTargets(pool, new Date())) {
    for (const state of TARGET_STATES)
      gauges.collectorTargets.set({ source: counts.source, state }, counts[state]);
  }
};

const readAccounts = async (gauges: Gauges, { pool }: MetricsDependencies): Promise<void> => {
  for (const one of await readLibraryAccounts(pool, new Date())) {
    const { account } = one;
    for (const state of ACCOUNT_STATES) {
      gauges.collectorAccount.set({ account, state }, one.state === state ? 1 : 0);
    }
    gauges.collectorTokenDays.set({ account }, one.token_days_left);
    if (one.usage_percent !== null) gauges.collectorUsage.set({ account }, one.usage_percent);
  }
};

const readQueues = async (gauges: Gauges, { nats }: MetricsDependencies): Promise<void> => {
  const opened = nats();
  if (opened === null) return;
  for await (const { config, state } of opened.manager.streams.list()) {
    const stream = config.name;
    gauges.queueMessages.set({ stream }, state.messages);
    for await (const consumer of opened.manager.consumers.list(stream)) {
      gauges.queueUnacknowledged.set({ stream, consumer: consumer.name }, consumer.num_ack_pending);
    }
  }
};

const readMediaArchive = async (gauges: Gauges, { pool }: MetricsDependencies): Promise<void> => {
  const archive = await readArchiveStatus(pool, new Date());
  if (archive === null) return;
  for (const state of ARCHIVE_STATES) gauges.mediaArchive.set({ state }, archive.files[state]);
  gauges.mediaBytes.set({ of: 'stored' }, archive.bytes);
  if (archive.quotaBytes !== null) gauges.mediaBytes.set({ of: 'quota' }, archive.quotaBytes);
};

const createRoundReader = () => {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let plans: readonly SourcePlan[] = [];
  return async (gauges: Gauges, { pool, archiveCallsPerHour }: MetricsDependencies): Promise<void> => {
    const now = new Date();
    if (now.getTime() - readAtMs > ROUNDS_KEPT_MS) {
      plans = await planSources(pool, now, { archiveCallsPerHour });
      readAtMs = now.getTime();
    }
    for (const { source, daysPerRound, late } of plans) {
      gauges.collectorRoundDays.set({ source }, daysPerRound);
      gauges.collectorLate.set({ source }, late.length);
    }
  };
};

/** Renders `/metrics` for the whole service. Omits the figures of servers that do not respond. */
export const createServiceMetrics = (dependencies: MetricsDependencies): (() => Promise<string>) => {
  const registry = new Registry();
  const gauges = Object.fromEntries(
    Object.entries(SERVICE_METRICS)
      .filter(([key]) => key !== 'deliveryAttempts')
      .map(([key, metric]) => [
        key,
        new Gauge({ ...metric, labelNames: [...metric.labelNames], registers: [registry] }),
      ]),
  ) as unknown as Gauges;
  const tally = createAttemptCounter(registry, dependencies.pool);
  const readRounds = createRoundReader();

  const read = async (): Promise<string> => {
    for (const gauge of Object.values(gauges)) gauge.reset();
    // `reset` sets a gauge without labels to 0, which would look like a measured value.
    gauges.deliveriesOverdue.remove();
    gauges.alertsWaiting.remove();
    gauges.figuresVerified.remove();
    const parts = [
      readServers,
      readProjections,
      readDeliveries,
      readWaitingStreams,
      readFigures,
      readTargets,
      readMediaArchive,
      readAccounts,
      readRounds,
      readQueues,
      tally,
    ];
    const late = new AbortController();
    const inTime = pause(READ_LIMIT_MS, late.signal);
    await Promise.allSettled(parts.map((one) => Promise.race([one(gauges, dependencies), inTime])));
    late.abort();
    return `${await registry.metrics()}\n${await ownRegistry.metrics()}`;
  };

  // Single-flight: a second read would reset the gauges of the first.
  let reading: Promise<string> | null = null;
  let last: Promise<string> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (reading !== null) return reading;
    if (last !== null && performance.now() - readAtMs <= READ_AGAIN_MS) return last;
    reading = read().finally(() => {
      reading = null;
      readAtMs = performance.now();
    });
    last = reading;
    return reading;
  };
};
