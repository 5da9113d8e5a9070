import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, DemoPage, World } from '../world/world.ts';

/** In days counted from the first day of the corpus. */
export type Life = {
  readonly ad: number;
  readonly brand: number;
  readonly started: number;
  /** Later than `started` for an ad that the library showed with a delay. */
  readonly visibleFrom: number;
  readonly stopped: number;
  /** False when the library drops the stopped ad instead of listing it as inactive. */
  readonly flagged: boolean;
  /** `null` for most ads. */
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
/** A stopped ad is listed long enough for a weekly scan. */
const LISTED_INACTIVE_DAYS = 8;

/**
 * Wave 0 is the corpus as sized. Later waves continue at the same rate, without ads from before the corpus. `null` when
 * the wave has no such ad.
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
  // Still runs on the first day, because an ad that had ended was never observed.
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

/** Some ads start on the launch day or in a sale. */
const startOf = ({ days }: World, brand: DemoBrand, random: Random, wave: number): number => {
  const kind = random.next();
  const anyDay = random.between(1, Math.max(1, days - 1));
  const sale = random.pick(brand.sales);
  const dayInSale = random.between(sale.from, sale.to);
  if (kind < BURST_SHARE) return wave * days + brand.burst;
  if (kind < BURST_SHARE + SALE_SHARE) return wave * days + dayInSale;
  return wave * days + anyDay;
};

/** Moves a start before the brand's first ad to soon after it. */
const afterLaunch = ({ seed, days }: World, { launch }: DemoBrand, ad: number, drawn: number): number => {
  if (launch === null || drawn >= launch) return drawn;
  return launch + new Random(seed, FOR.launch, launch, ad).below(Math.ceil((days - launch) / 2));
};

/** `null` when the library does not show the ad. */
export const shownOn = (life: Life, day: number): 'running' | 'inactive' | null => {
  if (day < life.visibleFrom) return null;
  if (day < life.stopped) return 'running';
  if (life.returns !== null && day >= life.returns.from) return day < life.returns.to ? 'running' : null;
  return life.flagged && day < life.stopped + LISTED_INACTIVE_DAYS ? 'inactive' : null;
};

export const isSaleAd = (world: World, life: Life): boolean => {
  const day = ((life.started % world.days) + world.days) % world.days;
  return (
    life.started >= 0 &&
    (world.brandList[life.brand]?.sales ?? []).some(({ from, to }) => day >= from && day <= to)
  );
};
