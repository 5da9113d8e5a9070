import { DAY_MS, SECOND_MS, utcDateOfMs } from '#contracts/values/time.ts';
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
  readonly pulse: Pick<Pulse, 'everyMs' | 'fromMs' | 'openings'>;
};

const firstScansMs = ({ pulse }: ScanTimes): readonly number[] => {
  const afterMs = Math.max(1, Math.round((FIRST_SCAN_PULSES * pulse.everyMs) / SECOND_MS)) * SECOND_MS;
  return pulse.openings.map((openingMs) => openingMs + afterMs);
};

/** Counted from the first scan of the pulse, so that they have the same times after a restart. */
const regularScanMs = ({ scanEveryMs, pulse }: ScanTimes, nowMs: number, later: 0 | 1): number =>
  pulse.fromMs + (Math.floor((nowMs - pulse.fromMs) / scanEveryMs) + later) * scanEveryMs;

export const dueScanMs = (times: ScanTimes, nowMs: number): number => {
  const regularMs = regularScanMs(times, nowMs, 0);
  return Math.max(regularMs, ...firstScansMs(times).filter((ms) => ms <= nowMs));
};

export const nextScanMs = (times: ScanTimes, nowMs: number): number => {
  const regularMs = regularScanMs(times, nowMs, 1);
  return Math.min(regularMs, ...firstScansMs(times).filter((ms) => ms > nowMs));
};

/**
 * The pulse begins with a first scan; a launch follows within a second. A new demo has no scans of the hours before, so
 * that it is the same at each hour of a day. Launches that the library no longer lists are left out.
 */
export const withOpening = (state: DemoState, pulseSeconds: number, nowMs: number): DemoState => {
  if (pulseSeconds === 0) return state;
  // Later than every scan published so far, so that a repeated scan has the same ads.
  const secondMs = Math.floor(nowMs / SECOND_MS) * SECOND_MS;
  const openingMs = secondMs + SECOND_MS;
  const oldestMs = nowMs - listedMaxMs({ everyMs: pulseSeconds * SECOND_MS });
  const earlier = (state.openings ?? []).filter((time) => Date.parse(time) > oldestMs);
  const isNew = state.fed_to === undefined && state.until === utcDateOfMs(nowMs);
  const pulse_from = state.pulse_from ?? new Date(secondMs).toISOString();
  return {
    ...state,
    pulse_from,
    ...(isNew ? { fed_to: new Date(secondMs - 1).toISOString() } : {}),
    openings: [...earlier, new Date(openingMs).toISOString()],
  };
};
