import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import { type Forecast, forecast, type ReadCadence } from '#domain/collecting/forecast.ts';
import { PACE_MS } from '#platform/http-client/polite-client.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { hasTargets, IDLE_AFTER_MS } from './target-states.ts';

/** Targets that one collector reads at once. Each waits for the pace of its host most of the time. */
export const CONCURRENT_TARGETS = 16;
/** Requests for a shop in addition to its pages: `robots.txt`, `/meta.json`, and the empty page at the end. */
const REQUESTS_BESIDE_PAGES = 3;
/** Requests that are assumed for a shop that was never read. */
const REQUESTS_UNKNOWN = 5;
/** Requests an hour that one collector can make to shops. */
const STOREFRONT_CALLS_PER_HOUR = (CONCURRENT_TARGETS * HOUR_MS) / PACE_MS;

/** Hours after a reading by which the next has ended. An idle target promises none. */
export const PROMISED_HOURS: Readonly<Record<ReadCadence, number | null>> = { ...SLO_HOURS, idle: null };

export type SourcePlan = Omit<Forecast, 'turns'> & {
  readonly source: string;
  /** Targets that are not paused. */
  readonly targets: number;
  readonly callsPerHour: number;
};

type Row = {
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wished_at: Date;
  readonly due_at: Date;
  readonly retry_at: Date | null;
  readonly pages: number;
};

/** Forecasts the scans of shops by `processes` collectors. Returns `null` before the tables exist. */
export const planStorefronts = async (
  database: Database,
  now: Date,
  processes: number,
): Promise<SourcePlan | null> => {
  if (!(await hasTargets(database))) return null;
  const { rows } = await database.query<Row>(
    `select t.domain, t.cadence, t.wished_at, t.due_at, t.retry_at,
       (select count(*)::int from collecting.spool s where s.batch_id = t.last_batch_id) as pages
     from collecting.target t where t.source = 'storefront' and t.paused is null`,
  );
  const nowMs = now.getTime();
  const callsPerHour = STOREFRONT_CALLS_PER_HOUR * processes;
  const readings = rows.map(({ domain, cadence, wished_at, due_at, retry_at, pages }) => ({
    id: domain,
    cadence: nowMs - wished_at.getTime() > IDLE_AFTER_MS ? ('idle' as const) : cadence,
    dueMs: Math.max(due_at.getTime(), retry_at?.getTime() ?? 0),
    calls: pages === 0 ? REQUESTS_UNKNOWN : pages + REQUESTS_BESIDE_PAGES,
  }));
  const { turns: _, ...figures } = forecast(readings, { nowMs, callsPerHour, promisedHours: PROMISED_HOURS });
  return { source: 'storefront', targets: rows.length, callsPerHour, ...figures };
};
