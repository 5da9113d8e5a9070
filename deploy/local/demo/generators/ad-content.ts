import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import { isSaleAd, type Life } from './ad-lifecycle.ts';
import {
  APP_CTA,
  CTAS,
  composeCopy,
  DESCRIPTIONS,
  type Language,
  reviseCopy,
  type Voice,
} from '../world/phrases.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, DemoPage, World } from '../world/world.ts';
import { type Concept, datedAddress, undatedAddress } from '../pictures/media-addresses.ts';

export type Collector = 'demo-web/1' | 'demo-web/2' | 'demo-api/1';

const ADS_PER_CONCEPT = 3;
const APP_LINK_SHARE = 0.4;
/** Higher than the ten-digit ids that the app store has assigned. */
const FIRST_APP_ID = 9_900_000_000;
/** Each format with the upper bound of its cumulative share. */
const FORMATS: readonly (readonly [AdFormat, number])[] = [
  ['video', 0.4],
  ['image', 0.76],
  ['carousel', 0.9],
  ['dco', 0.98],
  ['other', 1],
];

type Content = Omit<
  ObservedAd,
  'ad_id' | 'page_id' | 'page_name' | 'is_active' | 'started_on' | 'stopped_on'
>;

/** 15 to 17 digits. Ids are unique, and ascend with the ad number within each length. */
export const adIdOf = (seed: number, ad: number): string => {
  const random = new Random(seed, FOR.link, ad, 1);
  const core = String(120_000_000_000_000 + ad * 7_919 + random.below(7_919));
  return core + String(random.below(100)).padStart(2, '0').slice(0, random.below(3));
};

export const conceptsOf = (page: DemoPage): number => Math.max(1, Math.ceil(page.ads / ADS_PER_CONCEPT));

export const contentOn = (
  world: World,
  page: DemoPage,
  life: Life,
  day: number,
  collector: Collector,
): Content => {
  const brand = world.brandList[life.brand] as DemoBrand;
  const concept = new Random(world.seed, FOR.copy, life.ad).below(conceptsOf(page));
  const random = new Random(world.seed, FOR.concept, page.index, concept, life.brand);
  const voice = voiceOf(world, page, life);
  const language: Language = random.chance(0.15) ? brand.language : 'en';
  const roll = random.next();
  const format = FORMATS.find(([, limit]) => roll < limit)?.[0] ?? 'other';
  const isApp = brand.hasApp && random.chance(APP_LINK_SHARE);
  const cta = isApp ? APP_CTA : random.pick(CTAS);
  const slots = slotsOf(brand, random);
  const copy = composeCopy(random, voice, language, slots);
  const revised = life.copyChanges !== null && day >= life.copyChanges;
  const body = revised ? reviseCopy(new Random(world.seed, FOR.copy, life.ad, 1), copy.body) : copy.body;
  const moved = life.linkChanges !== null && day >= life.linkChanges;
  const link = linkOf(world, brand, life, { path: pathOf(brand, random), isApp, moved });
  const cards = format === 'carousel' ? cardsOf(random, brand, link, random.between(3, 6)) : [];
  const versions = format === 'dco' ? cardsOf(random, brand, link, random.between(2, 4)) : [];
  const content: Content = {
    body,
    title: copy.title,
    link_description: random.pick(DESCRIPTIONS),
    caption: isApp ? null : brand.domain,
    cta_type: cta.type,
    cta_text: cta.text,
    link_url: link,
    format,
    platforms: random.chance(0.8) ? ['facebook', 'instagram'] : ['instagram'],
    languages: [language],
    media: mediaOf(world, { page: page.index, concept, brand: life.brand }, format),
    cards,
    versions,
  };
  return asObservedBy(collector, content);
};

const voiceOf = (world: World, page: DemoPage, life: Life): Voice => {
  if (isSaleAd(world, life)) return 'sale';
  return page.role === 'CREATOR' ? 'creator' : 'brand';
};

const slotsOf = (brand: DemoBrand, random: Random): Parameters<typeof composeCopy>[3] => ({
  brand: brand.name,
  product: brand.categoryPath[2].toLowerCase(),
  percent: String(random.between(2, 8) * 5),
  code: `${brand.name.split(' ')[0]?.toUpperCase()}${random.between(10, 30)}`,
});

const pathOf = (brand: DemoBrand, random: Random): string => {
  const product = slug(brand.categoryPath[2]);
  const kind = random.next();
  if (kind < 0.6) return `/products/${product}-${random.between(1, 12)}`;
  if (kind < 0.85) return `/collections/${product}`;
  return kind < 0.93 ? '/pages/quiz' : '/';
};

type Destination = { readonly path: string; readonly isApp: boolean; readonly moved: boolean };

const linkOf = (world: World, brand: DemoBrand, life: Life, { path, isApp, moved }: Destination): string => {
  const random = new Random(world.seed, FOR.link, life.ad);
  // The new destination does not depend on the link before the change.
  const destination = moved ? `/pages/offer-${random.between(1, 9)}` : path;
  if (isApp && !moved) {
    return brand.index % 2 === 0
      ? `https://apps.apple.com/us/app/${slug(brand.name)}/id${FIRST_APP_ID + brand.index}`
      : `https://play.google.com/store/apps/details?id=example.${slug(brand.name).replaceAll('-', '.')}&referrer=utm_source%3Dsocial`;
  }
  const tracking = random.pick([
    `?utm_source=social&utm_medium=paid&utm_campaign={{campaign.name}}&utm_content={{ad.id}}`,
    `?utm_source={{site_source_name}}&utm_campaign=demo-${random.below(1_000)}`,
    '',
  ]);
  return `https://${random.chance(0.8) ? 'www.' : ''}${brand.domain}${destination}${tracking}`;
};

const cardsOf = (random: Random, brand: DemoBrand, link: string, count: number): Content['cards'] =>
  Array.from({ length: count }, (_, index) => ({
    body: null,
    title: `${brand.categoryPath[2]} no. ${index + 1}`,
    link_description: random.pick(DESCRIPTIONS),
    cta_text: 'Shop now',
    link_url: link,
  }));

const mediaOf = (world: World, concept: Concept, format: AdFormat): Content['media'] => {
  const address = (extension: 'jpg' | 'mp4'): string => undatedAddress(world, concept, extension);
  if (format === 'video') return [{ kind: 'video', url: address('mp4'), poster_url: address('jpg') }];
  if (format === 'other') return [];
  return [{ kind: 'image', url: address('jpg'), poster_url: null }];
};

/** Each day shows other addresses, which differ in their ends. */
export const datedMedia = (media: Content['media'], dayMs: number): Content['media'] =>
  media.map(({ kind, url, poster_url }) => ({
    kind,
    url: datedAddress(url, dayMs),
    poster_url: datedAddress(poster_url, dayMs),
  }));

const asObservedBy = (collector: Collector, content: Content): Content => {
  switch (collector) {
    case 'demo-web/1':
      return content;
    case 'demo-web/2':
      // This version appends the button label to the copy.
      return { ...content, body: `${content.body}\n${content.cta_text}` };
    case 'demo-api/1':
      // The official API reports neither button, media nor format.
      return { ...content, cta_type: null, cta_text: null, format: null, media: [], cards: [], versions: [] };
  }
};

const slug = (text: string): string => text.toLowerCase().replaceAll(' ', '-');
