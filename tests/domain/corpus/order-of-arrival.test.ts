import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '#contracts/events/event.ts';
import { recordProfile } from '#tests/dsl/site-events.ts';
import { brand, registerBrand } from '#domain/corpus/brand.ts';
import { category, defineCategory } from '#domain/corpus/category.ts';
import { creative, recordCreativeAnalysis, recordCreativeFile } from '#domain/corpus/creative.ts';
import { landingPage, recordPageClassification, recordPageScrape } from '#domain/corpus/landing-page.ts';
import { operator, recordOperator } from '#domain/corpus/operator.ts';
import { recordPageLink, recordPageProfile, socialPage } from '#domain/corpus/social-page.ts';
import { recordTrafficEstimate, traffic } from '#domain/corpus/traffic.ts';
import type { Decider } from '#domain/decider.ts';
import { PersistentMap } from '#domain/persistent-map.ts';

/** Rules 4 and 11: each field has the newest stated value in any order, and a repeated observation records nothing. */

const at = (day: number): string => `2026-05-0${day}T10:00:00.000Z`;
const day = fc.integer({ min: 1, max: 6 }).map(at);
const orBlank = <Value>(...values: readonly Value[]) => fc.constantFrom(null, ...values);
const DOMAIN = 'shop.example';

type Kind<State, F extends Event> = {
  readonly decider: Decider<State, F>;
  readonly observation: fc.Arbitrary<{ readonly observed_at: string }>;
  readonly record: (observation: never) => (state: State) => readonly F[];
};

const KINDS: Readonly<Record<string, Kind<unknown, Event>>> = {
  'brand.profile': {
    decider: brand,
    observation: fc.record({
      type: fc.constant('brand.profile'),
      domain: fc.constant(DOMAIN),
      observed_at: day,
      name: fc.constantFrom('Shop', 'SHOP', DOMAIN),
      description: orBlank('Boots.', 'Shoes.'),
      url: orBlank('https://shop.example', 'https://www.shop.example'),
      logo_url: orBlank('https://shop.example/a.png', 'https://shop.example/b.png'),
      country: orBlank('US', 'DE'),
      category_path: orBlank(['Apparel'], ['Apparel', 'Shoes'], ['apparel', 'Boots']),
      is_public: orBlank(true, false),
      indexable: orBlank(true, false),
    }),
    record: recordProfile,
  },
  'social_page.profile': {
    decider: socialPage,
    observation: fc.record({
      type: fc.constant('social_page.profile'),
      page_id: fc.constant('100000001'),
      observed_at: day,
      source: fc.constantFrom('library', 'page'),
      page_name: orBlank('Shop', 'The shop'),
      username: orBlank('shop', 'the.shop'),
      category: orBlank('Shoe shop', 'null'),
      verified: orBlank(true, false),
      followers: orBlank(900, 1_200),
      likes: orBlank(1, 2),
    }),
    record: recordPageProfile,
  },
  'traffic.estimate': {
    decider: traffic,
    observation: fc.record({
      type: fc.constant('traffic.estimate'),
      domain: fc.constant(DOMAIN),
      observed_at: day,
      period: fc.constantFrom('2026-03', '2026-04'),
      provider: fc.constant('estimates'),
      monthly_visits: orBlank(900, 1_200),
      global_rank: orBlank(7, 8),
      category_rank: orBlank(1, 2),
      provider_category: orBlank('Shoes', 'Boots'),
      countries: orBlank([{ country: 'US', share: 0.5 }], [{ country: 'CA', share: 0.4 }]),
      demographics: fc.constant(null),
      similar_sites: orBlank([{ domain: 'a.example', affinity: 0.5, provider_category: null }]),
    }),
    record: recordTrafficEstimate,
  },
  'category.define': {
    decider: category,
    observation: fc
      .record({
        type: fc.constant('category.define'),
        observed_at: day,
        path: fc.constantFrom(['Apparel', 'Shoes'], ['Apparel', 'SHOES'], ['apparel', 'Shoes']),
        level: fc.constant(null),
        ids: orBlank(['google', '187'], ['google', '188'], ['other', 'X-9']),
        description: orBlank('For feet.', 'Not for feet.'),
      })
      .map(({ ids, ...definition }) => ({
        ...definition,
        taxonomy: ids?.[0] ?? null,
        taxonomy_id: ids?.[1] ?? null,
      })),
    record: defineCategory,
  },
  'landing_page.scrape': {
    decider: landingPage,
    observation: fc.record({
      type: fc.constant('landing_page.scrape'),
      page_url: fc.constant('https://shop.example/boot'),
      observed_at: day,
      http_status: orBlank(200, 404),
      canonical_url: orBlank('https://shop.example/boots'),
      title: orBlank('A boot', 'The boot'),
      description: orBlank('Warm.', 'Wet.'),
      language: orBlank('en-US'),
      headings: orBlank([], ['Boots']),
      cta_texts: orBlank(['Buy'], ['Order']),
    }),
    record: recordPageScrape,
  },
  'landing_page.classify': {
    decider: landingPage,
    observation: fc.record({
      type: fc.constant('landing_page.classify'),
      page_url: fc.constant('https://shop.example/boot'),
      observed_at: day,
      page_type: fc.constantFrom('product', 'quiz'),
      confidence: fc.constantFrom(0.5, 0.9),
    }),
    record: recordPageClassification,
  },
  'creative.file': {
    decider: creative,
    observation: fc.record({
      type: fc.constant('creative.file'),
      creative_key: fc.constant('ab'.repeat(32)),
      observed_at: day,
      ad_ids: fc.subarray(['1001', '1002', '1003'], { minLength: 1 }),
      media_kind: fc.constant('image'),
      content_type: orBlank('image/png', 'image/webp'),
      bytes: orBlank(5, 6),
      width: orBlank(100, 200),
      height: orBlank(100),
      duration_seconds: fc.constant(null),
      frame_times_seconds: fc.constant(null),
      media_url: orBlank('https://media.example/a.png'),
      object_key: orBlank('media/a', 'media/b', 'zmedia/c'),
      poster_url: fc.constant(null),
      thumb_object_key: fc.constantFrom(undefined, null, 'thumb/a'),
      removed: fc.constantFrom(undefined, undefined, undefined, true),
    }),
    record: recordCreativeFile,
  },
  'creative.analysis': {
    decider: creative,
    observation: fc.record({
      type: fc.constant('creative.analysis'),
      creative_key: fc.constant('ab'.repeat(32)),
      observed_at: day,
      depth: fc.constantFrom('transcribed', 'described'),
      transcript: orBlank('', 'hi', 'null'),
      language: orBlank('en-US', 'de-DE'),
      corrections: orBlank([], [{ heard: 'cove', meant: 'Cove' }]),
      shown_texts: orBlank(['NEW'], ['SALE']),
      read_frame_times_seconds: fc.constant(null),
      fields: orBlank({ hook: 'story', tone: null }, { hook: 'question', tone: 'urgent' }),
    }),
    record: recordCreativeAnalysis,
  },
  'operator.record': {
    decider: operator,
    observation: fc.record({
      type: fc.constant('operator.record'),
      observed_at: day,
      name: fc.constantFrom('Harbor Holdings', 'HARBOR HOLDINGS'),
      country: orBlank('US', 'DE'),
      basis: fc.constantFrom('site_imprint', 'filing'),
      domains: fc.subarray(['a.example', 'b.example', 'c.example']),
      page_ids: fc.subarray(['100000001', '100000002']),
    }),
    record: recordOperator,
  },
} as unknown as Readonly<Record<string, Kind<unknown, Event>>>;

/** Plain value of a state: maps get one order, and an absent field equals a blank one. */
const plain = (value: unknown): unknown => {
  if (value instanceof PersistentMap || value instanceof Map)
    return new Map([...value].map(([key, of]) => [key, plain(of)]));
  if (value === null || typeof value !== 'object' || Array.isArray(value) || value instanceof Set)
    return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, of]) => (of === null ? [] : [[key, plain(of)]])),
  );
};

const fold = (
  { decider, record }: Kind<unknown, Event>,
  observations: readonly { readonly observed_at: string }[],
  from: unknown = decider.initial,
): unknown =>
  observations.reduce(
    (state: unknown, one) => record(one as never)(state).reduce(decider.evolve, state),
    from,
  );

describe.each(Object.entries(KINDS))('%s', (_, kind) => {
  const observations = fc.array(kind.observation, { minLength: 2, maxLength: 7 });

  test('has the same state in any order of arrival', () => {
    const arrivals = observations.chain((all) =>
      fc.record({ all: fc.constant(all), arrived: fc.shuffledSubarray(all, { minLength: all.length }) }),
    );
    fc.assert(
      fc.property(arrivals, ({ all, arrived }) => {
        const inTime = all.toSorted((one, other) => (one.observed_at < other.observed_at ? -1 : 1));
        expect(plain(fold(kind, arrived))).toEqual(plain(fold(kind, inTime)));
      }),
    );
  });

  test('records nothing when observations are repeated in any order', () => {
    const arrivals = observations.chain((all) =>
      fc.record({ all: fc.constant(all), again: fc.shuffledSubarray(all, { minLength: all.length }) }),
    );
    fc.assert(
      fc.property(arrivals, ({ all, again }) => {
        const state = fold(kind, all);
        for (const one of again) expect(kind.record(one as never)(state)).toEqual([]);
      }),
    );
  });
});

test('a brand that its domain registered has the values of its profiles, whenever they arrive', () => {
  const kind = KINDS['brand.profile'] as Kind<unknown, Event>;
  fc.assert(
    fc.property(fc.array(kind.observation, { minLength: 1, maxLength: 5 }), day, (profiles, registeredAt) => {
      const [registered] = registerBrand(DOMAIN, 'shop', registeredAt)(null);
      const first = brand.evolve(brand.initial, registered as never);
      const afterwards = fold(kind, profiles, first) as NonNullable<ReturnType<typeof brand.evolve>>;
      const alone = fold(kind, profiles) as typeof afterwards;
      expect(afterwards.details).toEqual(alone.details);
      expect(afterwards.times).toEqual(alone.times);
    }),
  );
});

test('the name of a linked page is the newest one that an observation of the link states', () => {
  const names = fc.uniqueArray(fc.record({ day: fc.integer({ min: 1, max: 8 }), name: orBlank('A', 'B') }), {
    selector: ({ day: of }) => of,
    minLength: 1,
  });
  fc.assert(
    fc.property(names, (all) => {
      let state = socialPage.initial;
      for (const { day: observed, name } of all) {
        const link = {
          type: 'social_page.link',
          brand_domain: DOMAIN,
          page_id: '100000001',
          page_name: name,
          observed_at: at(observed),
          role: 'CREATOR',
          confidence: 0.9,
          linked: true,
        } as const;
        state = recordPageLink(link, 'brand')(state).reduce(socialPage.evolve, state);
      }
      const named = all.filter(({ name }) => name !== null).toSorted((one, other) => other.day - one.day);
      expect(state.links.get('brand')?.page_name ?? null).toBe(named[0]?.name ?? null);
    }),
  );
});
