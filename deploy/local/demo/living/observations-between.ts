import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { observedAtOf, type Observation } from '#contracts/observations/index.ts';
import { sitesOn } from '../generators/sites.ts';
import { storefrontsOn } from '../generators/storefronts.ts';
import { trafficBetween } from '../generators/traffic.ts';
import { isScanDay, linksOf, liveScanOf, scanOf, scanTimeMs } from '../generators/scans.ts';
import type { DemoBrand } from '../world/world.ts';
import type { LivingWorld } from './living-world.ts';

/** Second scan of a tracked brand, as time of day. */
const EVENING_MS = 20 * HOUR_MS;
/** Shops and sites are scanned by this time of day. */
const SIDE_SCANS_UNTIL_MS = 6 * HOUR_MS;

/**
 * After `fromMs`, up to and including `toMs`: scans at their usual times, and monthly traffic. A longer time gives the
 * same observations as its parts, so one call fills missed time.
 */
export function* observationsBetween(
  living: LivingWorld,
  fromMs: number,
  toMs: number,
): Generator<Observation> {
  yield* trafficBetween(living.world, living.firstDayMs, fromMs, toMs);
  const dayOf = (ms: number): number => Math.floor((ms - living.firstDayMs) / DAY_MS);
  for (let day = dayOf(fromMs); day <= dayOf(toMs); day += 1) {
    for (const observation of observationsOn(living, day, fromMs, toMs)) {
      const atMs = Date.parse(observedAtOf(observation));
      if (atMs > fromMs && atMs <= toMs) yield observation;
    }
  }
}

function* observationsOn(
  living: LivingWorld,
  day: number,
  fromMs: number,
  toMs: number,
): Generator<Observation> {
  const { world, tracked, firstDayMs, pulse } = living;
  const dayMs = firstDayMs + day * DAY_MS;
  /** Generating a scan takes far longer than comparing its time. */
  const isWithin = (ms: number): boolean => ms > fromMs && ms <= toMs;
  for (const page of world.pageList) yield* linksOf(world, page, day, dayMs);
  // The scans of earlier days are part of the corpus.
  if (day >= world.days && fromMs < dayMs + SIDE_SCANS_UNTIL_MS) {
    yield* storefrontsOn(world, day, dayMs);
    yield* sitesOn(world, day, dayMs);
  }
  for (const brand of world.brandList) {
    const scanMs = dayMs + scanTimeMs(world, brand);
    const isLive = pulse.everyMs > 0 && tracked.includes(brand);
    if (isWithin(scanMs) && isScanDay(world, brand, day)) {
      yield* isLive ? scanAt(living, brand, scanMs) : scanOf(world, brand, day, dayMs);
    }
    if (isLive && isWithin(dayMs + EVENING_MS)) yield* scanAt(living, brand, dayMs + EVENING_MS);
  }
}

export function* scansOfTracked(living: LivingWorld, timeMs: number): Generator<Observation> {
  for (const brand of living.tracked) yield* scanAt(living, brand, timeMs);
}

const scanAt = ({ world, pulse, firstDayMs }: LivingWorld, brand: DemoBrand, timeMs: number) =>
  liveScanOf(world, pulse, brand, firstDayMs, timeMs);
