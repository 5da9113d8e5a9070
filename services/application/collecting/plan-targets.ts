import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import { costOf, type Forecast, forecast, type ReadCadence } from '#domain/collecting/forecast.ts';
import { PACE_MS } from '#platform/http-client/polite-client.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { hasTargets, IDLE_AFTER_MS, SITE_INTERVAL_HOURS } from './target-states.ts';

/** A collector reads these at once: each waits for the pace of its host most of the time. */
export const CONCURRENT_TARGETS = 16;
const CALLS_PER_HOUR = (CONCURRENT_TARGETS * HOUR_MS) / PACE_MS;

type PlannedSource = {
  /** Requests assumed for a target that was never read. */
  readonly requestsUnknown: number;
  readonly requestsBesidePages: number;
  /** Hours between two readings; absent: those of the cadence. */
  readonly intervalHours?: number;
};

/** Omits visits to landing pages, which depend on links of future ads. */
const PLANNED_SOURCES: Readonly<Record<string, PlannedSource>> = {
  // `robots.txt`, `/meta.json`, and the empty page at the end.
  storefront: { requestsUnknown: 5, requestsBesidePages: 3 },
  // `robots.txt`. A site has five pages at most.
  site: { requestsUnknown: 6, requestsBesidePages: 1, intervalHours: SITE_INTERVAL_HOURS },
};

/** The next reading has ended by then. An idle target promises none. */
export const PROMISED_HOURS: Readonly<Record<ReadCadence, number | null>> = { ...SLO_HOURS, idle: null };

export type SourcePlan = Omit<Forecast, 'turns'> & {
  readonly source: string;
  /** Excludes paused targets. */
  readonly targets: number;
  readonly callsPerHour: number;
  /** Looks at daily brands between their scans; 0 when a round of scans fits into the calls. */
  readonly looksPerDay: number;
};

type Row = {
  readonly source: string;
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wished_at: Date;
  readonly due_at: Date;
  readonly retry_at: Date | null;
  readonly pages: number;
};

const callsOf = ({ source, pages }: Row): number => {
  const { requestsUnknown, requestsBesidePages } = PLANNED_SOURCES[source] as PlannedSource;
  return pages === 0 ? requestsUnknown : pages + requestsBesidePages;
};

/**
 * Collectors share their requests among shops and sites. One plan per source with targets; none before the tables
 * exist.
 */
export const planTargets = async (
  database: Database,
  now: Date,
  processes: number,
): Promise<readonly SourcePlan[]> => {
  if (!(await hasTargets(database))) return [];
  const { rows } = await database.query<Row>(
    `select t.source, t.domain, t.cadence, t.wished_at, t.due_at, t.retry_at,
       (select count(*)::int from collecting.spool s where s.batch_id = t.last_batch_id) as pages
     from collecting.target t where t.source = any($1) and t.paused is null`,
    [Object.keys(PLANNED_SOURCES)],
  );
  const nowMs = now.getTime();
  const callsPerHour = CALLS_PER_HOUR * processes;
  const readings = rows.map((row) => ({
    id: `${row.source} ${row.domain}`,
    source: row.source,
    cadence: nowMs - row.wished_at.getTime() > IDLE_AFTER_MS ? ('idle' as const) : row.cadence,
    dueMs: Math.max(row.due_at.getTime(), row.retry_at?.getTime() ?? 0),
    calls: callsOf(row),
    intervalHours: PLANNED_SOURCES[row.source]?.intervalHours,
  }));
  const { late } = forecast(readings, { nowMs, callsPerHour, promisedHours: PROMISED_HOURS });
  return Object.keys(PLANNED_SOURCES).flatMap((source): SourcePlan[] => {
    const own = readings.filter((reading) => reading.source === source);
    if (own.length === 0) return [];
    const lateDomains = late
      .filter((id) => id.startsWith(`${source} `))
      .map((id) => id.slice(source.length + 1));
    return [
      {
        source,
        targets: own.length,
        callsPerHour,
        ...costOf(own, callsPerHour),
        looksPerDay: 0,
        late: lateDomains,
      },
    ];
  });
};
