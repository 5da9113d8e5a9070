import { brandProfile, recordProfile, trafficEstimate } from '#tests/dsl/site-events.ts';
import { expect, test } from 'vitest';
import type { Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import { brand } from '#domain/corpus/brand.ts';
import { category, defineCategory } from '#domain/corpus/category.ts';
import { creative, recordCreativeAnalysis, recordCreativeFile } from '#domain/corpus/creative.ts';
import { landingPage, recordPageClassification, recordPageScrape } from '#domain/corpus/landing-page.ts';
import { brandIdOf } from '#domain/ids.ts';
import { operator, recordOperator } from '#domain/corpus/operator.ts';
import { recordPageLink, recordPageProfile, socialPage } from '#domain/corpus/social-page.ts';
import { recordTrafficEstimate, traffic } from '#domain/corpus/traffic.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import { ad, library } from '#tests/dsl/scans.ts';

/** Scans without a change append few events, or the log grows with every scan. */

const SCANS = 100;
const START_MS = Date.parse('2026-05-01T10:00:00.000Z');
const at = (scan: number): string => new Date(START_MS + scan * HOUR_MS).toISOString();

/** Number of events of each scan. Delivers every observation twice. */
const eventsOf = <State, E extends Event>(
  { initial, evolve }: Decider<State, E>,
  observe: (at: string) => (state: State) => readonly E[],
): readonly number[] => {
  let state = initial;
  return Array.from({ length: SCANS }, (_, scan) => {
    const events = [observe(at(scan)), observe(at(scan))].flatMap((decide) => {
      const decided = decide(state);
      state = decided.reduce(evolve, state);
      return decided;
    });
    return events.length;
  });
};
const CREATIVE = 'ab'.repeat(32);
const PAGE_URL = 'https://www.shop.example/products/boot';

const COUNTS: Readonly<Record<string, () => readonly number[]>> = {
  'brand.profile': () =>
    eventsOf(brand, (observed_at) =>
      recordProfile(
        brandProfile({
          observed_at,
          description: 'Boots.',
          country: 'US',
          category_path: ['Apparel', 'Shoes'],
        }),
      ),
    ),
  'category.define': () =>
    eventsOf(category, (observed_at) =>
      defineCategory({
        type: 'category.define',
        observed_at,
        path: ['Apparel', 'Shoes'],
        level: 2,
        taxonomy: 'shop-taxonomy',
        taxonomy_id: '187',
        description: null,
      }),
    ),
  'creative.file': () =>
    eventsOf(creative, (observed_at) =>
      recordCreativeFile({
        type: 'creative.file',
        creative_key: CREATIVE,
        observed_at,
        ad_ids: ['123456'],
        media_kind: 'image',
        content_type: 'image/png',
        bytes: 2_000,
        width: 1080,
        height: 1080,
        duration_seconds: null,
        frame_times_seconds: null,
        media_url: null,
        object_key: null,
        poster_url: null,
      }),
    ),
  'creative.analysis': () =>
    eventsOf(creative, (observed_at) =>
      recordCreativeAnalysis({
        type: 'creative.analysis',
        creative_key: CREATIVE,
        observed_at,
        depth: 'visual',
        fields: { hook: 'Boots' },
      } as never),
    ),
  'landing_page.scrape': () =>
    eventsOf(landingPage, (observed_at) =>
      recordPageScrape({
        type: 'landing_page.scrape',
        page_url: PAGE_URL,
        observed_at,
        http_status: 200,
        canonical_url: null,
        title: 'A boot',
        description: null,
        language: 'en',
        headings: ['Boot'],
        cta_texts: null,
      } as never),
    ),
  'landing_page.classify': () =>
    eventsOf(landingPage, (observed_at) =>
      recordPageClassification({
        type: 'landing_page.classify',
        page_url: PAGE_URL,
        observed_at,
        page_type: 'product',
        confidence: 0.9,
      } as never),
    ),
  'operator.record': () =>
    eventsOf(operator, (observed_at) =>
      recordOperator({
        type: 'operator.record',
        observed_at,
        name: 'Harbor Holdings',
        country: 'US',
        basis: 'site_imprint',
        domains: ['a.example', 'b.example'],
        page_ids: ['100000001'],
      }),
    ),
  'social_page.link': () =>
    eventsOf(socialPage, (observed_at) =>
      recordPageLink(
        {
          type: 'social_page.link',
          brand_domain: 'shop.example',
          page_id: '100000001',
          page_name: 'Shop',
          observed_at,
          role: 'CREATOR',
          confidence: 0.9,
          linked: true,
        },
        brandIdOf('shop.example'),
      ),
    ),
  'social_page.profile': () =>
    eventsOf(socialPage, (observed_at) =>
      recordPageProfile({
        type: 'social_page.profile',
        page_id: '100000001',
        source: 'web',
        observed_at,
        page_name: 'Shop',
        username: 'shop',
        category: null,
        verified: null,
        followers: 100,
        likes: null,
      } as never),
    ),
  'traffic.estimate': () =>
    eventsOf(traffic, (observed_at) =>
      recordTrafficEstimate(trafficEstimate({ observed_at, monthly_visits: 1_000 })),
    ),
  'ad_library.scan of 20 ads': () => {
    const shop = library();
    const ads = Array.from({ length: 20 }, (_, number) => ad(number + 1));
    return Array.from({ length: SCANS }, (_, scan) => shop.scan({ at: at(scan) }, ads).length);
  },
};

test.for(Object.keys(COUNTS))('%s without a change appends at most one event a scan', (type) => {
  const [, ...later] = COUNTS[type]?.() ?? [];
  expect(later).toHaveLength(SCANS - 1);
  expect(Math.max(...later)).toBeLessThanOrEqual(1);
});
