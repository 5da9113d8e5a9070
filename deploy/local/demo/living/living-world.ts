import { DAY_MS, SECOND_MS } from '#contracts/values/time.ts';
import type { DemoState } from '../demo-state.ts';
import { listedMaxMs, type Pulse } from '../world/pulse.ts';
import { buildWorld, busiestBrands, type DemoBrand, type World } from '../world/world.ts';

export const TRACKED_BRANDS = 8;
/** With five, a day of launches is five times the usual day, and a burst is three times. */
const LAUNCHING_BRANDS = 5;
/** 5 minutes when a pulse takes 3 minutes. */
const SCAN_EVERY_PULSES = 5 / 3;
/** 1 minute when a pulse takes 3 minutes. It shows the launch of a start. */
const FIRST_SCAN_PULSES = 1 / 3;

export type LivingWorld = {
  readonly world: World;
  readonly firstDayMs: number;
  readonly pulse: Pulse;
  readonly tracked: readonly DemoBrand[];
  /** 0 when the demo stands still. */
  readonly scanEveryMs: number;
};

export const livingWorldOf = (state: DemoState, pulseSeconds: number): LivingWorld => {
  const world = buildWorld(state);
  const tracked = busiestBrands(world, TRACKED_BRANDS);
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

const scanEveryMsOf = (pulseSeconds: number): number =>
  Math.round(pulseSeconds * SCAN_EVERY_PULSES) * SECOND_MS;

type ScanTimes = {
  readonly scanEveryMs: number;
  readonly pulse: Pick<Pulse, 'everyMs' | 'openings'>;
};

const firstScansMs = ({ pulse }: ScanTimes): readonly number[] => {
  const afterMs = Math.max(1, Math.round((FIRST_SCAN_PULSES * pulse.everyMs) / SECOND_MS)) * SECOND_MS;
  return pulse.openings.map((openingMs) => openingMs + afterMs);
};

/** Scans have the same times after a restart. */
export const dueScanMs = (times: ScanTimes, nowMs: number): number => {
  const regularMs = Math.floor(nowMs / times.scanEveryMs) * times.scanEveryMs;
  return Math.max(regularMs, ...firstScansMs(times).filter((ms) => ms <= nowMs));
};

export const nextScanMs = (times: ScanTimes, nowMs: number): number => {
  const regularMs = (Math.floor(nowMs / times.scanEveryMs) + 1) * times.scanEveryMs;
  return Math.min(regularMs, ...firstScansMs(times).filter((ms) => ms > nowMs));
};

/**
 * The pulse begins with the due scan; a launch follows within a second. Launches that the library no longer lists are
 * left out.
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
