import type { Database } from '#platform/postgres/pool.ts';
import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Projection } from '#projections/define-projection.ts';
import { projections } from '#projections/index.ts';
import { applyBatch } from '#services/projector/apply/apply-batch.ts';
import { openLiveTarget } from '#services/projector/apply/checkpoints.ts';
import { type BenchContext, measurePairs, perSecond, scaled } from '../runner/bench.ts';
import { eventsOfBrands, type Workload } from './start-stop.ts';

const BRANDS = 4;
const EVENTS_OF_BRAND = scaled(2_500, 100);
const EVENTS = BRANDS * EVENTS_OF_BRAND;
const BATCH_EVENTS = 5_000;
/** A round takes long: it applies both kinds to all read models of ads. */
const ROUNDS_MAX = 3;
const ALL = 'all read models of ads';

const isOfAds = ({ prefixes }: Projection): boolean => prefixes.includes(`${AD_LIBRARY}-`);

/** Seconds without those of creating the tables. */
async function secondsOf(
  pool: Database,
  projection: Projection,
  events: readonly RecordedEvent[],
): Promise<number> {
  const target = await openLiveTarget(pool, projection);
  await pool.query('checkpoint');
  const startMs = performance.now();
  for (let from = 0; from < events.length; from += BATCH_EVENTS) {
    const batch = events.slice(from, from + BATCH_EVENTS);
    await applyBatch(pool, target, batch, batch.at(-1)?.position ?? 0n);
  }
  const seconds = (performance.now() - startMs) / 1000;
  await pool.query(`drop schema "${target.schema}" cascade`);
  await pool.query('delete from projector.read_model');
  return seconds;
}

/** Each round measures start/stop and ordinary brands. */
export async function compareStartStop(context: BenchContext<'projector'>, pool: Database): Promise<void> {
  const workloads = {
    ordinary: eventsOfBrands('ordinary', BRANDS, EVENTS_OF_BRAND),
    startStop: eventsOfBrands('startStop', BRANDS, EVENTS_OF_BRAND),
  };
  const measured = projections.filter(isOfAds);
  const measure = async (workload: Workload): Promise<ReadonlyMap<string, number>> => {
    const rates = new Map<string, number>();
    let allSeconds = 0;
    for (const one of measured) {
      const seconds = await secondsOf(pool, one, workloads[workload]);
      rates.set(one.name, EVENTS / seconds);
      allSeconds += seconds;
    }
    return rates.set(ALL, EVENTS / allSeconds);
  };
  const pairs = await measurePairs(
    Math.min(context.rounds, ROUNDS_MAX),
    () => measure('ordinary'),
    () => measure('startStop'),
  );
  for (const name of ['ads', ALL] as const) {
    const rate = pairs.of((rates) => rates.get(name) ?? Number.NaN);
    context.record(`start/stop brands, ${name}`, rate.measured, rate.ceiling, rate.ratio);
    context.print(
      `  ${name}: ordinary brands ${perSecond(rate.ceiling)}, start/stop brands ${perSecond(rate.measured)}`,
    );
  }
}
