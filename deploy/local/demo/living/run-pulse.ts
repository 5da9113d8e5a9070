import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type DemoState, fedToMs } from '../demo-state.ts';
import { feedWorld } from './feed-world.ts';
import { dueScanMs, livingWorldOf, nextScanMs } from './living-world.ts';
import type { SendPart } from './send-part.ts';

/** The demo rests after this time without a client. */
export const RESTS_AFTER_MS = 24 * HOUR_MS;
/** The clock and the clients are read again within this time, after a suspension or while resting. */
const POLL_MAX_MS = 15 * SECOND_MS;

export type PulseOptions = {
  readonly send: SendPart;
  readonly database: Pick<Database, 'query'>;
  readonly clock: Clock;
  readonly state: DemoState;
  readonly stateFile: string;
  readonly pulseSeconds: number;
  readonly report: (message: string) => void;
};

export type PulseStatus = 'running' | 'resting' | 'failed';

/**
 * Publishes due scans until the signal is aborted. Never rejects: a failed part is repeated, and time missed by a rest
 * or a suspended machine comes with the next scan.
 */
export const runPulse = async (options: PulseOptions, signal: AbortSignal): Promise<void> => {
  const { clock, pulseSeconds } = options;
  const living = livingWorldOf(options.state, pulseSeconds);
  const publishDue = createPulse(options);
  while (!signal.aborted) {
    await publishDue(signal);
    const nowMs = clock.now().getTime();
    await pause(Math.min(POLL_MAX_MS, nextScanMs(living, nowMs) - nowMs), signal);
  }
};

export const createPulse = (options: PulseOptions): ((signal: AbortSignal) => Promise<PulseStatus>) => {
  const { send, database, clock, stateFile, pulseSeconds, report } = options;
  const living = livingWorldOf(options.state, pulseSeconds);
  const startedMs = clock.now().getTime();
  let { state } = options;
  let status: PulseStatus = 'running';
  const become = (next: PulseStatus, message: string): PulseStatus => {
    if (next !== status) report(message);
    status = next;
    return status;
  };
  return async (signal) => {
    const nowMs = clock.now().getTime();
    const dueMs = dueScanMs(living, nowMs);
    if (dueMs <= fedToMs(state, true)) return status;
    try {
      const lastClientMs = Math.max(startedMs, await readLastUseMs(database));
      if (nowMs - lastClientMs > RESTS_AFTER_MS) {
        return become(
          'resting',
          `demo: rests after ${RESTS_AFTER_MS / HOUR_MS} hours without a request; the next request wakes it`,
        );
      }
      state = await feedWorld(send, living, state, stateFile, dueMs, signal);
      return become('running', 'demo: goes on');
    } catch (error) {
      if (signal.aborted) return status;
      return become('failed', `demo: changes are not published and will be tried again: ${String(error)}`);
    }
  };
};

/** 0 when no API key was used. */
const readLastUseMs = async (database: PulseOptions['database']): Promise<number> => {
  const { rows } = await database.query<{ last_used_at: string | null }>(
    'select max(last_used_at) as last_used_at from access.key_use',
  );
  return Date.parse(rows[0]?.last_used_at ?? '1970-01-01T00:00:00Z');
};
