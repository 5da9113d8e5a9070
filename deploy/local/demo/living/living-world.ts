import { DAY_MS, SECOND_MS } from '#contracts/values/time.ts';
import type { DemoState } from '../demo-state.ts';
import { listedMaxMs, type Pulse } from '../world/pulse.ts';
import { buildWorld, busiestBrands, type DemoBrand, type World } from '../world/world.ts';

/** Number of brands that the demo workspace tracks. */
export const TRACKED_BRANDS = 8;
/**
 * Tracked brands that launch, each for a day in turn. With five, a day of launches is five times the usual day, and a
 * burst is three times.
 */
const LAUNCHING_BRANDS = 5;
/** Pulses from one scan of the tracked brands to the next: 5 minutes when a pulse takes 3 minutes. */
const SCAN_EVERY_PULSES = 5 / 3;
/** Pulses from a start to its additional scan: 1 minute when a pulse takes 3 minutes. It shows the launch of the start. */
const FIRST_SCAN_PULSES = 1 / 3;

/** The world of the demo with its pulse. It is computed from the state and the settings alone. */
export type LivingWorld = {
  readonly world: World;
  /** Midnight (UTC) of the first day of the corpus, in milliseconds. */
  readonly firstDayMs: number;
  readonly pulse: Pulse;
  readonly tracked: readonly DemoBrand[];
  /** Time between two scans of the tracked brands in milliseconds; 0 when the demo stands still. */
  readonly scanEveryMs: number;
};

export const livingWorldOf = (state: DemoState, pulseSeconds: number): LivingWorld => {
  const world = buildWorld(state);
  const tracked = busiestBrands(world, TRACKED_BRANDS);
  // The brands with the fewest ads launch, so that a launch stands out.
  const launching = tracked.slice(-Math.min(LAUNCHING_BRANDS, Math.max(1, tracked.length - 1)));
  const steady = tracked.slice(0, Math.max(1, tracked.length - launching.length));
  return {
    world,
    firstDayMs: Date.parse(state.until) - state.days * DAY_MS,
    tracked,
    scanEveryMs: scanEveryMsOf(pulseSeconds),
    pulse: {
      seed: state.seed,
      brands: steady.map(({ index }) => index),
      launching: launching.map(({ index }) => index),
      everyMs: pulseSeconds * SECOND_MS,
      fromMs: state.pulse_from === undefined ? 0 : Date.parse(state.pulse_from),
      openings: (state.openings ?? []).map((time) => Date.parse(time)),
    },
  };
};

/** Returns the time between two scans in milliseconds, a whole number of seconds. */
const scanEveryMsOf = (pulseSeconds: number): number =>
  Math.round(pulseSeconds * SCAN_EVERY_PULSES) * SECOND_MS;

type ScanTimes = {
  readonly scanEveryMs: number;
  readonly pulse: Pick<Pulse, 'everyMs' | 'openings'>;
};

/** Returns the times of the additional scans, one soon after each start, in milliseconds. */
const firstScansMs = ({ pulse }: ScanTimes): readonly number[] => {
  const afterMs = Math.max(1, Math.round((FIRST_SCAN_PULSES * pulse.everyMs) / SECOND_MS)) * SECOND_MS;
  return pulse.openings.map((openingMs) => openingMs + afterMs);
};

/** Returns the time of the latest scan that is due, in milliseconds. Scans have the same times after a restart. */
export const dueScanMs = (times: ScanTimes, nowMs: number): number => {
  const regularMs = Math.floor(nowMs / times.scanEveryMs) * times.scanEveryMs;
  return Math.max(regularMs, ...firstScansMs(times).filter((ms) => ms <= nowMs));
};

/** Returns the time of the first scan after `nowMs`, in milliseconds. */
export const nextScanMs = (times: ScanTimes, nowMs: number): number => {
  const regularMs = (Math.floor(nowMs / times.scanEveryMs) + 1) * times.scanEveryMs;
  return Math.min(regularMs, ...firstScansMs(times).filter((ms) => ms > nowMs));
};

/**
 * Returns the state of a start at this time: the pulse begins with the scan that is due, and a launch follows within a
 * second. A launch of an earlier start that the library no longer lists is left out.
 */
export const withOpening = (state: DemoState, pulseSeconds: number, nowMs: number): DemoState => {
  if (pulseSeconds === 0) return state;
  // Later than every scan published so far, so that a repeated scan has the same ads.
  const openingMs = Math.floor(nowMs / SECOND_MS) * SECOND_MS + SECOND_MS;
  const oldestMs = nowMs - listedMaxMs({ everyMs: pulseSeconds * SECOND_MS });
  const earlier = (state.openings ?? []).filter((time) => Date.parse(time) > oldestMs);
  const living = livingWorldOf(state, pulseSeconds);
  return {
    ...state,
    pulse_from: state.pulse_from ?? new Date(dueScanMs(living, nowMs)).toISOString(),
    openings: [...earlier, new Date(openingMs).toISOString()],
  };
};
