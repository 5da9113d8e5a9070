import { HOUR_MS } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import type { SocialPageProfile } from '#contracts/observations/social-page-profile.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, DemoPage, World } from '../world/world.ts';

/** The first two to four brands of each run of this length belong to one company. */
const BRANDS_PER_OPERATOR = 8;
const OPERATOR_BRANDS_MAX = 4;
const DISAGREEING_SHARE = 0.3;
const QUARANTINED_SHARE = 0.15;
/** Above the ids of pages that run ads. */
const FIRST_DOUBTFUL_PAGE = 190_000_000_000_000;

const PAGE_CATEGORIES = ['Clothing store', 'Product/service', 'Health/beauty', 'Home decor'] as const;

export function* operators(world: World, firstDayMs: number): Generator<Observation> {
  const observed_at = new Date(firstDayMs + 2 * HOUR_MS).toISOString();
  for (const page of world.pageList) yield* profilesOf(world, page, observed_at);
  for (const brand of world.brandList) yield* doubtsOf(world, brand, observed_at);
  for (let first = 0; first < world.brands; first += BRANDS_PER_OPERATOR) {
    yield* recordsOf(world, first, observed_at);
  }
}

function* profilesOf(world: World, page: DemoPage, observed_at: string): Generator<Observation> {
  const random = new Random(world.seed, FOR.operator, page.index);
  const isCreator = page.role === 'CREATOR';
  const followers = Math.floor(500 * 10 ** (4 * random.next()));
  const profile: SocialPageProfile = {
    type: 'social_page.profile',
    page_id: page.id,
    observed_at,
    source: 'demo-library',
    page_name: page.name,
    username: page.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, ''),
    category: isCreator ? 'Digital creator' : random.pick(PAGE_CATEGORIES),
    verified: random.chance(0.4),
    followers,
    likes: Math.floor(followers * (0.8 + 0.2 * random.next())),
  };
  yield profile;
  if (!random.chance(DISAGREEING_SHARE)) return;
  yield {
    ...profile,
    source: 'demo-page',
    username: null,
    verified: null,
    followers: followers + random.between(1, 300),
    likes: null,
  };
}

function* doubtsOf(world: World, brand: DemoBrand, observed_at: string): Generator<Observation> {
  const random = new Random(world.seed, FOR.operator, brand.index, 1);
  if (!random.chance(QUARANTINED_SHARE)) return;
  yield {
    type: 'social_page.link',
    brand_domain: brand.domain,
    page_id: String(FIRST_DOUBTFUL_PAGE + brand.index),
    page_name: `${brand.name} Fans`,
    observed_at,
    role: 'OWNER',
    confidence: 0.3,
    linked: true,
    quarantined: true,
  };
}

function* recordsOf(world: World, first: number, observed_at: string): Generator<Observation> {
  const random = new Random(world.seed, FOR.operator, first, 2);
  const brands = world.brandList.slice(first, first + random.between(2, OPERATOR_BRANDS_MAX));
  const [leading] = brands;
  if (leading === undefined || brands.length < 2) return;
  const record = {
    type: 'operator.record',
    observed_at,
    name: `${leading.name} Holdings`,
    country: leading.country,
  } as const;
  const domains = brands.map(({ domain }) => domain);
  yield { ...record, basis: 'site_imprint', domains, page_ids: [] };
  yield { ...record, basis: 'company_register', domains: domains.slice(0, 2), page_ids: [] };
  const pages = brands.flatMap(({ pages: [official] }) => (official === undefined ? [] : [official]));
  const page_ids = pages.flatMap((index) => world.pageList[index]?.id ?? []);
  yield { ...record, basis: 'page_transparency', domains: [], page_ids };
}
