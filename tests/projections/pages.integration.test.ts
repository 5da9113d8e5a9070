import { brandProfile, recordProfile } from '#tests/dsl/site-events.ts';
import { describe, expect, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { brand } from '#domain/corpus/brand.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import {
  addressOf,
  landingPage,
  recordPageClassification,
  recordPageScrape,
} from '#domain/corpus/landing-page.ts';
import { pages } from '#projections/pages/project.ts';
import { findPages, listPages, type PageFilter } from '#projections/pages/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { ad, BRAND, library } from '../dsl/scans.ts';

const OTHER = brandIdOf('other.example');
const AT = '2026-05-01T00:00:00.000Z';
const idOf = (page_url: string): string => addressOf({ page_url }).landing_page_id;

const shop = (details: object = {}): GivenEvent => ({
  stream: brandStream(BRAND),
  event: registered('shop.example', AT, details),
});
const other = (details: object = {}): GivenEvent => ({
  stream: brandStream(OTHER),
  event: registered('other.example', AT, { country: 'DE', category_path: [], ...details }),
});
const scans = (): GivenEvent[] => {
  const of = library();
  const one = ad(1, { link_url: 'https://www.shop.example/a?utm_source=x' });
  const two = ad(2, { link_url: 'http://shop.example/a/' });
  const three = ad(3, { link_url: 'https://other.example/b' });
  const four = ad(4, { link_url: null });
  return [
    of.scan({ at: '2026-05-04T10:00Z' }, [one, two, three, four]),
    of.scan({ at: '2026-05-05T10:00Z' }, [
      { ...one, link_url: 'https://shop.example/c' },
      { ...two, is_active: false, stopped_on: '2026-05-05' },
      three,
      { ...four, link_url: 'https://linktr.ee/shop' },
    ]),
  ]
    .flat()
    .map((event) => ({ stream: adLibraryStream(BRAND), event }));
};
const scraped = (page_url: string, http_status = 200, observed_at = '2026-05-06T10:00:00Z'): GivenEvent[] =>
  recordPageScrape({
    type: 'landing_page.scrape',
    page_url,
    observed_at,
    http_status,
    canonical_url: null,
    title: 'A page',
    description: null,
    language: 'en',
    headings: ['Hello'],
    cta_texts: [],
  })(landingPage.initial).map((event) => ({ stream: landingPageStream(idOf(page_url)), event }));
const classified = (page_url: string, page_type: 'quiz' | 'product'): GivenEvent[] =>
  recordPageClassification({
    type: 'landing_page.classify',
    page_url,
    observed_at: '2026-05-06T11:00:00Z',
    page_type,
    confidence: 0.8,
  })(landingPage.initial).map((event) => ({ stream: landingPageStream(idOf(page_url)), event }));

type Shown = {
  readonly brand: object | null;
  readonly page_url: string;
  readonly live: boolean;
  readonly active_ads: number;
  readonly total_ads: number;
};
const parsed = (text: string): Shown => JSON.parse(text.replaceAll('\u0001', '')) as Shown;
const list = async (db: ReadDatabase, filter: Partial<PageFilter>): Promise<string[]> => {
  const found = await listPages(db, { sort: 'newest', ...filter }, { limit: 10, after: null });
  return found.items.map((item) => {
    const { page_url, active_ads, total_ads } = parsed(item);
    return `${page_url.replace('https://', '')} ${active_ads}/${total_ads}`;
  });
};

describe('pages', () => {
  test('lists landing pages known only from links of ads, with current and total ads', () =>
    given([shop(), other(), ...scans()])
      .into(pages)
      .shows(
        async (db) => ({
          own: (await list(db, {})).toSorted(),
          brand: (await list(db, { brandId: BRAND })).toSorted(),
          popular: (await list(db, { brandId: BRAND, sort: 'popular' }))[0],
          category: (await list(db, { categoryId: categoryIdOf(['Apparel']) })).length,
          both: (await list(db, { brandId: OTHER, categoryId: categoryIdOf(['Apparel', 'Shoes']) })).length,
          other: await list(db, { brandId: OTHER }),
          part: await list(db, { urlPart: 'SHOP.example/C' }),
          none: await list(db, { urlPart: '%' }),
        }),
        {
          own: ['shop.example/a 0/2', 'shop.example/c 1/1'],
          brand: ['linktr.ee/shop 1/1', 'other.example/b 1/1', 'shop.example/a 0/2', 'shop.example/c 1/1'],
          popular: 'shop.example/a 0/2',
          category: 4,
          both: 1,
          other: ['other.example/b 1/1'],
          part: ['shop.example/c 1/1'],
          none: [],
        },
      ));

  test('gives the same pages for any order of the streams', () =>
    given([...classified('https://shop.example/a', 'quiz'), ...scans(), other(), shop()])
      .into(pages)
      .shows(
        async (db) => [
          await list(db, { pageType: 'quiz' }),
          await list(db, { pageType: 'quiz', brandId: BRAND, sort: 'popular' }),
          await list(db, { pageType: 'product', brandId: BRAND }),
        ],
        [['shop.example/a 0/2'], ['shop.example/a 0/2'], []],
      ));

  test('shows scraped and classified fields, and the brands whose ads lead there', () =>
    given([
      shop(),
      ...scans(),
      ...scraped('https://shop.example/a'),
      ...classified('https://shop.example/a', 'product'),
    ])
      .into(pages)
      .shows(
        async (db) => (await findPages(db, [idOf('shop.example/a'), BRAND])).map(({ json }) => parsed(json)),
        [
          expect.objectContaining({
            id: idOf('shop.example/a'),
            page_url: 'https://shop.example/a',
            host: 'shop.example',
            title: 'A page',
            page_type: 'product',
            page_type_confidence: 0.8,
            live: true,
            headings: ['Hello'],
            cta_texts: [],
            description: null,
            first_seen_at: '2026-05-04T10:00:00.000Z',
            as_of: '2026-05-06T11:00:00.000Z',
            scraped_at: '2026-05-06T10:00:00.000Z',
            brand: expect.objectContaining({ id: BRAND }),
            brands: [{ brand: expect.objectContaining({ id: BRAND }), active_ads: 0, total_ads: 2 }],
            url: `/v1/pages/${idOf('shop.example/a')}`,
          }),
        ],
      ));

  test('omits removed pages from lists, but not a page that rejected a visitor', () =>
    given([
      shop(),
      ...scans(),
      ...scraped('https://shop.example/a', 404),
      ...scraped('https://shop.example/c', 403),
    ])
      .into(pages)
      .shows(
        async (db) => [
          await list(db, {}),
          parsed((await findPages(db, [idOf('shop.example/a')]))[0]?.json ?? '').live,
        ],
        [['shop.example/c 1/1'], false],
      ));

  test('hides pages of brands that are not public, and lists other countries only by filter', () =>
    given([shop({ is_public: false }), other(), ...scans(), ...scraped('https://other.example/lone')])
      .into(pages)
      .shows(
        async (db) => [
          await list(db, {}),
          await list(db, { brandId: BRAND }),
          await list(db, { brandId: OTHER }),
          (await findPages(db, [idOf('shop.example/a'), idOf('other.example/b')])).length,
        ],
        [[], [], ['other.example/lone 0/0', 'other.example/b 1/1'], 1],
      ));

  test('does not name a brand that is not public, even as owner of the host', () =>
    given([shop(), other({ is_public: false }), ...scans()])
      .into(pages)
      .shows(
        async (db) => parsed((await findPages(db, [idOf('other.example/b')]))[0]?.json ?? '').brand,
        null,
      ));

  test('updates listings when a brand becomes public, moves or changes category', () => {
    const state = brand.evolve(brand.initial, registered('shop.example', AT, { is_public: false }));
    const changed = recordProfile(
      brandProfile({ observed_at: '2026-05-07T00:00:00.000Z', category_path: ['Food'], is_public: true }),
    )(state).map((event) => ({ stream: brandStream(BRAND), event }));
    return given([shop({ is_public: false }), ...scans(), ...changed])
      .into(pages)
      .shows(
        async (db) => [
          (await list(db, {})).length,
          (await list(db, { categoryId: categoryIdOf(['Food']) })).length,
          (await list(db, { categoryId: categoryIdOf(['Apparel']) })).length,
        ],
        [2, 4, 0],
      );
  });

  test('pages through both orders without gaps or repeats', () =>
    given([
      shop(),
      ...Array.from({ length: 7 }, (_, n) =>
        scraped(`https://shop.example/${n % 7}`, 200, `2026-05-0${1 + Math.floor(n / 3)}T00:00:00Z`),
      ).flat(),
    ])
      .into(pages)
      .shows(
        async (db) => {
          const counts = [];
          for (const sort of ['newest', 'popular'] as const) {
            const seen = new Set<string>();
            let after: readonly (string | number)[] | null = null;
            do {
              const found: Awaited<ReturnType<typeof listPages>> = await listPages(
                db,
                { sort },
                { limit: 2, after },
              );
              for (const item of found.items) seen.add(item);
              after = found.next;
            } while (after !== null);
            counts.push(seen.size);
          }
          return counts;
        },
        [7, 7],
      ));
});
