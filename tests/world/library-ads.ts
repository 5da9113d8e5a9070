import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { adIdOf, contentOn } from '#deploy/local/demo/generators/ad-content.ts';
import { type Life, lifeOf } from '#deploy/local/demo/generators/ad-lifecycle.ts';
import { FOR, Random } from '#deploy/local/demo/world/seeded-random.ts';
import type { DemoPage, World } from '#deploy/local/demo/world/world.ts';
import type { WorldAd } from './archive-world.ts';

/** Share of ads that are delivered in the European Union or the United Kingdom too. Others are not in the library. */
const EUROPEAN_SHARE = 0.8;
const EUROPEAN = ['DE', 'FR', 'GB', 'IT', 'ES', 'NL'] as const;
const DAY_SECONDS = DAY_MS / 1_000;

export type PlacedWorld = {
  readonly world: World;
  /** Midnight (UTC) of the first day of the corpus, in milliseconds. */
  readonly firstDayMs: number;
};

export const dayAt = ({ firstDayMs }: PlacedWorld, timeMs: number): number =>
  Math.floor((timeMs - firstDayMs) / DAY_MS);

const countriesOf = ({ world }: PlacedWorld, ad: number): readonly string[] => {
  const random = new Random(world.seed, FOR.library, ad);
  if (!random.chance(EUROPEAN_SHARE)) return ['US'];
  return ['US', random.pick(EUROPEAN)];
};

/** Days of the world; `until` is the first day without delivery. */
type Run = { readonly from: number; readonly until: number };

/** Returns the last period that began by that day; `null` before the first. */
const runOn = (life: Life, day: number): Run | null => {
  if (day < life.visibleFrom) return null;
  if (life.returns === null || day < life.returns.from)
    return { from: life.visibleFrom, until: life.stopped };
  return { from: life.returns.from, until: life.returns.to };
};

/** `null` before the library shows the ad. It keeps ended ads for a year, with the texts of their last day. */
export const libraryAdOn = (
  placed: PlacedWorld,
  page: DemoPage,
  life: Life,
  day: number,
): (WorldAd & { readonly isRunning: boolean }) | null => {
  const { world, firstDayMs } = placed;
  const run = runOn(life, day);
  if (run === null) return null;
  const isRunning = day < run.until;
  const content = contentOn(world, page, life, Math.min(day, run.until - 1), 'demo-api/1');
  const dateOf = (of: number): string => utcDateOfMs(firstDayMs + of * DAY_MS);
  const secondOfDay = new Random(world.seed, FOR.library, life.ad, 1).below(DAY_SECONDS);
  return {
    isRunning,
    id: adIdOf(world.seed, life.ad),
    pageId: page.id,
    pageName: page.name,
    createdSeconds: firstDayMs / 1_000 + life.started * DAY_SECONDS + secondOfDay,
    startedOn: dateOf(life.started),
    stoppedOn: isRunning ? null : dateOf(run.until - 1),
    bodies: content.body === null ? [] : [content.body],
    titles: content.title === null ? [] : [content.title],
    caption: content.caption ?? '',
    countries: countriesOf(placed, life.ad),
  };
};

/** Yields also ads that have ended. */
export function* libraryAdsAt(
  placed: PlacedWorld,
  page: DemoPage,
  timeMs: number,
): Generator<WorldAd & { readonly isRunning: boolean }> {
  const { world } = placed;
  const day = dayAt(placed, timeMs);
  const waves = Math.max(0, Math.floor(day / world.days));
  for (let wave = 0; wave <= waves; wave += 1) {
    for (let nth = 0; nth < page.ads; nth += 1) {
      const life = lifeOf(world, page, nth, wave);
      const ad = life === null ? null : libraryAdOn(placed, page, life, day);
      if (ad !== null) yield ad;
    }
  }
}
