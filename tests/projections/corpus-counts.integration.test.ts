import fc from 'fast-check';
import { describe, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { categoryIdOf } from '#domain/ids.ts';
import { brands } from '#projections/brands/project.ts';
import { readSystemFreshness } from '#projections/brands/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { brand, idOf, scanned } from './fixtures/network-events.ts';
import { seedOf } from '#tests/property-seed.ts';

/** The counts are updated as brands change; a plain count of the brands at the end is expected. */
const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;
const CATEGORIES = ['Socks', 'Shoes', null] as const;
const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const STEPS = 40;

type Step = {
  readonly kind: 'register' | 'move' | 'scan' | 'late';
  readonly name: string;
  readonly category: (typeof CATEGORIES)[number];
  readonly atMs: number;
  readonly ads: number;
};
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('register', 'move', 'scan', 'scan', 'late'),
  name: fc.constantFrom(...NAMES),
  category: fc.constantFrom(...CATEGORIES),
  // Some times lie exactly a week apart, and some a minute away from that.
  atMs: fc.oneof(
    fc.constantFrom(0, 60_000, 7 * DAY_MS, 7 * DAY_MS + 60_000),
    fc.integer({ min: 0, max: 14 * DAY_MS }),
  ),
  ads: fc.nat(9),
});

type Scanned = { readonly scannedMs: number; readonly ads: number };

const pathOf = (category: string | null) =>
  category === null ? [] : [{ id: categoryIdOf([category]), slug: category.toLowerCase(), name: category }];

const scanOf = ({ kind, name, atMs, ads }: Step): GivenEvent => {
  const event = scanned(name, 1).event as Extract<AdLibraryEvent, { type: 'ScanRecorded' }>;
  const { data } = event;
  const observed_at = new Date(START_MS + atMs).toISOString();
  return {
    stream: adLibraryStream(idOf(name)),
    event: {
      ...event,
      data: {
        ...data,
        observed_at,
        late_arrival: kind === 'late',
        totals: { ...data.totals, active: ads, total: ads },
      },
    },
  };
};

const storyOf = (steps: readonly Step[]) => {
  const events: GivenEvent[] = [];
  const registered = new Map<string, string | null>();
  const seen = new Map<string, Scanned>();
  for (const told of steps) {
    const { kind, name, category, atMs, ads } = told;
    if (kind === 'register' && !registered.has(name)) {
      events.push(brand(name, { category_path: pathOf(category) }));
      registered.set(name, category);
    } else if (kind === 'move' && registered.has(name)) {
      const data = {
        brand_id: idOf(name),
        observed_at: new Date(START_MS + atMs).toISOString(),
        changes: { category_path: pathOf(category) },
      };
      events.push({ stream: brandStream(idOf(name)), event: { type: 'BrandProfileChanged', data } });
      registered.set(name, category);
    } else if (kind === 'scan' || kind === 'late') {
      const newestMs = seen.get(name)?.scannedMs ?? null;
      // With two scans at one time either may count, so the test avoids that case.
      if (newestMs === atMs) continue;
      events.push(scanOf(told));
      if (kind === 'scan' && (newestMs === null || atMs > newestMs)) seen.set(name, { scannedMs: atMs, ads });
    }
  }
  const there = [...registered].map(([name, category]) => ({
    category,
    scannedMs: seen.get(name)?.scannedMs ?? null,
    ads: seen.get(name)?.ads ?? 0,
  }));
  return { events, there };
};

const expected = (there: ReturnType<typeof storyOf>['there']) => {
  const scans = there.flatMap(({ scannedMs }) => (scannedMs === null ? [] : [scannedMs]));
  const newestMs = scans.length === 0 ? null : Math.max(...scans);
  return {
    ads_total: there.reduce((sum, { ads }) => sum + ads, 0),
    brands_total: there.length,
    brands_with_usable_data: scans.length,
    last_scrape_at: newestMs === null ? null : new Date(START_MS + newestMs).toISOString(),
    coverage: ['Shoes', 'Socks'].flatMap((name) => {
      const within = there.filter(({ category }) => category === name);
      const brands_scraped_7d = within.filter(
        ({ scannedMs }) => scannedMs !== null && newestMs !== null && scannedMs > newestMs - 7 * DAY_MS,
      ).length;
      return within.length === 0
        ? []
        : [{ category_slug: name.toLowerCase(), brands: within.length, brands_scraped_7d }];
    }),
  };
};

const shown = async (db: ReadDatabase) => {
  const { data_version: _, ...counts } = await readSystemFreshness(db);
  return counts;
};

describe('counts of the corpus', () => {
  it.each([1, 2, 3])('equal a plain count of the brands at the end (seed %i)', async (seed) => {
    const stories = fc.array(step, { minLength: STEPS, maxLength: STEPS });
    const [steps = []] = fc.sample(
      stories.filter((one) => storyOf(one).there.length > 2),
      { seed: seedOf(seed), numRuns: 1 },
    );
    const { events, there } = storyOf(steps);
    await given(events).into(brands).shows(shown, expected(there));
  });

  it('are zero before the first brand', async () => {
    await given([]).into(brands).shows(shown, expected([]));
  });
});
