import fc from 'fast-check';
import { test } from 'vitest';
import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { brandIdOf } from '#domain/ids.ts';
import { pages } from '#projections/pages/project.ts';
import { listPages } from '#projections/pages/read.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { runs, seedOf } from '#tests/property-seed.ts';

/** Random histories, in which brands and their pages come and go, are compared with a plain model. */
const HISTORIES = 4;
const BRANDS = ['one', 'two', 'three', 'four', 'five', 'six'].map((name) => `${name}.example`);
const LINKS = ['https://one.example/a', 'https://shared.example/b', 'https://shared.example/c'] as const;
const PAGES = LINKS.map((link) => landingPageOf(link)?.landing_page_id ?? '');
const OWNER = 0;

type Step = {
  readonly kind: 'lead' | 'end' | 'register' | 'hide' | 'show' | 'gone' | 'back';
  readonly brand: number;
  readonly page: number;
  readonly day: number;
};
const histories = fc.array(
  fc.record<Step>({
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('lead', 'end', 'register') },
      { weight: 1, arbitrary: fc.constantFrom('hide', 'show', 'gone', 'back') },
    ),
    brand: fc.nat(BRANDS.length - 1),
    page: fc.nat(PAGES.length - 1),
    day: fc.integer({ min: 10, max: 28 }),
  }),
  { minLength: 40, maxLength: 80 },
);

type ModelPage = { isLive: boolean; ads: number; firstSeen: string; readonly brands: Set<number> };

const play = (history: readonly Step[]) => {
  const events: GivenEvent[] = [];
  const shown = new Map<number, boolean>();
  const met = new Map<number, ModelPage>();
  const running: { readonly brand: number; readonly ad_id: string }[] = [];
  for (const [place, { kind, brand, page, day }] of history.entries()) {
    const at = `2026-05-${day}T00:00:00.000Z`;
    const brand_id = brandIdOf(BRANDS[brand] ?? '');
    const ofAd = (event: object): void => {
      events.push({ stream: adLibraryStream(brand_id), event: event as AdLibraryEvent });
    };
    const ofBrand = (is_public: boolean): void => {
      shown.set(brand, is_public);
      events.push({
        stream: brandStream(brand_id),
        event: { type: 'BrandProfileChanged', data: { brand_id, observed_at: at, changes: { is_public } } },
      });
    };
    const meet = (): ModelPage => {
      const known = met.get(page) ?? { isLive: true, ads: 0, firstSeen: at, brands: new Set() };
      if (at < known.firstSeen) known.firstSeen = at;
      met.set(page, known);
      return known;
    };
    if (kind === 'lead') {
      const known = meet();
      known.ads += 1;
      known.brands.add(brand);
      running.push({ brand, ad_id: `8000${place}` });
      const about = { brand_id, observed_at: at, ad_id: `8000${place}` };
      ofAd({ type: 'AdStarted', data: { ...about, content: { link_url: LINKS[page], cards: [] } } });
    } else if (kind === 'end') {
      const ended = running.findIndex((ad) => ad.brand === brand);
      const [ad] = ended < 0 ? [] : running.splice(ended, 1);
      if (ad) ofAd({ type: 'AdConfirmedInactive', data: { brand_id, observed_at: at, ad_id: ad.ad_id } });
    } else if (kind === 'register' && !shown.has(brand)) {
      shown.set(brand, true);
      const event = registered(BRANDS[brand] ?? '', at, { category_path: [] });
      events.push({ stream: brandStream(brand_id), event });
    } else if ((kind === 'hide' || kind === 'show') && shown.has(brand)) {
      ofBrand(kind === 'show');
    } else if (kind === 'gone' || kind === 'back') {
      const known = meet();
      known.isLive = kind === 'back';
      const landing_page_id = PAGES[page] ?? '';
      const about = { landing_page_id, page_url: LINKS[page] ?? '', observed_at: at };
      const changes = { http_status: known.isLive ? 200 : 404 };
      const stream = landingPageStream(landing_page_id);
      events.push({ stream, event: { type: 'LandingPageScraped', data: { ...about, changes } } });
    }
  }
  const listed = BRANDS.map((_, brand) =>
    [...met]
      .filter(([page, { isLive, brands }]) => {
        const isRelated = brands.has(brand) || (brand === OWNER && page === OWNER);
        return isLive && isRelated && shown.get(brand) === true;
      })
      .map(([page, { ads, firstSeen }]) => `${PAGES[page]} ${ads} ${firstSeen}`)
      .toSorted(),
  );
  return { events, listed };
};

const list = async (db: ReadDatabase): Promise<readonly (readonly string[])[]> =>
  Promise.all(
    BRANDS.map(async (domain) => {
      const filter = { brandId: brandIdOf(domain), sort: 'popular' } as const;
      const { items } = await listPages(db, filter, { limit: 10, after: null });
      return items
        .map((item) => {
          const { id, total_ads, first_seen_at } = JSON.parse(item.replaceAll('\u0001', '')) as {
            readonly id: string;
            readonly total_ads: number;
            readonly first_seen_at: string;
          };
          return `${id} ${total_ads} ${first_seen_at}`;
        })
        .toSorted();
    }),
  );

test.each(
  fc
    .sample(
      histories.filter((history) => play(history).events.length > 10),
      { numRuns: runs(HISTORIES), seed: seedOf(7) },
    )
    .map((history) => [history] as const),
)('listings of landing pages equal a plain model for any batch sizes', async (history) => {
  const { events, listed } = play(history);
  await given(events).into(pages).shows(list, listed);
});
