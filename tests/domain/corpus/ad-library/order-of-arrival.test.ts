import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { lastSeenAt } from '#domain/corpus/ad-library/state.ts';
import { readSettings } from '#platform/settings.ts';
import { ad, type Library, library, PAGE, type ScanOptions } from '#tests/dsl/scans.ts';

/** Rule 11: the order in which scans arrive does not matter. */

type Scan = { readonly options: ScanOptions; readonly ads: readonly ObservedAd[] };

/** Number of worlds. `ORDER_WORLDS=20000` is the long form. */
const { ORDER_WORLDS: WORLDS } = readSettings(
  z.object({ ORDER_WORLDS: z.coerce.number().int().default(150) }),
);
vi.setConfig({ testTimeout: 30_000 + 100 * WORLDS });

const OTHER_PAGE = '200000002';

const shownAd = fc.record({
  id: fc.integer({ min: 1, max: 4 }),
  body: fc.constantFrom('One', 'Two', null, ' '),
  caption: fc.constantFrom('first', 'second', null),
  link: fc.constantFrom('https://shop.example/a', 'https://shop.example/b', null),
  starts: fc.constantFrom('2026-05-01', '2026-05-02', null),
  partner: fc.constantFrom('100000007', '100000008', null),
  ended: fc.boolean(),
  hidesPage: fc.nat(3).map((number) => number === 3),
  named: fc.constantFrom(undefined, [], ['DE'], ['FR']),
});

const pageOf = (id: number): string => (id === 4 ? OTHER_PAGE : PAGE);

const anyScan = fc
  .record({
    hours: fc.integer({ min: 0, max: 30 }),
    complete: fc.boolean(),
    pages: fc.constantFrom([PAGE], [OTHER_PAGE], [PAGE, OTHER_PAGE]),
    countries: fc.constantFrom(['US'], ['DE'], ['US', 'DE']),
    collector: fc.constantFrom('one', 'two'),
    shown: fc.uniqueArray(shownAd, { selector: ({ id }) => id, maxLength: 4 }),
  })
  .map(
    ({ hours, shown, ...coverage }): Scan => ({
      options: { ...coverage, at: new Date(Date.UTC(2026, 4, 1, hours * 5)).toISOString() },
      ads: shown.map(({ id, body, caption, link, starts, partner, ended, hidesPage, named }) =>
        ad(id, {
          page_id: hidesPage ? null : pageOf(id),
          body,
          caption,
          link_url: link,
          is_active: !ended,
          stopped_on: null,
          started_on: starts,
          branded_content: partner && { page_id: partner, page_name: null },
          ...(named ? { countries: [...named] } : {}),
        }),
      ),
    }),
  );

type Recorded = Library & { readonly events: readonly AdLibraryEvent[] };

const recorded = (scans: readonly Scan[]): Recorded => {
  const shop = library();
  const events = scans.flatMap(({ options, ads }) => shop.scan(options, ads));
  return { ...shop, events };
};

/** Reports that were not withdrawn, as `ad kind scan` in text order. */
const reportsOf = (events: readonly AdLibraryEvent[]): readonly string[] => {
  const reports = new Set<string>();
  for (const { type, data } of events) {
    const keyOf = (kind: string, scan_id: string) =>
      `${'ad_id' in data ? data.ad_id : ''} ${kind} ${scan_id}`;
    if (type === 'AdStarted' && data.novelty === 'news') reports.add(keyOf('started', data.scan_id));
    if (type === 'AdConfirmedInactive' && data.news) reports.add(keyOf('stopped', data.scan_id));
    if (type === 'AdDestinationChanged') reports.add(keyOf('destination_changed', data.scan_id));
    if (type !== 'AdObservationCorrected') continue;
    for (const { kind, scan_id } of data.withdrawn) reports.delete(keyOf(kind, scan_id));
    for (const { kind, scan_id } of data.added) reports.add(keyOf(kind, scan_id));
  }
  return [...reports].toSorted();
};

const outcomeOf = ({ state, log, events }: Recorded) => ({
  reports: reportsOf(events),
  ads: [...state.ads.values()]
    .map(({ looks, seen_at, collector, ...one }) => ({
      ...one,
      seen_at: lastSeenAt({ ...one, looks, seen_at, collector }, state.pages.get(one.page_id ?? '')),
    }))
    .toSorted((a, b) => a.ad_id.localeCompare(b.ad_id)),
  scans: log.map(({ scan_id, totals }) => ({ scan_id, totals })),
});

const arrivals = (scan: fc.Arbitrary<Scan>) =>
  fc
    .uniqueArray(scan, { selector: ({ options }) => options.at, minLength: 2, maxLength: 6 })
    .chain((scans) =>
      fc.tuple(
        fc.constant(scans),
        fc.shuffledSubarray(scans, { minLength: scans.length, maxLength: scans.length }),
      ),
    );

it('gives the same ads, totals and reports in any order of arrival', () => {
  fc.assert(
    fc.property(arrivals(anyScan), ([scans, shuffled]) => {
      const inOrder = scans.toSorted((a, b) => (a.options.at < b.options.at ? -1 : 1));
      expect(outcomeOf(recorded(shuffled))).toEqual(outcomeOf(recorded(inOrder)));
    }),
    { numRuns: WORLDS },
  );
});

const maybe = <T>(...values: readonly T[]) => fc.constantFrom(...values, null);
const cardsOf = (title: string) => [
  { title, body: 'm', link_description: null, cta_text: null, link_url: 'https://shop.example/q' },
];

/** Values of each field, which differ as rules 4 to 6 compare them. */
const content = fc.record({
  title: maybe('One', 'Two'),
  link_description: maybe('One', 'Two'),
  cta: fc.record({
    value: fc.constantFrom('SHOP', 'LEARN'),
    hidesType: fc.boolean(),
    hidesText: fc.boolean(),
  }),
  format: maybe('video' as const, 'image' as const),
  platforms: maybe(['facebook'], ['instagram']),
  languages: maybe(['en'], ['de']),
  media: fc.subarray(['video' as const, 'image' as const], { maxLength: 1 }),
  cards: fc.constantFrom([], cardsOf('One'), cardsOf('Two')),
  versions: fc.constantFrom([], cardsOf('One'), cardsOf('Two')),
});

const fieldsOf = ({ cta, media, ...fields }: typeof content extends fc.Arbitrary<infer T> ? T : never) => ({
  ...fields,
  cta_type: cta.hidesType ? null : cta.value,
  cta_text: cta.hidesText ? null : cta.value,
  media: media.map((kind) => ({ kind, url: `https://media.example/${kind}`, poster_url: null })),
});

const scanOfFields = fc
  .record({
    hours: fc.integer({ min: 0, max: 30 }),
    complete: fc.boolean(),
    country: fc.constantFrom('US', 'DE'),
    shown: fc.array(fc.option(fc.tuple(content, fc.boolean()), { freq: 3 }), { minLength: 3, maxLength: 3 }),
  })
  .map(
    ({ hours, complete, country, shown }): Scan => ({
      options: {
        complete,
        countries: [country],
        at: new Date(Date.UTC(2026, 4, 1, hours * 5)).toISOString(),
      },
      ads: shown.flatMap((one, id) => (one ? [ad(id, { ...fieldsOf(one[0]), is_active: one[1] })] : [])),
    }),
  );

it('gives the same content in any order of arrival, whichever fields the scans left blank', () => {
  fc.assert(
    fc.property(arrivals(scanOfFields), ([scans, shuffled]) => {
      const inOrder = scans.toSorted((a, b) => (a.options.at < b.options.at ? -1 : 1));
      expect(outcomeOf(recorded(shuffled))).toEqual(outcomeOf(recorded(inOrder)));
    }),
    { numRuns: WORLDS },
  );
});

it('keeps the text that a late scan shows when the scan after it left the text blank', () => {
  const at = (day: number): ScanOptions => ({ at: `2026-05-0${day}T10:00:00Z` });
  const scans: readonly [Scan, Scan, Scan] = [
    { options: at(1), ads: [ad(1, { body: 'One', caption: 'first', started_on: '2026-05-01' })] },
    { options: at(2), ads: [ad(1, { body: 'Two', caption: 'second', started_on: '2026-05-02' })] },
    { options: at(3), ads: [ad(1)] },
  ];
  const [a, b, c] = scans;
  for (const order of [scans, [a, c, b], [c, b, a], [b, c, a], [c, a, b]]) {
    const [one] = recorded(order).state.ads.values();
    expect(one, JSON.stringify(order)).toMatchObject({
      content: { body: 'Two', caption: 'second' },
      started_on: '2026-05-02',
    });
  }
});

it('keeps the text that a scan repeated when a late scan shows an older one', () => {
  const at = (day: number): ScanOptions => ({ at: `2026-05-0${day}T10:00:00Z` });
  const scans: readonly [Scan, Scan, Scan] = [
    { options: at(1), ads: [ad(1, { body: 'One' })] },
    { options: at(2), ads: [ad(1, { body: 'Two' })] },
    { options: at(3), ads: [ad(1, { body: 'One' })] },
  ];
  const [a, b, c] = scans;
  for (const order of [scans, [a, c, b], [c, b, a]]) {
    expect([...recorded(order).state.ads.values()]).toMatchObject([{ content: { body: 'One' } }]);
  }
});

it('judges an ad of a page that only a partial scan named the same way in any order', () => {
  const named: ScanOptions = { at: '2026-05-01T00:00:00Z', complete: false, pages: [PAGE, OTHER_PAGE] };
  const search: ScanOptions = { at: '2026-05-01T05:00:00Z' };
  const finding: ScanOptions = { at: '2026-05-01T10:00:00Z', complete: false };
  const found = [ad(4, { page_id: OTHER_PAGE, started_on: '2026-05-04' })];
  const scans: readonly [Scan, Scan, Scan] = [
    { options: named, ads: [] },
    { options: search, ads: [] },
    { options: finding, ads: found },
  ];
  const [a, b, c] = scans;
  expect([...recorded(scans).state.ads.values()]).toMatchObject([{ novelty: 'news' }]);
  expect(outcomeOf(recorded([a, c, b]))).toEqual(outcomeOf(recorded(scans)));
});

it('adds no country of a scan to an ad that names others, when another scan arrives late', () => {
  const us = (day: number): ScanOptions => ({ at: `2026-05-0${day}T10:00:00Z` });
  const named = [{ ...ad(1), countries: ['CA'] }];
  const scans: readonly [Scan, Scan, Scan] = [
    { options: us(1), ads: named },
    { options: us(2), ads: named },
    { options: us(3), ads: [{ ...ad(1), countries: [] }] },
  ];
  const [a, b, c] = scans;
  for (const order of [scans, [a, c, b], [c, b, a]]) {
    const shop = recorded(order);
    expect([...shop.state.ads.values()], JSON.stringify(order)).toMatchObject([{ countries: ['CA'] }]);
  }
});

it('does not count an ad as seen by a scan that missed it when a late scan names its page', () => {
  const pageless: Scan = {
    options: { at: '2026-05-01T10:00:00Z' },
    ads: [ad(1, { page_id: null })],
  };
  const telling: Scan = { options: { at: '2026-05-03T10:00:00Z', countries: ['DE'] }, ads: [ad(1)] };
  const missing: Scan = { options: { at: '2026-05-04T10:00:00Z' }, ads: [] };
  const scans = [pageless, telling, missing];
  const outcome = outcomeOf(recorded(scans));
  expect(outcome.ads).toMatchObject([{ seen_at: '2026-05-03T10:00:00.000Z', status: 'active' }]);
  expect(outcomeOf(recorded([pageless, missing, telling]))).toEqual(outcome);
});

it('reports a stop that only a late scan confirms, although the ad is back since', () => {
  const day = (number: number): ScanOptions => ({ at: `2026-05-0${number}T10:00:00Z` });
  const scans: readonly [Scan, Scan, Scan, Scan] = [
    { options: day(1), ads: [ad(1)] },
    { options: day(2), ads: [] },
    { options: day(3), ads: [] },
    { options: day(4), ads: [ad(1)] },
  ];
  const [a, b, c, d] = scans;
  const outcome = outcomeOf(recorded(scans));
  expect(outcome.reports).toHaveLength(1);
  expect(outcomeOf(recorded([a, b, d, c]))).toEqual(outcome);
});
