import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expandLooks, lastShowing } from '#domain/corpus/ad-library/timeline.ts';
import { ad, library, PAGE } from '#tests/dsl/scans.ts';

const FIELDS = ['body', 'title'] as const;

const anyScan = fc.record({
  hours: fc.integer({ min: 0, max: 30 }),
  complete: fc.boolean(),
  pages: fc.constantFrom([PAGE], ['200000002'], []),
  country: fc.constantFrom('US', 'DE'),
  shown: fc.option(
    fc.record({
      body: fc.constantFrom('One', 'Two', null),
      title: fc.constantFrom('One', 'Two', null),
      ended: fc.boolean(),
      hidesPage: fc.boolean(),
    }),
  ),
});

it('the last scan that showed a field is the last one that the expanded looks have it of', () => {
  const scans = fc.array(anyScan, { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(scans, (all) => {
      const shop = library();
      for (const { hours, complete, pages, country, shown } of all) {
        const at = new Date(Date.UTC(2026, 4, 1, hours * 5)).toISOString();
        const { ended = false, hidesPage = false, ...fields } = shown ?? {};
        const page = hidesPage ? { page_id: null } : {};
        const ads = shown === null ? [] : [ad(1, { ...fields, ...page, is_active: !ended })];
        shop.scan({ at, complete, pages, countries: [country] }, ads);
      }
      for (const { looks } of shop.state.ads.values()) {
        const expanded = expandLooks(looks, shop.log);
        for (const field of FIELDS) {
          const expected = shop.log.findLast(({ scan_id }) => expanded.get(scan_id)?.shown?.[field]);
          expect(lastShowing(looks, shop.log, field)?.scan_id).toBe(expected?.scan_id);
        }
      }
    }),
  );
});
