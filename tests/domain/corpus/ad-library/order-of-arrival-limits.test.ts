import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { destinationKey } from '#contracts/values/links/ad-destination.ts';
import { textKey } from '#contracts/values/comparison/text-key.ts';
import { lastSeenAt } from '#domain/corpus/ad-library/state.ts';
import { ad, type Library, library, type ScanOptions } from '#tests/dsl/scans.ts';

/** Only spellings that compare as equal depend on the order of arrival (rule 11). */
vi.setConfig({ testTimeout: 120_000 });

type Scan = { readonly options: ScanOptions; readonly ads: readonly ObservedAd[] };

const recorded = (scans: readonly Scan[]): Library => {
  const shop = library();
  for (const { options, ads } of scans) shop.scan(options, ads);
  return shop;
};

const outcomeOf = ({ state, log }: Library) => ({
  ads: [...state.ads.values()]
    .map(({ looks, seen_at, collector, ...one }) => ({
      ...one,
      seen_at: lastSeenAt({ ...one, looks, seen_at, collector }, state.pages.get(one.page_id ?? '')),
    }))
    .toSorted((a, b) => a.ad_id.localeCompare(b.ad_id)),
  scans: log.map(({ scan_id, totals }) => ({ scan_id, totals })),
});
type Outcome = ReturnType<typeof outcomeOf>;

const withoutSpelling = ({ ads, scans }: Outcome) => ({
  scans,
  ads: ads.map(({ content, ...one }) => {
    const { link_url, title, ...others } = content;
    return {
      ...one,
      content: { ...others, link: link_url && destinationKey(link_url), title: title && textKey(title) },
    };
  }),
});

const holdsInAnyOrder = (scan: fc.Arbitrary<Scan>, partOf: (outcome: Outcome) => unknown): void => {
  const scans = fc.uniqueArray(scan, { selector: ({ options }) => options.at, minLength: 2, maxLength: 4 });
  const arrivals = scans.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
  );
  fc.assert(
    fc.property(arrivals, ([all, shuffled]) => {
      const inOrder = all.toSorted((a, b) => (a.options.at < b.options.at ? -1 : 1));
      expect(partOf(outcomeOf(recorded(shuffled)))).toEqual(partOf(outcomeOf(recorded(inOrder))));
    }),
  );
};

const time = fc
  .integer({ min: 0, max: 20 })
  .map((steps) => new Date(Date.UTC(2026, 4, 1, steps * 5)).toISOString());
const maybe = <T>(...values: readonly T[]) => fc.constantFrom(...values, null);

describe('in any order of arrival', () => {
  it('an ad has the same destination and title, although perhaps another spelling of them', () => {
    const link = maybe(
      'https://shop.example/a',
      'https://shop.example/a/?utm_source=x',
      'https://shop.example/b',
    );
    const title = maybe('One', 'One ', 'Two');
    const scan = fc
      .record({ at: time, link, title })
      .map(
        (one): Scan => ({ options: { at: one.at }, ads: [ad(1, { link_url: one.link, title: one.title })] }),
      );
    holdsInAnyOrder(scan, withoutSpelling);
  });

  it('an ad has the same state, with any blanks inside cards', () => {
    const card = fc.record({
      title: maybe('A', 'B'),
      body: maybe('m', 'n'),
      link_description: maybe('d'),
      cta_text: maybe('Shop'),
      link_url: maybe('https://shop.example/a', 'https://shop.example/b'),
    });
    const scan = fc
      .record({ at: time, cards: fc.array(card, { maxLength: 2 }) })
      .map(({ at, cards }): Scan => ({ options: { at }, ads: [ad(1, { cards })] }));
    holdsInAnyOrder(scan, (outcome) => outcome);
  });

  it('an ad has the same state, and its changes the same author, with any turns of collectors', () => {
    const body = fc.constantFrom('Boots', 'Hats', 'New: Boots', 'New: Hats');
    const shown = fc.array(fc.option(body, { freq: 4 }), { minLength: 3, maxLength: 3 });
    const collector = fc.constantFrom('one', 'two');
    const scan = fc.record({ at: time, collector, complete: fc.boolean(), shown }).map(
      (one): Scan => ({
        options: { at: one.at, collector: one.collector, complete: one.complete },
        ads: one.shown.flatMap((text, id) => (text === null ? [] : [ad(id, { body: text })])),
      }),
    );
    holdsInAnyOrder(scan, (outcome) => outcome);
  });
});
