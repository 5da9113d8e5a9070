import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import type { Progress } from '../stack/progress.ts';
import { type DemoState, fedToMs, readDemoState, sizeOf, writeDemoState } from './demo-state.ts';
import { demoObservations } from './generators/scans.ts';
import { feedWorld } from './living/feed-world.ts';
import { dueScanMs, livingWorldOf, withOpening } from './living/living-world.ts';
import { sendToQueue } from './living/send-part.ts';
import { publishObservations } from './publish-observations.ts';
import { waitUntilProjected } from './wait-until-projected.ts';
import type { CorpusSize } from './world/world.ts';

const SAVE_EVERY_MS = 1_000;

export type DemoServers = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly natsUrl: string;
};

/**
 * Loads through NATS and ingest and waits for every read model. An interrupted load resumes; an earlier one continues
 * to the present with a pulse, else to the last midnight (UTC).
 */
export const loadDemo = async (
  servers: DemoServers,
  size: CorpusSize,
  /** Between two starts of ads; 0 without them. */
  pulseSeconds: number,
  /** True with a media server. A loaded corpus stays as it is. */
  pictures: boolean,
  stateFile: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<DemoState> => {
  const today = utcDate(new Date().toISOString());
  const stored = await readDemoState(stateFile);
  const state: DemoState = stored ?? {
    ...sizeOf(size),
    until: today,
    fed_until: null,
    taken: 0,
    pictures,
  };
  if (JSON.stringify(sizeOf(state)) !== JSON.stringify(sizeOf(size))) {
    progress.step(
      `demo corpus: keeping the loaded one (${state.brands} brands, ${state.ads} ads, ${state.days} days, ` +
        `seed ${state.seed}); run "npm run reset" first to load another`,
    );
  }
  await using nats = await openNats(servers.natsUrl, 'demo');
  if (state.fed_until !== null) progress.step('demo corpus: already loaded');
  const loaded = state.fed_until === null ? await publish(nats, state, stateFile, progress, signal) : state;
  const fed = await fillMissed(nats, loaded, pulseSeconds, stateFile, progress, signal);
  await waitUntilProjected(servers.databaseUrl, servers.eventStoreUrl, signal, (share) =>
    progress.update(`read models: ${Math.floor(100 * share)} %`),
  );
  progress.step('read models: caught up with the log');
  return fed;
};

const publish = async (
  nats: Nats,
  state: DemoState,
  stateFile: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<DemoState> => {
  const { days, until } = state;
  progress.step(
    `demo corpus: ${state.brands} synthetic brands, about ${state.ads} ads, ${days} days of scans` +
      (state.taken > 0 ? ', resuming where it stopped' : ''),
  );
  const firstDayMs = Date.parse(until) - days * DAY_MS;
  let savedMs = Date.now();
  const observations = demoObservations(state);
  const { taken } = await publishObservations(nats, observations, state.taken, signal, async (fed) => {
    const day = Math.min(days, Math.floor((Date.parse(fed.at) - firstDayMs) / DAY_MS) + 1);
    progress.update(
      `demo corpus: day ${day} of ${days}, ${fed.taken} of ${fed.published} observations recorded`,
    );
    if (Date.now() - savedMs < SAVE_EVERY_MS) return;
    savedMs = Date.now();
    await writeDemoState(stateFile, { ...state, taken: fed.taken });
  });
  const loaded = { ...state, taken, fed_until: until };
  await writeDemoState(stateFile, loaded);
  progress.step(`demo corpus: ${taken} observations recorded`);
  return loaded;
};

const fillMissed = async (
  nats: Nats,
  loaded: DemoState,
  pulseSeconds: number,
  stateFile: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<DemoState> => {
  const nowMs = Date.now();
  const state = withOpening(loaded, pulseSeconds, nowMs);
  // Stored first: a repeated scan must have the ads of the same pulse.
  await writeDemoState(stateFile, state);
  const living = livingWorldOf(state, pulseSeconds);
  const isLiving = pulseSeconds > 0;
  const toMs = isLiving ? dueScanMs(living, nowMs) : Math.floor(nowMs / DAY_MS) * DAY_MS;
  const fromMs = fedToMs(state, isLiving);
  if (fromMs >= toMs) return state;
  const fed = await feedWorld(sendToQueue(nats), living, state, stateFile, toMs, signal, (fedMs) =>
    progress.update(`demo: filling missed time, up to ${new Date(fedMs).toISOString()}`),
  );
  progress.step(`demo: filled from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`);
  return fed;
};
