import { SECOND_MS } from '#contracts/values/time.ts';
import { FOR, Random } from './seeded-random.ts';

/**
 * The ads that start and end while the demo runs, as a pure function of seed and time. One ad starts per pulse, at
 * one of the brands. Every duration is counted in pulses, so that a test with a short pulse has the same sequence.
 */
export type Pulse = {
  readonly seed: number;
  /** Brands whose ads start; their order is part of the seed. */
  readonly brands: readonly number[];
  /** Time between two starts, a whole number of seconds in milliseconds; 0 when nothing starts. */
  readonly everyMs: number;
};

/** One ad of the pulse. Its times are the same whenever it is asked for. */
export type PulseAd = {
  /** Number of the ad, above every number of the corpus. */
  readonly ad: number;
  readonly brand: number;
  readonly startsMs: number;
  readonly endsMs: number;
  /** Time at which its link changes, before its end; `null` for most ads. */
  readonly linkChangesMs: number | null;
  /** True for an ad of a launch, which starts together with the others of it. */
  readonly isLaunch: boolean;
};

/** Shortest and longest run in pulses: 20 to 180 minutes when a pulse takes three minutes. */
export const RUNS_MIN_PULSES = 20 / 3;
export const RUNS_MAX_PULSES = 60;
/** Pulses from one launch to the next: 30 minutes when a pulse takes three minutes. */
export const LAUNCH_EVERY_PULSES = 10;
/** Ads that one brand starts together at a launch. */
export const LAUNCH_ADS = 12;
/** Pulses for which the library lists an ended ad as inactive: a day when a pulse takes three minutes. */
export const LISTED_INACTIVE_PULSES = 480;
const LINK_CHANGE_SHARE = 0.2;
/** First ad number of the pulse: above the corpus, which has at most 20 million ads a wave. */
const FIRST_PULSE_AD = 10_000_000_000;
/** Ad numbers per second: one start of its own, and a launch. */
const ADS_A_SECOND = 1 + LAUNCH_ADS;

/** Yields the ads that the library lists at the time, running or ended, in the order of their starts. */
export function* pulseAdsAt(pulse: Pulse, timeMs: number): Generator<PulseAd> {
  const { brands, everyMs } = pulse;
  if (everyMs === 0 || brands.length === 0) return;
  const last = Math.floor(timeMs / everyMs);
  const first = last - Math.ceil(RUNS_MAX_PULSES + LISTED_INACTIVE_PULSES);
  for (let slot = first; slot <= last; slot += 1) {
    for (const ad of adsOfSlot(pulse, slot)) {
      if (timeMs < ad.endsMs + LISTED_INACTIVE_PULSES * everyMs) yield ad;
    }
  }
}

/** Yields the ads that start in slot number `slot`, counted in pulses since 1970. */
function* adsOfSlot({ seed, brands, everyMs }: Pulse, slot: number): Generator<PulseAd> {
  const startsMs = slot * everyMs;
  const firstAd = FIRST_PULSE_AD + (startsMs / SECOND_MS) * ADS_A_SECOND;
  const count = slot % LAUNCH_EVERY_PULSES === 0 ? ADS_A_SECOND : 1;
  const launching = new Random(seed, FOR.pulse, slot).pick(brands);
  for (let nth = 0; nth < count; nth += 1) {
    const random = new Random(seed, FOR.pulse, slot, nth);
    const isLaunch = nth > 0;
    const brand = random.pick(brands);
    const runMs = Math.round(
      everyMs * (RUNS_MIN_PULSES + (RUNS_MAX_PULSES - RUNS_MIN_PULSES) * random.next()),
    );
    const changes = random.chance(LINK_CHANGE_SHARE);
    const changeMs = startsMs + Math.round(runMs * (0.2 + 0.6 * random.next()));
    yield {
      ad: firstAd + nth,
      brand: isLaunch ? launching : brand,
      startsMs,
      endsMs: startsMs + runMs,
      linkChangesMs: changes ? changeMs : null,
      isLaunch,
    };
  }
}
