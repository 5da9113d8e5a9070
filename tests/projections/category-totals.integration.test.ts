import { brandProfile, recordProfile, trafficEstimate } from '#tests/dsl/site-events.ts';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { trafficStream } from '#contracts/events/corpus/traffic.ts';
import { brand } from '#domain/corpus/brand.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { recordTrafficEstimate, traffic } from '#domain/corpus/traffic.ts';
import { categories } from '#projections/categories/project.ts';
import { findCategory } from '#projections/categories/read.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { scanRecorded } from '#tests/dsl/ad-events.ts';
import { seedOf } from '#tests/property-seed.ts';

const PATHS = [
  ['Apparel'],
  ['Apparel', 'Shoes'],
  ['Apparel', 'Shoes', 'Boots'],
  ['Apparel', 'Hats'],
  ['Pets', 'Dogs', 'Leashes'],
] as const;
const CATEGORIES = [
  ...new Set(PATHS.flatMap((path) => path.map((_, index) => path.slice(0, index + 1).join('>')))),
];
const BRANDS = 4;
const STEPS = 60;
const SEEDS = [7, 8];

const step = fc.record({
  who: fc.nat(BRANDS - 1),
  what: fc.oneof(
    fc.record({
      kind: fc.constant('profile' as const),
      path: fc.constantFrom(...PATHS),
      shown: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('scan' as const), active: fc.nat(20), more: fc.nat(20) }),
    fc.record({
      kind: fc.constant('estimate' as const),
      month: fc.integer({ min: 1, max: 5 }),
      visits: fc.nat(900),
    }),
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const domainOf = (who: number): string => `brand-${who}.example`;
const at = (index: number): string =>
  new Date(Date.parse('2026-06-01T00:00:00.000Z') + index * 60_000).toISOString();

class Brand {
  readonly domain: string;
  readonly id: string;
  #profile = brand.initial;
  #traffic = traffic.initial;
  path: readonly string[] = [];
  shown = false;
  active = 0;
  total = 0;
  readonly months = new Map<number, number>();

  constructor(who: number) {
    this.domain = domainOf(who);
    this.id = brandIdOf(this.domain);
  }

  get visits(): number | null {
    return this.months.get(Math.max(...this.months.keys())) ?? null;
  }

  live({ what }: Step, index: number): GivenEvent[] {
    switch (what.kind) {
      case 'profile': {
        [this.path, this.shown] = [what.path, what.shown];
        const events = recordProfile(
          brandProfile({
            domain: this.domain,
            observed_at: at(index),
            name: 'A brand',
            category_path: [...what.path],
            is_public: what.shown,
          }),
        )(this.#profile);
        this.#profile = events.reduce(brand.evolve, this.#profile);
        return events.map((event) => ({ stream: brandStream(this.id), event }));
      }
      case 'scan': {
        [this.active, this.total] = [what.active, what.active + what.more];
        return [{ stream: adLibraryStream(this.id), event: this.#scanned(index) }];
      }
      case 'estimate': {
        this.months.set(what.month, what.visits);
        const events = recordTrafficEstimate(
          trafficEstimate({
            domain: this.domain,
            observed_at: at(index),
            period: `2026-0${what.month}`,
            monthly_visits: what.visits,
          }),
        )(this.#traffic);
        this.#traffic = events.reduce(traffic.evolve, this.#traffic);
        return events.map((event) => ({ stream: trafficStream(this.domain), event }));
      }
    }
  }

  #scanned(index: number): AdLibraryEvent {
    const { active, total } = this;
    return scanRecorded(this.id, at(index), { totals: { seen: active, active, total } });
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** `null` for a category that was never named. */
const expected = (name: string, brands: readonly Brand[], named: ReadonlySet<string>): object | null => {
  if (!named.has(name)) return null;
  const inside = brands.filter(({ path, shown }) => shown && `${path.join('>')}>`.startsWith(`${name}>`));
  const visited = inside.flatMap(({ visits }) => visits ?? []);
  return {
    brands: inside.length,
    active_ads: sumOf(inside.map(({ active }) => active)),
    total_ads: sumOf(inside.map(({ total }) => total)),
    brands_with_traffic: visited.length,
    monthly_visits: visited.length === 0 ? null : sumOf(visited),
  };
};

describe('totals of categories', () => {
  it.each(SEEDS)('equal the sums over the current brands, seed %i', async (seed) => {
    const [steps = []] = fc.sample(fc.array(step, { minLength: STEPS, maxLength: STEPS }), {
      numRuns: 1,
      seed: seedOf(seed),
    });
    const brands = Array.from({ length: BRANDS }, (_, who) => new Brand(who));
    const named = new Set<string>();
    const events = steps.flatMap((one, index) => {
      const own = brands[one.who]?.live(one, index) ?? [];
      if (one.what.kind === 'profile') {
        const { path } = one.what;
        path.forEach((_, level) => named.add(path.slice(0, level + 1).join('>')));
      }
      return own;
    });
    await given(events)
      .into(categories)
      .shows(
        async (db) => {
          const found: Record<string, unknown> = {};
          for (const name of CATEGORIES) {
            const document = await findCategory(db, categoryIdOf(name.split('>')));
            found[name] = document && JSON.parse(document.item.replaceAll('\u0001', '')).totals;
          }
          return found;
        },
        Object.fromEntries(CATEGORIES.map((name) => [name, expected(name, brands, named)])),
      );
  });
});
