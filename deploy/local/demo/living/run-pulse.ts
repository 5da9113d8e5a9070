import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';
import { type Clock, pause, systemClock } from '#platform/clock.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { type DemoState, fedToMs } from '../demo-state.ts';
import { feedWorld } from './feed-world.ts';
import { dueScanMs, livingWorldOf, nextScanMs } from './living-world.ts';
import { type SendPart, type IntakeAccess, sendToIntake } from './send-part.ts';
import { openNats } from '#platform/nats/connection.ts';
import type { Progress } from '#deploy/local/stack/progress.ts';
import type { Folders } from '#deploy/local/stack/settings.ts';
import type { DemoServers } from '../load-demo.ts';

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

/** Defers its stop. Returns sentences that say what happens next, and when. */
export const startPulse = async (
  { natsUrl, databaseUrl }: Pick<DemoServers, 'natsUrl' | 'databaseUrl'>,
  state: DemoState,
  pulseSeconds: number,
  /** Not called while the demo stands still. */
  openIntake: () => Promise<IntakeAccess>,
  { demoFile }: Pick<Folders, 'demoFile'>,
  resources: AsyncDisposableStack,
  progress: Progress,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  if (pulseSeconds === 0) return ['The demo stands still, because DEMO_PULSE_SECONDS is 0.'];
  const intake = await openIntake();
  const stopping = new AbortController();
  const nats = await openNats(natsUrl, 'demo');
  resources.use(nats);
  const database = openPool(databaseUrl, 1);
  resources.defer(() => database.end());
  const running = runPulse(
    {
      send: sendToIntake(nats, intake),
      database,
      clock: systemClock,
      state,
      stateFile: demoFile,
      pulseSeconds,
      report: progress.step,
    },
    AbortSignal.any([signal, stopping.signal]),
  );
  resources.defer(async () => {
    stopping.abort();
    await running;
  });
  const living = livingWorldOf(state, pulseSeconds);
  const nowMs = Date.now();
  const nextMs = nextScanMs(living, nowMs);
  const time = new Date(nextMs).toISOString().slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDThh:mm:ss'.length);
  return [
    'The demo goes on: ads start, change and end at the tracked brands.',
    `The next scan is at ${time} UTC, in ${durationText(nextMs - nowMs)}, and shows a launch. Scans come every ${durationText(living.scanEveryMs)}.`,
    `Without a request for ${RESTS_AFTER_MS / HOUR_MS} hours it rests.`,
  ];
};

const durationText = (ms: number): string => {
  const seconds = Math.ceil(ms / SECOND_MS);
  const minutes = Math.floor(seconds / 60);
  return [
    ...(minutes > 0 ? [`${minutes} min`] : []),
    ...(seconds % 60 > 0 || minutes === 0 ? [`${seconds % 60} s`] : []),
  ].join(' ');
};
