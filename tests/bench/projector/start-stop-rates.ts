import type { Database } from '#platform/postgres/pool.ts';
import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Projection } from '#projections/define-projection.ts';
import { projections } from '#projections/index.ts';
import { applyBatch } from '#services/projector/apply/apply-batch.ts';
import { openLiveTarget } from '#services/projector/apply/checkpoints.ts';
import { type BenchContext, median, perSecond, scaled } from '../bench.ts';
import { eventsOfBrands, type Workload } from './start-stop.ts';

const BRANDS = 4;
const EVENTS_OF_BRAND = scaled(2_500, 100);
const EVENTS = BRANDS * EVENTS_OF_BRAND;
const BATCH_EVENTS = 5_000;
/** Minimum rate of start/stop brands, as a share of the rate of ordinary brands. */
const RATIO_MIN = 0.5;
const ALL = 'all read models of ads';

const isOfAds = ({ prefixes }: Projection): boolean => prefixes.includes(`${AD_LIBRARY}-`);

/** Applies the events to empty live tables. Returns the seconds, without those of creating the tables. */
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

/**
 * Compares brands whose ads start, stop and return in turn with ordinary brands, in the read model `ads` and in all read
 * models of ads one after the other. Each round measures both kinds.
 */
export async function compareStartStop(context: BenchContext, pool: Database): Promise<void> {
  const workloads = {
    ordinary: eventsOfBrands('ordinary', BRANDS, EVENTS_OF_BRAND),
    startStop: eventsOfBrands('startStop', BRANDS, EVENTS_OF_BRAND),
  };
  const measured = projections.filter(isOfAds);
  const rounds: Record<Workload, ReadonlyMap<string, number>>[] = [];
  const measure = async (workload: Workload): Promise<ReadonlyMap<string, number>> => {
    const seconds = new Map<string, number>();
    for (const one of measured) seconds.set(one.name, await secondsOf(pool, one, workloads[workload]));
    return seconds.set(
      ALL,
      [...seconds.values()].reduce((sum, each) => sum + each, 0),
    );
  };
  // The first round is not measured.
  for (let round = -1; round < context.rounds; round += 1) {
    const both = { ordinary: await measure('ordinary'), startStop: await measure('startStop') };
    if (round >= 0) rounds.push(both);
  }
  for (const name of ['ads', ALL]) {
    const rateOf = (workload: Workload): number =>
      EVENTS / median(rounds.map((round) => round[workload].get(name) ?? Number.NaN));
    const ratio = rateOf('startStop') / rateOf('ordinary');
    context.print(
      `  ${name}: ordinary brands ${perSecond(rateOf('ordinary'))}, start/stop brands ${perSecond(rateOf('startStop'))}`,
    );
    context.record({
      bench: `projector: start/stop brands, ${name}`,
      measured: perSecond(rateOf('startStop')),
      ceiling: perSecond(rateOf('ordinary')),
      ratio,
      target: `>= ${RATIO_MIN}`,
      held: ratio >= RATIO_MIN,
    });
  }
}
