import { hash } from 'node:crypto';
import { IDLE_AFTER_MS, INTERVAL_HOURS } from '#application/collecting/target-states.ts';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';

type Rhythm = 'daily' | 'weekly' | 'idle';

const INTERVAL_MS: Readonly<Record<Rhythm, number>> = {
  daily: INTERVAL_HOURS.daily * HOUR_MS,
  weekly: INTERVAL_HOURS.weekly * HOUR_MS,
  idle: 30 * DAY_MS,
};
const SPREAD = 0.1;
const HASH_VALUES = 2 ** 32;

/** Returns a share from 0 to 1, constant per domain. */
const shareOf = (domain: string): number =>
  Number.parseInt(hash('sha256', domain).slice(0, 8), 16) / HASH_VALUES;

/** Up to a tenth of the interval early, by a hash of the domain, so that targets with a common start spread. */
export const nextDue = (target: {
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly wishedAt: Date;
  readonly readAt: Date;
  /** Interval of a source of its own; `null` for that of the cadence. */
  readonly intervalMs?: number | null;
}): Date => {
  const { domain, cadence, wishedAt, readAt } = target;
  const isIdle = readAt.getTime() - wishedAt.getTime() > IDLE_AFTER_MS;
  const intervalMs = target.intervalMs ?? INTERVAL_MS[isIdle ? 'idle' : cadence];
  return new Date(readAt.getTime() + Math.round(intervalMs * (1 - SPREAD * shareOf(domain))));
};

const RETRY_FIRST_MS = 5 * 60_000;
const RETRY_MAX_MS = HOUR_MS;

export const retryDelayMs = (failures: number): number =>
  Math.min(RETRY_FIRST_MS * 2 ** Math.min(failures - 1, 10), RETRY_MAX_MS);
