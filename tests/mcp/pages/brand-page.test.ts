import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { getBrandDailyActivity } from '#operations/brands/activity.ts';
import { getBrand } from '#operations/brands/brands.ts';
import { getBrandCoverage } from '#operations/brands/coverage.ts';
import { listRadar } from '#operations/radar.ts';
import { PLOT_DAYS, activityPlot, activityTable, daysUntil } from '#services/mcp/pages/activity-plot.ts';
import { type BrandPage, type KnownBrand, brandPage, brandsPage } from '#services/mcp/pages/brand-page.ts';
import { escapeHtml } from '#services/mcp/pages/layout.ts';

/** Leaves every context of HTML in which it is not escaped. */
const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(1)></title>`;
const LAST = '2026-11-20';

const membership = {
  workspaceId: HOSTILE,
  workspaceName: HOSTILE,
  memberId: 'mem_1',
  role: 'owner',
  plan: 'pro',
} as const;
const brand = { ...(getBrand.reply.example as KnownBrand['brand']), name: HOSTILE };
const [item] = listRadar.reply.example as KnownBrand['radar'];
const hostileItem = {
  ...(item as KnownBrand['radar'][number]),
  type: 'destination_changed',
  destination_url: `javascript:${HOSTILE}`,
  previous_destination_url: HOSTILE,
} as const;
const known: KnownBrand = {
  brand,
  activity: getBrandDailyActivity.reply.example as KnownBrand['activity'],
  radar: [{ ...hostileItem, ad: { ...hostileItem.ad, title: HOSTILE, body: HOSTILE } }],
  cursor: 'next',
  coverage: getBrandCoverage.reply.example as KnownBrand['coverage'],
  past: null,
};
const page: BrandPage = {
  membership,
  brand,
  firstObservedAt: new Date('2026-10-01T06:00:00Z'),
  now: new Date(`${LAST}T12:00:00Z`),
  moments: {},
  isTracked: true,
  known,
};

describe('the page of a brand', () => {
  test('shows hostile texts as text, and links to the web only', () => {
    const tracked = { brand, cadence: 'daily', created_at: LAST, freshness: { as_of: null } } as never;
    for (const text of [brandPage(page), brandsPage(membership, [tracked], '/next')]) {
      expect(text).toContain(escapeHtml(HOSTILE));
      const own = text.replaceAll(escapeHtml(HOSTILE), '');
      expect(own).not.toMatch(/alert\(|onerror|href="(?!https:|\/)/);
      expect(own.match(/<script\b[^>]*>/g) ?? []).toEqual(
        text.includes('id="moment"') ? ['<script type="module" src="/account/files/brand.js">'] : [],
      );
    }
  });

  test('says whether nothing changed or the workspace does not track the brand', () => {
    const quiet = { ...known, radar: [], cursor: null };
    expect(brandPage({ ...page, known: quiet })).not.toContain('does not track the brand');
    expect(brandPage({ ...page, known: quiet, isTracked: false })).toContain('does not track the brand');
  });

  test.each([
    [
      { as_of: `${LAST}T06:00:00Z` },
      'As known at 20 November 2026 at 06:00 UTC: rests on 7 events; 2 more were',
    ],
    [
      { observed_as_of: `${LAST}T06:00:00Z` },
      'As observed by 20 November 2026 at 06:00 UTC: rests on 7 events, 2 of',
    ],
    [
      { as_of: `${LAST}T06:00:00Z`, observed_as_of: '2026-11-19T06:00:00Z' },
      'As known at 20 November 2026 at 06:00 UTC and observed by 19 November 2026 at 06:00 UTC: rests on 7',
    ],
  ])('of %j says so, and leads to older changes of the same moment', (moments, words) => {
    const text = brandPage({ ...page, moments, known: { ...known, past: { events: 7, late: 2 } } });
    expect(text).toContain(words);
    const [, query = ''] = /\?([^"]*)#radar">Show older/.exec(text) ?? [];
    const { cursor, ...others } = Object.fromEntries(new URLSearchParams(query.replaceAll('&amp;', '&')));
    expect([cursor, others]).toEqual(['next', moments]);
  });

  test('states no figure of a brand that no scan has observed', () => {
    const unseen = { ...known, brand: { ...brand, active_ads: 0, total_ads: 0 }, activity: [], radar: [] };
    const text = brandPage({ ...page, known: unseen });
    expect(text.match(/<dd><strong>([^<]*)/g)).toEqual(['<dd><strong>–']);
    expect(text).toContain('No scan has observed the brand by then.');
  });

  test.each([
    ['2026-09-01T06:00:00Z', DAY_MS],
    [`${LAST}T06:00:00Z`, 60_000],
    [`${LAST}T11:59:00Z`, 1_000],
  ])('that was first observed at %s has a slider in units of %d ms, which ends now', (first, unitMs) => {
    const text = brandPage({ ...page, firstObservedAt: new Date(first) });
    expect(text).toContain(`data-unit-ms="${unitMs}"`);
    const [, min, max, value] = /min="(\d+)" max="(\d+)" value="(\d+)"/.exec(text) ?? [];
    expect(value).toBe(max);
    expect(Number(min) * unitMs).toBeGreaterThanOrEqual(Date.parse(first));
    expect(Number(max) * unitMs).toBeGreaterThanOrEqual(page.now.getTime());
  });
});

test('the list of brands has a row for each, in order, and no figure of one that was not scanned', () => {
  const scanned = {
    brand: { ...brand, name: 'Zeta', active_ads: 1_234 },
    freshness: { as_of: `${LAST}T06:00:00Z` },
  };
  const fresh = { brand: { ...brand, name: 'Alpha', category: null }, freshness: { as_of: null } };
  const text = brandsPage(membership, [scanned, fresh] as never, null);
  const cells = [...text.matchAll(/<t[hd](?: scope="row")?>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
    cell.replaceAll(/<[^>]*>/g, '').trim(),
  );
  expect(cells).toEqual([
    `Zeta ${brand.domain}`,
    brand.category?.name,
    `1,234 ${brand.new_ads_7d} new in 7 days`,
    '20 November 2026 at 06:00 UTC',
    `Alpha ${brand.domain}`,
    '–',
    '–',
    'not scanned yet',
  ]);
});

const dayArbitrary = fc.record({
  before: fc.nat(PLOT_DAYS - 1),
  active_ads: fc.nat(5_000),
  new_ads: fc.nat(50),
  retired_ads: fc.nat(50),
  reliable: fc.boolean(),
});

test('the plot and its table say of each day whether it was observed, and of no other day a figure', () => {
  fc.assert(
    fc.property(fc.uniqueArray(dayArbitrary, { selector: ({ before }) => before }), (observed) => {
      const activity = observed.map(({ before, ...figures }) => ({
        date: utcDateOfMs(Date.parse(LAST) - before * DAY_MS),
        ...figures,
      }));
      const days = daysUntil(LAST, activity);
      const plot = activityPlot(days).html;
      const titles = [...plot.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title = '']) => title);
      expect(titles).toHaveLength(PLOT_DAYS);
      const reliable = observed.filter((day) => day.reliable).length;
      expect(titles.filter((title) => /^\d+ \w+: not observed$/.test(title))).toHaveLength(
        PLOT_DAYS - observed.length,
      );
      const incomplete = titles.filter((title) => title.endsWith('(not completely observed)'));
      expect(incomplete).toHaveLength(observed.length - reliable);
      for (const title of incomplete) {
        expect(title).toMatch(/ new: (at least [1-9]\d*|not known), stopped: (at least [1-9]\d*|not known) /);
      }
      const [, drawn = ''] = plot.split('role="img"');
      expect(drawn.match(/class="scan"/g) ?? []).toHaveLength(reliable);
      expect(drawn.match(/class="point( open)?"/g) ?? []).toHaveLength(observed.length);
      const table = activityTable(days).html;
      expect(table.match(/<td>(not )?completely<\/td>/g) ?? []).toHaveLength(observed.length);
      expect(table.includes('<td>not observed</td>')).toBe(observed.length < PLOT_DAYS);
    }),
  );
});
