import fc from 'fast-check';
import { test } from 'vitest';
import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { brandIdOf } from '#domain/ids.ts';
import { pages } from '#projections/pages/project.ts';
import { findPages } from '#projections/pages/read.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { runs, seedOf } from '#tests/property-seed.ts';

/** Random histories of two brands that lead to the same pages are compared with a plain model. */
const HISTORIES = 2;
const BRANDS = ['shop.example', 'other.example'] as const;
const LINKS = [
  'https://shop.example/a',
  'https://shop.example/b?utm_source=x',
  'https://other.example/c',
  'https://apps.apple.com/us/app/shop/id123456',
] as const;
const PAGES = LINKS.slice(0, 3).map((link) => landingPageOf(link)?.landing_page_id ?? '');

type Step = {
  readonly ad: number;
  readonly kind: 'move' | 'deal' | 'end' | 'return';
  readonly link: number;
  readonly cards: readonly number[];
};
const steps = fc.array(
  fc.record<Step>({
    ad: fc.nat(4),
    kind: fc.constantFrom('move', 'deal', 'end', 'return'),
    link: fc.nat(LINKS.length - 1),
    cards: fc.array(fc.nat(LINKS.length - 1), { maxLength: 3 }),
  }),
  { minLength: 20, maxLength: 40 },
);

type ModelAd = { link: number; cards: readonly number[]; active: boolean; readonly led: Set<number> };

/** Events as the domain would record them: no ad ends twice, and none moves to its current destination. */
const play = (history: readonly Step[]) => {
  const ads = new Map<number, ModelAd>();
  const events: GivenEvent[] = BRANDS.map((domain) => ({
    stream: brandStream(brandIdOf(domain)),
    event: registered(domain, '2026-05-01T00:00:00.000Z'),
  }));
  const dealt = (cards: readonly number[]) =>
    cards.map((card) => ({ title: `${card}`, link_url: LINKS[card] }));
  for (const { ad, kind, link, cards } of history) {
    const brand_id = brandIdOf(BRANDS[ad % 2] ?? BRANDS[0]);
    const record = (event: object): void => {
      events.push({ stream: adLibraryStream(brand_id), event: event as AdLibraryEvent });
    };
    const about = { brand_id, observed_at: '2026-05-02T00:00:00.000Z', ad_id: `99999${ad}` };
    const known = ads.get(ad);
    if (known === undefined) {
      ads.set(ad, { link, cards, active: true, led: new Set([link, ...cards]) });
      const content = { link_url: LINKS[link], cards: dealt(cards) };
      record({ type: 'AdStarted', data: { ...about, content } });
    } else if (kind === 'move' && known.link !== link) {
      known.link = link;
      known.led.add(link);
      record({ type: 'AdDestinationChanged', data: { ...about, to_url: LINKS[link] } });
    } else if (kind === 'deal' && cards.length > 0) {
      const changes = { cards: { from: dealt(known.cards), to: dealt(cards) } };
      known.cards = cards;
      for (const card of cards) known.led.add(card);
      record({ type: 'AdRevised', data: { ...about, changes } });
    } else if (kind === 'end' && known.active) {
      known.active = false;
      record({ type: 'AdConfirmedInactive', data: about });
    } else if (kind === 'return' && !known.active) {
      known.active = true;
      record({ type: 'AdReturned', data: about });
    }
  }
  const counts = PAGES.map((id, page) => {
    const led = [...ads.values()].filter((ad) => ad.led.has(page));
    return {
      id,
      active_ads: led.filter((ad) => ad.active && [ad.link, ...ad.cards].includes(page)).length,
      total_ads: led.length,
    };
  }).filter(({ total_ads }) => total_ads > 0);
  return { events, counts };
};

test.each(
  fc
    .sample(
      steps.filter((history) => play(history).counts.length > 1),
      { numRuns: runs(HISTORIES), seed: seedOf(4) },
    )
    .map((history) => [history] as const),
)('counts of landing pages equal a plain model for any batch sizes', async (history) => {
  const { events, counts } = play(history);
  await given(events)
    .into(pages)
    .shows(
      async (db) =>
        (await findPages(db, PAGES)).map(({ json }) => {
          const { id, active_ads, total_ads } = JSON.parse(
            json.replaceAll('\u0001', ''),
          ) as (typeof counts)[0];
          return { id, active_ads, total_ads };
        }),
      counts,
    );
});
