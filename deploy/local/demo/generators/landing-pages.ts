import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { PageType } from '#contracts/values/links/landing-pages.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { sampleAds } from './sampled-ads.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, World } from '../world/world.ts';

const SCRAPED_SHARE = 0.85;
const CLASSIFIED_SHARE = 0.9;
const GONE_SHARE = 0.04;
/** Share of pages to which the classifier assigns a wrong type. */
const MISTAKEN_SHARE = 0.05;
const CTAS = ['Add to cart', 'Shop now', 'Buy now', 'Get the offer', 'Take the quiz', 'Learn more'] as const;
const OTHER_TYPES = ['listicle', 'advertorial', 'article', 'bundle', 'lead_form'] as const;

export function* pages(world: World, firstDayMs: number): Generator<Observation> {
  for (const page of world.pageList) {
    const seen = new Set<string>();
    for (const { life, content, day } of sampleAds(world, page)) {
      const address = content.link_url === null ? null : landingPageOf(content.link_url);
      const brand = world.brandList[life.brand];
      if (address === null || brand === undefined || seen.has(address.landing_page_id)) continue;
      seen.add(address.landing_page_id);
      yield* visitsOf(world, brand, address.page_url, firstDayMs + day * DAY_MS);
    }
  }
}

/** Derives everything from the address, so that two ads with the same page agree. */
function* visitsOf(world: World, brand: DemoBrand, page_url: string, dayMs: number): Generator<Observation> {
  const random = new Random(world.seed, FOR.landingPage, brand.index, numberOf(page_url));
  if (!random.chance(SCRAPED_SHARE)) return;
  const isGone = random.chance(GONE_SHARE);
  const observedAt = (hours: number): string => new Date(dayMs + hours * HOUR_MS).toISOString();
  const type = typeOf(page_url);
  const heading = isGone ? 'Page not found' : headingOf(brand, page_url, type);
  yield {
    type: 'landing_page.scrape',
    page_url,
    observed_at: observedAt(8),
    http_status: isGone ? 404 : 200,
    canonical_url: page_url,
    title: `${heading} – ${brand.name}`,
    description: isGone ? null : `Synthetic demo page of ${brand.name}, a brand that is made up.`,
    language: brand.language,
    headings: isGone ? [heading] : [heading, `Why ${brand.name}`, 'What people ask'],
    cta_texts: isGone ? [] : [random.pick(CTAS)],
  };
  if (isGone || !random.chance(CLASSIFIED_SHARE)) return;
  yield {
    type: 'landing_page.classify',
    page_url,
    observed_at: observedAt(9),
    page_type: random.chance(MISTAKEN_SHARE) ? random.pick(OTHER_TYPES) : type,
    confidence: random.between(60, 99) / 100,
  };
}

const typeOf = (url: string): PageType => {
  const { pathname } = new URL(url);
  if (pathname.startsWith('/products/')) return 'product';
  if (pathname.startsWith('/collections/')) return 'collection';
  if (pathname.startsWith('/pages/quiz')) return 'quiz';
  return pathname.startsWith('/pages/offer') ? 'offer' : 'home';
};

const headingOf = (brand: DemoBrand, url: string, type: PageType): string => {
  const product = brand.categoryPath[2];
  const number = /-(\d+)$/.exec(url)?.[1];
  switch (type) {
    case 'product':
      return `${product} no. ${number ?? '1'}`;
    case 'collection':
      return `All ${product.toLowerCase()}`;
    case 'quiz':
      return `Which ${product.toLowerCase()} are for you?`;
    case 'offer':
      return `Offer ${number ?? '1'}`;
    default:
      return brand.name;
  }
};

const numberOf = (text: string): number => {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1)
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return hash;
};
