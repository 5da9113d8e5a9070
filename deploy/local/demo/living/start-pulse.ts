import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';
import { systemClock } from '#platform/clock.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openPool } from '#platform/postgres/pool.ts';
import type { Progress } from '../../stack/progress.ts';
import type { Folders } from '../../stack/settings.ts';
import type { DemoState } from '../demo-state.ts';
import type { DemoServers } from '../load-demo.ts';
import { livingWorldOf, nextScanMs } from './living-world.ts';
import { RESTS_AFTER_MS, runPulse } from './run-pulse.ts';
import { type IntakeAccess, sendToIntake } from './send-part.ts';

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
