import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import type { DetectedTool, ObservedSplitTest, SplitTestType } from '#contracts/observations/site-scan.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, World } from '../world/world.ts';

const SCANS_FROM_MS = 5 * HOUR_MS;
/** Scans of a site start on the brand's first day. */
const DAYS_BETWEEN_SCANS = 24;
const SPLIT_TESTING_SHARE = 0.45;
const SPLIT_TESTING = 'A/B testing';

/** [category, share of sites with a tool, invented tools]. */
const CATEGORIES: readonly (readonly [string, number, readonly string[]])[] = [
  ['Ecommerce', 1, ['Cartwheel', 'Cartwheel', 'Cartwheel', 'Shopstead', 'Vendora']],
  ['Analytics', 0.95, ['Tallyho', 'Tallyho', 'Countinghouse']],
  ['Tag managers', 0.8, ['Tidy Tags']],
  ['Advertising pixels', 0.9, ['Blue Pixel']],
  ['Email marketing', 0.75, ['Pigeonpost', 'Pigeonpost', 'Inkwell Mail']],
  ['Live chat', 0.4, ['Hallo Chat', 'Parley']],
  ['Reviews', 0.6, ['Fivefold', 'Wordsworthy']],
  ['Payment', 0.7, ['Pebble Pay', 'Laterly']],
  ['Subscriptions', 0.25, ['Evermore']],
  ['Loyalty', 0.2, ['Punchcard']],
  ['Personalization', 0.15, ['Mirrorly']],
  ['Security', 0.5, ['Gatewarden']],
];
/** Each tool with whether its configuration can be read. */
const SPLIT_TESTERS = [
  { name: 'Arm & Leg', readable: true },
  { name: 'Forkroad', readable: true },
  { name: 'Coinflip', readable: true },
  { name: 'Splitwell', readable: false },
] as const;

const TYPES: readonly SplitTestType[] = [
  'content',
  'content',
  'layout',
  'offer',
  'price',
  'shipping',
  'redirect',
  'theme',
  'checkout',
  'personalization',
  'rollout',
];
const TEST_NAMES: Readonly<Record<SplitTestType, readonly string[]>> = {
  content: ['Hero film', 'Shorter headline', 'Reviews above the fold'],
  layout: ['Sticky add to cart', 'Two-column grid'],
  offer: ['Bundle box', 'Gift with purchase'],
  price: ['Price ladder', 'Rounder prices'],
  shipping: ['Free shipping bar', 'Delivery promise'],
  redirect: ['Landing page or product page'],
  theme: ['Quiet theme'],
  checkout: ['One-page checkout'],
  personalization: ['Returning visitors'],
  rollout: ['New cart drawer'],
  other: ['Test'],
};
const SPLITS = [
  [0.5, 0.5],
  [0.34, 0.33, 0.33],
  [0.8, 0.2],
] as const;

export function* sites(world: World, firstDayMs: number): Generator<Observation> {
  for (const brand of world.brandList) {
    for (let day = brand.offset; day < world.days; day += DAYS_BETWEEN_SCANS) {
      yield scanOf(world, brand, day, firstDayMs + day * DAY_MS);
    }
  }
}

export function* sitesOn(world: World, day: number, dayMs: number): Generator<Observation> {
  for (const brand of world.brandList) {
    if ((day - brand.offset) % DAYS_BETWEEN_SCANS === 0) yield scanOf(world, brand, day, dayMs);
  }
}

const slug = (name: string): string => name.toLowerCase().replace(/[^a-z]+/g, '-');

const toolNamed = (name: string, category: string): DetectedTool => ({
  slug: slug(name),
  name,
  category,
  website_url: `https://${slug(name)}.example/`,
});

/** One tool is added or removed during the corpus. */
const toolsOf = (world: World, brand: DemoBrand, day: number): readonly DetectedTool[] => {
  const random = new Random(world.seed, FOR.site, brand.index);
  const tools = CATEGORIES.flatMap(([category, share, names]) => {
    const name = random.pick(names);
    return random.chance(share) ? [toolNamed(name, category)] : [];
  });
  const change = random.between(1, tools.length - 1);
  const changesOn = random.below(2 * world.days);
  const comes = random.chance(0.6);
  return tools.filter((_, index) => index !== change || day >= changesOn === comes);
};

const testerOf = (world: World, brand: DemoBrand) => {
  const random = new Random(world.seed, FOR.site, brand.index, 1);
  return random.chance(SPLIT_TESTING_SHARE) ? random.pick(SPLIT_TESTERS) : null;
};

function scanOf(world: World, brand: DemoBrand, day: number, dayMs: number): Observation {
  const tester = testerOf(world, brand);
  const tool = tester && toolNamed(tester.name, SPLIT_TESTING);
  return {
    type: 'site.scan',
    domain: brand.domain,
    observed_at: new Date(dayMs + SCANS_FROM_MS).toISOString(),
    collector: 'demo-sites/1',
    complete: true,
    tools: [...toolsOf(world, brand, day), ...(tool ? [tool] : [])],
    split_test_tools: tool && tester ? [{ slug: tool.slug, readable: tester.readable }] : [],
    split_tests: tool && tester?.readable ? testsOf(world, brand, tool.slug, day) : [],
  };
}

/** A test ends some weeks after its start and stays visible in the tool. */
const testsOf = (world: World, brand: DemoBrand, tool: string, day: number): ObservedSplitTest[] => {
  const count = new Random(world.seed, FOR.site, brand.index, 2).below(6);
  return Array.from({ length: count }, (_, test): ObservedSplitTest | null => {
    const random = new Random(world.seed, FOR.site, brand.index, 3, test);
    const from = random.below(world.days) - 20;
    const until = from + random.between(14, 50);
    if (day < from) return null;
    const type = random.pick(TYPES);
    const product = slug(brand.categoryPath[2]);
    const path = random.pick([
      `/products/${product}-${random.between(1, 12)}`,
      `/collections/${product}`,
      '/',
    ]);
    const split = random.pick(SPLITS);
    return {
      tool,
      test_id: `${brand.index}-${test + 1}`,
      name: random.pick(TEST_NAMES[type]),
      type,
      state: day >= until ? 'ended' : random.chance(0.15) ? 'paused' : 'running',
      state_basis: day >= until ? 'dates' : 'configuration',
      arms: split.map((allocation, arm) => ({ name: arm === 0 ? 'Control' : `Variant ${arm}`, allocation })),
      pages: [{ url: `https://${brand.domain}${path}`, match: random.chance(0.7) ? 'exact' : 'prefix' }],
    };
  }).filter((test) => test !== null);
};
