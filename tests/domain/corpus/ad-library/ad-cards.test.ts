import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { ad, library, typesOf } from '#tests/dsl/scans.ts';
import { runs } from '#tests/property-seed.ts';

type Card = ObservedAd['cards'][number];

const card = (title: string | null, link_url: string | null, fields: Partial<Card> = {}): Card => ({
  body: null,
  title,
  link_description: null,
  cta_text: null,
  link_url,
  ...fields,
});
const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T10:00Z`;
const carousel = (...cards: readonly Card[]) => [
  ad(1, { link_url: 'https://shop.example/', cards: [...cards] }),
];
const cardsOf = (shop: ReturnType<typeof library>) => [...shop.state.ads.values()][0]?.content.cards;

const HAT = 'https://shop.example/hats';
const SOCK = 'https://shop.example/socks';
const SHOE = 'https://shop.example/shoes';

const anyText = fc.constantFrom(null, '', 'Hats', 'Socks', 'Shoes');
const anyLink = fc.constantFrom(null, ' ', HAT, SOCK, `${SOCK}?utm_source=x`, SHOE);
const anyCard = fc
  .tuple(anyText, anyText, anyLink)
  .map(([title, body, link_url]) => card(title, link_url, { body }));
const anyCards = fc.array(anyCard, { maxLength: 4 });

describe('cards of an ad', () => {
  it.each([
    ['one links to another place', [card('Hats', HAT), card('Socks', SHOE)]],
    ['one is added with another link', [card('Hats', HAT), card('Socks', SOCK), card('Socks', SHOE)]],
    ['one is removed with its link', [card('Hats', HAT)]],
  ])('are revised when %s, although the main link is unchanged', (_, cards) => {
    const shop = library();
    shop.scan({ at: at(1) }, carousel(card('Hats', HAT), card('Socks', SOCK)));
    const events = shop.scan({ at: at(2) }, carousel(...cards));
    expect(typesOf(events)).toEqual(['AdRevised']);
    expect(events[0]?.data).toMatchObject({ changes: { cards: { to: cards } } });
    expect(cardsOf(shop)).toEqual(cards);
    expect(shop.totals).toMatchObject({ revised: 1, destination_changed: 0 });
  });

  it.each([
    ['in another order', [card('Socks', SOCK), card('Hats', HAT)], []],
    ['with tracking', [card('Hats', `${HAT}/?utm_source=x`), card('Socks', `${SOCK}?fbclid=1`)], []],
    // Blank cards make a scan a sighting.
    ['without links', [card('Hats', null), card('Socks', ' ')], ['AdsSeen']],
    ['with one link of two', [card('Hats', HAT), card('Socks', null)], ['AdsSeen']],
    ['without words', [card('Hats', HAT), card(null, SOCK, { body: 'Soft' })], ['AdsSeen']],
    ['not at all', [], ['AdsSeen']],
  ])('are unchanged when shown %s (rules 4 and 5)', (_, cards, recorded) => {
    const existing = [card('Hats', HAT, { body: 'Warm' }), card('Socks', SOCK, { body: 'Soft' })];
    const fields = cards.map((one) =>
      one.title === null ? one : { ...one, body: one.title === 'Hats' ? 'Warm' : 'Soft' },
    );
    const shop = library();
    shop.scan({ at: at(1) }, carousel(...existing));
    const types = typesOf(shop.scan({ at: at(2) }, carousel(...fields)));
    expect(types).toEqual(recorded);
    expect(cardsOf(shop)).toEqual(existing);
  });

  it('keep their links when a scan rewords all of them and shows no link', () => {
    const shop = library();
    shop.scan({ at: at(1) }, carousel(card('Hats', HAT), card('Socks', SOCK)));
    const events = shop.scan({ at: at(2) }, carousel(card('Warm hats', null), card('Soft socks', null)));
    expect(typesOf(events)).toEqual(['AdRevised', 'AdsSeen']);
    expect(cardsOf(shop)).toEqual([card('Warm hats', HAT), card('Soft socks', SOCK)]);
  });

  it('take links that were blank before, without news', () => {
    const shop = library();
    shop.scan({ at: at(1) }, carousel(card('Hats', null), card('Socks', null)));
    const events = shop.scan({ at: at(2) }, carousel(card('Hats', HAT), card('Socks', SOCK)));
    expect(typesOf(events)).toEqual(['AdDetailsObserved']);
    expect(cardsOf(shop)).toEqual([card('Hats', HAT), card('Socks', SOCK)]);
  });

  it('are revised when another collector shows other links, which are never a matter of wording', () => {
    const shop = library();
    const to = (id: number, url: string) => ad(id, { cards: [card(`Card ${id}`, url)] });
    shop.scan({ at: at(1) }, [to(1, HAT), to(2, SOCK), to(3, SHOE)]);
    const events = shop.scan({ at: at(2), collector: 'two' }, [
      to(1, `${HAT}/x`),
      to(2, `${SOCK}/x`),
      to(3, `${SHOE}/x`),
    ]);
    expect(typesOf(events)).toEqual(['AdRevised', 'AdRevised', 'AdRevised']);
  });

  it('record nothing when any sequence of cards is decided again', () => {
    const scans = fc.array(fc.tuple(anyCards, fc.constantFrom('one', 'two')), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(scans, (shown) => {
        const shop = library();
        shown.forEach(([seen, collector], day) => {
          // `scan` decides twice and throws when the second time records an event.
          shop.scan({ at: at(day + 1), collector }, carousel(...seen));
          const again = shop.scan(
            { at: `2026-05-${String(day + 1).padStart(2, '0')}T11:00Z`, collector },
            carousel(...seen),
          );
          expect(typesOf(again), 'seen once more').toEqual([]);
        });
      }),
      { numRuns: runs(500) },
    );
  });

  it('keep their links when the number of cards is unchanged and the scan shows no link, in any wording', () => {
    const unlinked = anyCards.map((some) => some.map((seen) => ({ ...seen, link_url: null })));
    const linksOf = (some: readonly Card[]) => some.map(({ link_url }) => (link_url ?? '').trim()).toSorted();
    fc.assert(
      fc.property(anyCards, fc.array(unlinked, { maxLength: 4 }), (first, later) => {
        const shop = library();
        shop.scan({ at: at(1) }, carousel(...first));
        later
          .filter(({ length }) => length === first.length)
          .forEach((seen, day) => shop.scan({ at: at(day + 2) }, carousel(...seen)));
        expect(linksOf(cardsOf(shop) ?? [])).toEqual(linksOf(first));
      }),
      { numRuns: runs(300) },
    );
  });
});
