import { DAY_MS, SECOND_MS } from '#contracts/values/time.ts';
import { FOR, Random } from './seeded-random.ts';

/**
 * The demo's ads are a pure function of this and the time since `fromMs`, so each new demo has the same ones; one starts
 * per pulse. Durations are counted in pulses, so that a test with a short pulse has the same sequence.
 */
export type Pulse = {
  readonly seed: number;
  readonly brands: readonly number[];
  /**
   * Launch a UTC day each in turn. Not in `brands`, because a steady pulse raises the usual number of new ads, of which
   * a burst is a multiple.
   */
  readonly launching: readonly number[];
  /** First scan of the pulse. Nothing starts before it, so that it shows no sudden crowd. */
  readonly fromMs: number;
  /** Additional launches in whole seconds, soon after each start, for the person who watches it. */
  readonly openings: readonly number[];
  /** Whole seconds; 0 when nothing starts. */
  readonly everyMs: number;
};

export type PulseAd = {
  /** Above every number of the corpus. */
  readonly ad: number;
  readonly brand: number;
  readonly startsMs: number;
  readonly endsMs: number;
  /** Time before the end of the ad; `null` for most ads. */
  readonly linkChangesMs: number | null;
  readonly isLaunch: boolean;
};

/** 20 to 180 minutes when a pulse takes three minutes. */
export const RUNS_MIN_PULSES = 20 / 3;
export const RUNS_MAX_PULSES = 60;
/** 30 minutes when a pulse takes three minutes. */
export const LAUNCH_EVERY_PULSES = 10;
export const LAUNCH_ADS = 12;
/** One day when a pulse takes three minutes. */
export const LISTED_INACTIVE_PULSES = 480;
const LINK_CHANGE_SHARE = 0.2;
/** Above the corpus, which has at most 20 million ads a wave. */
const FIRST_PULSE_AD = 10_000_000_000;
/** One start, a launch and an additional launch. */
const ADS_A_SECOND = 1 + 2 * LAUNCH_ADS;

export const listedMaxMs = ({ everyMs }: Pick<Pulse, 'everyMs'>): number =>
  Math.ceil(RUNS_MAX_PULSES + LISTED_INACTIVE_PULSES) * everyMs;

/** Running or ended: the pulse in the order of starts, then additional launches. */
export function* pulseAdsAt(pulse: Pulse, timeMs: number): Generator<PulseAd> {
  const { brands, everyMs, fromMs, openings } = pulse;
  if (everyMs === 0 || brands.length === 0) return;
  const isListed = ({ endsMs }: PulseAd): boolean => timeMs < endsMs + LISTED_INACTIVE_PULSES * everyMs;
  const last = Math.floor((timeMs - fromMs) / everyMs);
  const first = Math.max(1, last - listedMaxMs(pulse) / everyMs);
  for (let slot = first; slot <= last; slot += 1) {
    for (const ad of adsOfSlot(pulse, slot)) if (isListed(ad)) yield ad;
  }
  for (const startsMs of openings) {
    if (startsMs > timeMs) continue;
    for (const ad of launchAt(pulse, startsMs, 1 + LAUNCH_ADS)) if (isListed(ad)) yield ad;
  }
}

const secondOf = ({ fromMs }: Pulse, startsMs: number): number => (startsMs - fromMs) / SECOND_MS;

const firstAdOf = (pulse: Pulse, startsMs: number): number =>
  FIRST_PULSE_AD + secondOf(pulse, startsMs) * ADS_A_SECOND;

/** `slot` counts pulses since `fromMs`. */
function* adsOfSlot(pulse: Pulse, slot: number): Generator<PulseAd> {
  const startsMs = pulse.fromMs + slot * pulse.everyMs;
  const random = new Random(pulse.seed, FOR.pulse, slot, 0);
  yield adAt(pulse, random, {
    ad: firstAdOf(pulse, startsMs),
    brand: random.pick(pulse.brands),
    startsMs,
    isLaunch: false,
  });
  if (slot % LAUNCH_EVERY_PULSES === 0) yield* launchAt(pulse, startsMs, 1);
}

/** `firstNth` is the number of the first ad within the second. */
function* launchAt(pulse: Pulse, startsMs: number, firstNth: number): Generator<PulseAd> {
  const { launching, seed, fromMs } = pulse;
  const day = Math.floor(startsMs / DAY_MS) - Math.floor(fromMs / DAY_MS);
  const brand = launching[day % launching.length];
  if (brand === undefined) return;
  for (let nth = firstNth; nth < firstNth + LAUNCH_ADS; nth += 1) {
    const random = new Random(seed, FOR.pulse, secondOf(pulse, startsMs), nth);
    yield adAt(pulse, random, { ad: firstAdOf(pulse, startsMs) + nth, brand, startsMs, isLaunch: true });
  }
}

const adAt = (
  { everyMs }: Pulse,
  random: Random,
  start: Omit<PulseAd, 'endsMs' | 'linkChangesMs'>,
): PulseAd => {
  const runMs = Math.round(everyMs * (RUNS_MIN_PULSES + (RUNS_MAX_PULSES - RUNS_MIN_PULSES) * random.next()));
  const changes = random.chance(LINK_CHANGE_SHARE);
  const changeMs = start.startsMs + Math.round(runMs * (0.2 + 0.6 * random.next()));
  return { ...start, endsMs: start.startsMs + runMs, linkChangesMs: changes ? changeMs : null };
};
