import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import { z } from 'zod';
import { openNats } from '#platform/nats/connection.ts';
import { readJsonFile, writeJsonFile } from '../os/json-file.ts';
import type { Progress } from '../stack/progress.ts';
import { waitUntilProjected } from './wait-until-projected.ts';
import { demoObservations } from './generators/scans.ts';
import { publishObservations } from './publish-observations.ts';
import type { CorpusSize } from './world/world.ts';

const SAVE_EVERY_MS = 1_000;

/**
 * Progress of loading the demo corpus, stored in the data folder. Size and first day keep the values of the first
 * load.
 */
const DemoState = z.object({
  seed: z.int(),
  brands: z.int(),
  ads: z.int(),
  days: z.int(),
  until: z.iso.date(),
  /** The day after the last one loaded completely; `null` during the first load. */
  fed_until: z.iso.date().nullable(),
  /** Number of observations recorded so far, counted from the start of the corpus. */
  taken: z.int(),
});
type DemoState = z.infer<typeof DemoState>;

export type DemoServers = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly natsUrl: string;
};

/**
 * Loads the demo corpus through NATS and ingest, like any collector, and waits until every read model has caught
 * up. An interrupted load resumes; one from an earlier day is extended to yesterday. Returns the size of the loaded
 * corpus.
 */
export const loadDemo = async (
  servers: DemoServers,
  size: CorpusSize,
  stateFile: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<CorpusSize> => {
  const today = utcDate(new Date().toISOString());
  const stored = await readJsonFile(stateFile, DemoState);
  const state: DemoState = stored ?? { ...size, until: today, fed_until: null, taken: 0 };
  const loaded: CorpusSize = { seed: state.seed, brands: state.brands, ads: state.ads, days: state.days };
  if (
    stored !== null &&
    JSON.stringify(loaded) !==
      JSON.stringify({ seed: size.seed, brands: size.brands, ads: size.ads, days: size.days })
  ) {
    progress.step(
      `demo corpus: keeping the loaded one (${loaded.brands} brands, ${loaded.ads} ads, ${loaded.days} days, ` +
        `seed ${loaded.seed}); run "npm run reset" first to load another`,
    );
  }
  if (state.fed_until !== null && state.fed_until >= today) {
    progress.step('demo corpus: already loaded');
  } else {
    await publish(servers, state, today, stateFile, progress, signal);
  }
  await waitUntilProjected(servers.databaseUrl, servers.eventStoreUrl, signal, (share) =>
    progress.update(`read models: ${Math.floor(100 * share)} %`),
  );
  progress.step('read models: caught up with the log');
  return loaded;
};

const publish = async (
  { natsUrl }: DemoServers,
  state: DemoState,
  today: string,
  stateFile: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  const extraDays = Math.round((Date.parse(today) - Date.parse(state.until)) / DAY_MS);
  const days = state.days + extraDays;
  progress.step(
    `demo corpus: ${state.brands} synthetic brands, about ${state.ads} ads, ${days} days of scans` +
      (state.taken > 0 ? ', resuming where it stopped' : ''),
  );
  await using nats = await openNats(natsUrl, 'demo');
  const firstDayMs = Date.parse(state.until) - state.days * DAY_MS;
  let savedMs = Date.now();
  const observations = demoObservations({ ...state, extraDays });
  const { taken } = await publishObservations(nats, observations, state.taken, signal, async (fed) => {
    const day = Math.min(days, Math.floor((Date.parse(fed.at) - firstDayMs) / DAY_MS) + 1);
    progress.update(
      `demo corpus: day ${day} of ${days}, ${fed.taken} of ${fed.published} observations recorded`,
    );
    if (Date.now() - savedMs < SAVE_EVERY_MS) return;
    savedMs = Date.now();
    await writeJsonFile(stateFile, { ...state, taken: fed.taken } satisfies DemoState);
  });
  await writeJsonFile(stateFile, { ...state, taken, fed_until: today } satisfies DemoState);
  progress.step(`demo corpus: ${taken} observations recorded`);
};
