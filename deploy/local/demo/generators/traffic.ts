import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import { CATEGORY_PATHS } from './categories.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, World } from '../world/world.ts';

/** Complete months before the end of the corpus. */
const MONTHS = 6;
/** Visits then stay, so that figures are plausible in a demo that runs for years. */
const GROWING_MONTHS_MAX = 24;
const ESTIMATED_AFTER_MS = 2 * DAY_MS;
const SIMILAR_BRANDS_MAX = 10;
const STRANGERS = 3;
const VISITS_MIN = 4_000;
/** Visits of the most visited brand per visit of the least visited. */
const VISITS_SPREAD = 1_500;
const OTHER_COUNTRIES = ['US', 'CA', 'GB', 'AU', 'DE', 'FR'] as const;
/** The estimates of one month arrive within this time. */
const ARRIVAL_MS = HOUR_MS;
const PROVIDER = 'demo-estimates/1';

/** Weights of the six age groups, youngest first, per kind of audience. */
const CROWDS = [
  [40, 30, 14, 8, 5, 3],
  [14, 34, 26, 14, 8, 4],
  [8, 18, 28, 24, 14, 8],
  [5, 11, 18, 26, 24, 16],
] as const;
const AGE_GROUPS = ['age_18_24', 'age_25_34', 'age_35_44', 'age_45_54', 'age_55_64', 'age_65_plus'] as const;

export function* traffic(world: World, firstDayMs: number): Generator<Observation> {
  yield* definitions(firstDayMs);
  const neighbours = neighboursOf(world);
  for (const brand of world.brandList) yield* estimatesOf(world, brand, neighbours, firstDayMs);
}

function* definitions(firstDayMs: number): Generator<Observation> {
  const defined = new Set<string>();
  for (const path of CATEGORY_PATHS) {
    for (const [index, name] of path.entries()) {
      const above = path.slice(0, index + 1);
      if (defined.has(above.join('>'))) continue;
      defined.add(above.join('>'));
      yield {
        type: 'category.define',
        observed_at: new Date(firstDayMs).toISOString(),
        path: above,
        level: index + 1,
        taxonomy: 'demo-taxonomy',
        taxonomy_id: String(defined.size),
        description: `Synthetic demo category. Brands here are made up and sell ${name.toLowerCase()}.`,
      };
    }
  }
}

const trunkOf = (brand: DemoBrand): string => brand.categoryPath.slice(0, 2).join('>');

const neighboursOf = (world: World): ReadonlyMap<string, readonly DemoBrand[]> => {
  const byTrunk = new Map<string, DemoBrand[]>();
  for (const brand of world.brandList) {
    const trunk = trunkOf(brand);
    byTrunk.set(trunk, [...(byTrunk.get(trunk) ?? []), brand].slice(0, 4 * SIMILAR_BRANDS_MAX));
  }
  return byTrunk;
};

/** `random` continues with the months of the corpus. */
const siteOf = (world: World, brand: DemoBrand, neighbours: ReadonlyMap<string, readonly DemoBrand[]>) => {
  const random = new Random(world.seed, FOR.traffic, brand.index);
  const base = VISITS_MIN * VISITS_SPREAD ** (random.next() ** 1.5);
  const growth = 0.94 + 0.14 * random.next();
  const about = {
    provider_category: `Shopping/${brand.categoryPath[1]}`,
    countries: countriesOf(random, brand),
    demographics: demographicsOf(random),
    similar_sites: similarTo(random, brand, [
      ...(neighbours.get(trunkOf(brand)) ?? []),
      ...strangersTo(world, brand),
    ]),
  };
  const delayMs = Math.floor((ARRIVAL_MS * brand.index) / world.brands);
  return { brand, random, base, growth, about, delayMs };
};

const estimateOf = (
  { brand, about }: ReturnType<typeof siteOf>,
  month: {
    readonly startMs: number;
    readonly visits: number;
    readonly atMs: number;
    readonly isNewest: boolean;
  },
): Observation => ({
  type: 'traffic.estimate',
  domain: brand.domain,
  observed_at: new Date(month.atMs).toISOString(),
  period: new Date(month.startMs).toISOString().slice(0, 'YYYY-MM'.length),
  provider: PROVIDER,
  monthly_visits: month.visits,
  global_rank: 1 + Math.floor(40_000_000_000 / (month.visits + 1)),
  category_rank: 1 + Math.floor(60_000_000 / (month.visits + 1)),
  provider_category: null,
  countries: null,
  demographics: null,
  similar_sites: null,
  ...(month.isNewest ? about : {}),
});

function* estimatesOf(
  world: World,
  brand: DemoBrand,
  neighbours: ReadonlyMap<string, readonly DemoBrand[]>,
  firstDayMs: number,
): Generator<Observation> {
  const site = siteOf(world, brand, neighbours);
  const untilMs = firstDayMs + world.days * DAY_MS;
  for (let back = MONTHS; back >= 1; back -= 1) {
    yield estimateOf(site, {
      startMs: monthMs(untilMs, -back),
      visits: Math.round(site.base * site.growth ** -back * (0.92 + 0.16 * site.random.next())),
      atMs: arrivalOf(firstDayMs, untilMs, back) + site.delayMs,
      isNewest: back === 1,
    });
  }
}

/** After `fromMs`, up to and including `toMs`, from the month in which the corpus ended. */
export function* trafficBetween(
  world: World,
  firstDayMs: number,
  fromMs: number,
  toMs: number,
): Generator<Observation> {
  const untilMs = firstDayMs + world.days * DAY_MS;
  for (let month = 0; monthMs(untilMs, month + 1) + ESTIMATED_AFTER_MS <= toMs; month += 1) {
    const arrivalMs = monthMs(untilMs, month + 1) + ESTIMATED_AFTER_MS;
    if (arrivalMs + ARRIVAL_MS <= fromMs) continue;
    const neighbours = neighboursOf(world);
    for (const brand of world.brandList) {
      const site = siteOf(world, brand, neighbours);
      const atMs = arrivalMs + site.delayMs;
      if (atMs <= fromMs || atMs > toMs) continue;
      const random = new Random(world.seed, FOR.traffic, brand.index, 1, month);
      const grown = site.growth ** Math.min(month, GROWING_MONTHS_MAX);
      yield estimateOf(site, {
        startMs: monthMs(untilMs, month),
        visits: Math.round(site.base * grown * (0.92 + 0.16 * random.next())),
        atMs,
        isNewest: true,
      });
    }
  }
}

const monthMs = (ms: number, months: number): number => {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
};

/** Some days after the month, but within the corpus. Earlier months arrive on its first day. */
const arrivalOf = (firstDayMs: number, untilMs: number, back: number): number =>
  Math.max(firstDayMs, Math.min(monthMs(untilMs, 1 - back) + ESTIMATED_AFTER_MS, untilMs - DAY_MS));

const hundredths = (share: number): number => Math.floor(share * 100) / 100;

const countriesOf = (random: Random, brand: DemoBrand): TrafficEstimate['countries'] => {
  const home = hundredths(0.45 + 0.4 * random.next());
  const others = OTHER_COUNTRIES.filter((country) => country !== brand.country).slice(
    0,
    random.between(2, 4),
  );
  let left = 1 - home;
  return [
    { country: brand.country, share: home },
    ...others.map((country) => {
      const share = hundredths(left * (0.3 + 0.3 * random.next()));
      left -= share;
      return { country, share };
    }),
  ];
};

const demographicsOf = (random: Random): NonNullable<TrafficEstimate['demographics']> => {
  const female = hundredths(0.2 + 0.6 * random.next());
  const weights = random.pick(CROWDS).map((weight) => weight * (0.7 + 0.6 * random.next()));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const ages = Object.fromEntries(
    AGE_GROUPS.map((group, index) => [group, hundredths((weights[index] ?? 0) / sum)]),
  ) as Readonly<Record<(typeof AGE_GROUPS)[number], number>>;
  return { female, male: hundredths(1 - female), ...ages };
};

/** Brands of any category, so that each brand of a small corpus has similar ones. */
const strangersTo = (world: World, { index }: DemoBrand): readonly DemoBrand[] =>
  Array.from(
    { length: STRANGERS },
    (_, step) => world.brandList[(index + step + 1) % world.brands] as DemoBrand,
  );

/** Brands of the same middle category come first, then one site that is not a brand here. */
const similarTo = (
  random: Random,
  brand: DemoBrand,
  neighbours: readonly DemoBrand[],
): NonNullable<TrafficEstimate['similar_sites']> => {
  const others = neighbours.filter(({ index }) => index !== brand.index).map(({ domain }) => domain);
  const domains = [...new Set(others)].slice(0, SIMILAR_BRANDS_MAX);
  const elsewhere = `${brand.categoryPath[1].toLowerCase().replaceAll(/[^a-z]+/g, '-')}-review.example`;
  let affinity = 0.95;
  return [...domains, elsewhere].map((domain) => {
    affinity = hundredths(affinity * (0.8 + 0.18 * random.next()));
    return { domain, affinity, provider_category: `Shopping/${brand.categoryPath[1]}` };
  });
};
