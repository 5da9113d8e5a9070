import { z } from 'zod';
import { openNats } from '#platform/nats/connection.ts';
import { readJsonFile, writeJsonFile } from '../os/json-file.ts';
import type { Progress } from '../stack/progress.ts';
import { untilProjected } from './wait-until-projected.ts';
import { demoObservations } from './generators/scans.ts';
import { feedObservations } from './publish-observations.ts';
import type { CorpusSize } from './world/world.ts';

const DAY_MS = 86_400_000;
const SAVE_EVERY_MS = 1_000;

/** How far the corpus of a data folder has been fed. Its size and first day stay as they were when it began. */
const DemoState = z.object({
  seed: z.int(),
  brands: z.int(),
  ads: z.int(),
  days: z.int(),
  until: z.iso.date(),
  /** The day after the last one that was fed whole; `null` while the first feed goes on. */
  fed_until: z.iso.date().nullable(),
  /** The first so many observations are recorded. */
  taken: z.int(),
});
type DemoState = z.infer<typeof DemoState>;

export type DemoServers = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly natsUrl: string;
};

/**
 * Feeds the demo corpus through NATS and ingest, as any collector would, and waits until every read model shows
 * it. A feed that was broken off goes on where it stopped; one of an earlier day goes on to yesterday. Answers
 * the size of what is there.
 */
export const loadDemo = async (
  servers: DemoServers,
  size: CorpusSize,
  stateFile: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<CorpusSize> => {
  const today = new Date().toISOString().slice(0, 10);
  const known = await readJsonFile(stateFile, DemoState);
  const state: DemoState = known ?? { ...size, until: today, fed_until: null, taken: 0 };
  const kept: CorpusSize = { seed: state.seed, brands: state.brands, ads: state.ads, days: state.days };
  if (
    known !== null &&
    JSON.stringify(kept) !==
      JSON.stringify({ seed: size.seed, brands: size.brands, ads: size.ads, days: size.days })
  ) {
    progress.step(
      `demo corpus: keeping the one that is here (${kept.brands} brands, ${kept.ads} ads, ${kept.days} days, ` +
        `seed ${kept.seed}); "npm run reset" makes room for another`,
    );
  }
  if (state.fed_until !== null && state.fed_until >= today) {
    progress.step('demo corpus: already here');
  } else {
    await feed(servers, state, today, stateFile, progress, signal);
  }
  await untilProjected(servers.databaseUrl, servers.eventStoreUrl, signal, (share) =>
    progress.update(`read models: ${Math.floor(100 * share)} %`),
  );
  progress.step('read models: caught up with the log');
  return kept;
};

const feed = async (
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
      (state.taken > 0 ? ', going on where it stopped' : ''),
  );
  await using nats = await openNats(natsUrl, 'demo');
  const firstDayMs = Date.parse(state.until) - state.days * DAY_MS;
  let savedMs = Date.now();
  const observations = demoObservations({ ...state, extraDays });
  const { taken } = await feedObservations(nats, observations, state.taken, signal, async (fed) => {
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
