import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, DemoPage, World } from '../world/world.ts';

/** What happens to one ad, and when; in days counted from the corpus's first day. */
export type Life = {
  readonly ad: number;
  /** The brand it is for: one of those of its page. */
  readonly brand: number;
  readonly started: number;
  /** Later than `started` for an ad that the library showed late. */
  readonly visibleFrom: number;
  readonly stopped: number;
  /** Whether the library goes on listing the stopped ad, as inactive, or just drops it. */
  readonly flagged: boolean;
  /** It runs again in these days; `null` for most. */
  readonly returns: { readonly from: number; readonly to: number } | null;
  readonly linkChanges: number | null;
  readonly copyChanges: number | null;
};

const BASELINE_SHARE = 0.35;
const BURST_SHARE = 0.12;
const SALE_SHARE = 0.12;
const LATE_SHARE = 0.03;
const FLAGGED_SHARE = 0.5;
const RETURN_SHARE = 0.05;
const LINK_CHANGE_SHARE = 0.07;
const COPY_CHANGE_SHARE = 0.06;
const LONGEST_BEFORE_DAYS = 200;
const MEAN_RUN_DAYS = 18;
const SHORTEST_RUN_DAYS = 2;
/** How long a stopped ad stays listed as inactive: a weekly scan still meets it. */
const LISTED_INACTIVE_DAYS = 8;

/**
 * The life of the ad at place `nth` of a page. `wave` 0 is the corpus as it was sized; later waves go on at the
 * same rate for as long as days are added, and have no ads from before. `null` where a wave has no such ad.
 */
export const lifeOf = (world: World, page: DemoPage, nth: number, wave: number): Life | null => {
  const ad = wave * world.ads + page.firstAd + nth;
  const random = new Random(world.seed, FOR.life, ad);
  const brandIndex = random.pick(page.brands);
  const brand = world.brandList[brandIndex];
  if (brand === undefined) return null;
  const isBaseline = random.chance(BASELINE_SHARE);
  if (isBaseline && wave > 0) return null;
  const drawn = isBaseline
    ? -Math.floor(LONGEST_BEFORE_DAYS * random.next() ** 2)
    : startOf(world, brand, random, wave);
  const started = afterLaunch(world, brand, ad, drawn);
  const run = SHORTEST_RUN_DAYS + Math.floor(-Math.log(1 - random.next()) * MEAN_RUN_DAYS);
  const visibleFrom = random.chance(LATE_SHARE) ? started + random.between(5, 12) : started;
  // What ran before the first day still runs on it: nobody observed the others.
  const stopped = Math.max(visibleFrom, 0) + run;
  const returnsFrom = stopped + random.between(LISTED_INACTIVE_DAYS + 4, LISTED_INACTIVE_DAYS + 14);
  const changeDay = (): number => Math.max(visibleFrom, 0) + random.between(1, run);
  return {
    ad,
    brand: brandIndex,
    started,
    visibleFrom,
    stopped,
    flagged: random.chance(FLAGGED_SHARE),
    returns: random.chance(RETURN_SHARE) ? { from: returnsFrom, to: returnsFrom + run } : null,
    linkChanges: random.chance(LINK_CHANGE_SHARE) ? changeDay() : null,
    copyChanges: random.chance(COPY_CHANGE_SHARE) ? changeDay() : null,
  };
};

/** Most start on any day; some on the brand's launch day, some in its sales. */
const startOf = ({ days }: World, brand: DemoBrand, random: Random, wave: number): number => {
  const kind = random.next();
  const anyDay = random.between(1, Math.max(1, days - 1));
  const sale = random.pick(brand.sales);
  const dayInSale = random.between(sale.from, sale.to);
  if (kind < BURST_SHARE) return wave * days + brand.burst;
  if (kind < BURST_SHARE + SALE_SHARE) return wave * days + dayInSale;
  return wave * days + anyDay;
};

/** No ad of a brand starts before its first one: those that were drawn to come soon after it. */
const afterLaunch = ({ seed, days }: World, { launch }: DemoBrand, ad: number, drawn: number): number => {
  if (launch === null || drawn >= launch) return drawn;
  return launch + new Random(seed, FOR.launch, launch, ad).below(Math.ceil((days - launch) / 2));
};

/** Whether a complete scan of that day shows the ad as running, as inactive, or not at all. */
export const shownOn = (life: Life, day: number): 'running' | 'inactive' | null => {
  if (day < life.visibleFrom) return null;
  if (day < life.stopped) return 'running';
  if (life.returns !== null && day >= life.returns.from) return day < life.returns.to ? 'running' : null;
  return life.flagged && day < life.stopped + LISTED_INACTIVE_DAYS ? 'inactive' : null;
};

/** Whether the ad was started for a sale of its brand, in any wave. */
export const isSaleAd = (world: World, life: Life): boolean => {
  const day = ((life.started % world.days) + world.days) % world.days;
  return (
    life.started >= 0 &&
    (world.brandList[life.brand]?.sales ?? []).some(({ from, to }) => day >= from && day <= to)
  );
};
