import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Database } from '#platform/postgres/pool.ts';
import { brands } from '#projections/brands/project.ts';
import { categories } from '#projections/categories/project.ts';
import { dailyActivity } from '#projections/daily-activity/project.ts';
import type { Projection } from '#projections/define-projection.ts';
import { freshness } from '#projections/freshness/project.ts';
import { newAdvertisers } from '#projections/new-advertisers/project.ts';
import { rankings } from '#projections/rankings/project.ts';
import { velocity } from '#projections/velocity/project.ts';
import { applyBatch } from '#services/projector/apply/apply-batch.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { openPlannedOnce } from '../dsl/planned-once.ts';
import { type GivenEvent, interleave, type OpenTargets, openTargets, recorded } from '../dsl/projections.ts';
import { createTestDatabase } from '../stack/database.ts';
import { checksums } from '../stack/read-models.ts';
import { dayOf, histories, PAGE_ONE, timeOf } from './fixtures/library-histories.ts';
import { runs } from '#tests/property-seed.ts';

/** Any batch sizes and any interleaving of the streams must give the same tables. */
const PROJECTIONS = [brands, categories, dailyActivity, freshness, newAdvertisers, rankings, velocity];
const RUNS = 2;
const BRANDS = ['one', 'two'];
const PAGES = [PAGE_ONE, '100000002'];

const brand = fc.constantFrom(...BRANDS);
const small = fc.nat(9);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('scan' as const),
      brand,
      name: fc.constantFrom('a', 'b', 'c'),
      // Few times, so that scans tie often. Most comparisons of days need two weeks.
      week: fc.nat(2),
      hour: fc.constantFrom(8, 8, 8, 9),
      reliable: fc.boolean(),
      complete: fc.boolean(),
      late: fc.constantFrom(undefined, undefined, 'undecided' as const, 'chronological' as const),
      scannedFor: brand,
      pages: fc.subarray(PAGES),
      countries: fc.subarray(['US', 'CA', 'ALL'], { minLength: 1 }),
      figures: fc.tuple(small, small, small, small, fc.nat(1)),
      starts: fc.array(
        fc.record({
          page: fc.constantFrom(...PAGES),
          started: fc.option(small),
          format: fc.constantFrom('video' as const, 'image' as const),
          ended: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
      stops: fc.nat(2),
      returns: fc.nat(1),
      dated: fc.nat(1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('correctScan' as const),
      brand,
      pick: fc.nat(),
      figures: fc.tuple(small, small, small, small, fc.nat(1)),
      reliable: fc.boolean(),
      isNoLook: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('correctAd' as const),
      brand,
      pick: fc.nat(),
      seen: small,
      started: fc.option(small),
      ended: fc.boolean(),
      running: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('move' as const), brand, to: brand, pick: fc.nat() }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const totalsOf = ([active, more, news, stopped, seen]: readonly [
  number,
  number,
  number,
  number,
  number,
]) => ({
  active,
  total: active + more,
  news,
  stopped,
  seen,
});

const play = (steps: readonly Step[]): readonly GivenEvent[] => {
  const world = histories();
  const scans = new Map<string, string[]>(BRANDS.map((name) => [name, []]));
  const own = new Map<string, string[]>(BRANDS.map((name) => [name, []]));
  for (const name of BRANDS) {
    world.brand(name);
    world.track(name);
  }
  const pickFrom = (items: readonly string[], pick: number): string | undefined => items[pick % items.length];
  let ads = 0;
  for (const [index, one] of steps.entries()) {
    const ids = own.get(one.brand) ?? [];
    const names = scans.get(one.brand) ?? [];
    const having = (status: 'active' | 'inactive') =>
      ids.filter((id) => world.ads.get(id)?.status === status);
    if (one.kind === 'scan') {
      const name = `${one.name}${index}`;
      const day = one.week * 7 + 1;
      const starts = one.starts.map(({ page, started, format, ended }) => {
        ads += 1;
        const status: 'active' | 'inactive' = ended ? 'inactive' : 'active';
        const ad = { page_id: page, started_on: started === null ? null : dayOf(started), format, status };
        return { id: `90000000${ads}`, ad };
      });
      const stops = having('active').slice(0, one.stops);
      const returns = having('inactive').slice(0, one.returns);
      world.scan(one.brand, {
        ...one,
        name,
        day,
        totals: totalsOf(one.figures),
        starts,
        stops: stops.map((id) => ({ id, seenOn: day - 1 })),
        returns,
      });
      ids.push(...starts.map(({ id }) => id));
      names.push(name);
      const undated = ids.filter((id) => world.ads.get(id)?.started_on === null).slice(0, one.dated);
      for (const id of undated) world.dateAd(one.brand, name, id, dayOf(day - 1));
      // The end of a scan closes all that it showed.
      if (undated.length > 0) world.correctScan(one.brand, name, totalsOf(one.figures), one.reliable);
    } else if (one.kind === 'correctScan') {
      const name = pickFrom(names, one.pick);
      if (name) world.correctScan(one.brand, name, totalsOf(one.figures), one.reliable, one.isNoLook);
    } else if (one.kind === 'correctAd') {
      const [id, name] = [pickFrom(ids, one.pick), pickFrom(names, one.pick)];
      if (!id || !name) continue;
      world.correctAd(one.brand, name, id, {
        first_seen_at: timeOf(one.seen),
        started_on: one.started === null ? null : dayOf(one.started),
        status: one.ended ? 'inactive' : 'active',
        inactive_since: one.ended ? timeOf(one.seen + 2) : null,
        observed_running: one.running,
      });
    } else {
      const id = pickFrom(ids, one.pick);
      if (!id || one.to === one.brand) continue;
      world.move(one.brand, one.to, id, 30);
      ids.splice(ids.indexOf(id), 1);
      own.get(one.to)?.push(id);
    }
  }
  return world.events;
};

const build = async (
  database: Database,
  targets: OpenTargets,
  projection: Projection,
  events: readonly GivenEvent[],
  size: number,
): Promise<object> => {
  const target = await targets(projection);
  const wanted = recorded(events).filter(({ stream }) =>
    projection.prefixes.some((prefix) => stream.startsWith(prefix)),
  );
  for (let from = 0; from < wanted.length; from += size) {
    const batch = wanted.slice(from, from + size);
    await applyBatch(database, target, batch, batch.at(-1)?.position ?? 0n);
  }
  return checksums(database, [projection]);
};

test.each(PROJECTIONS.map((projection) => [projection.name, projection] as const))(
  'the tables of %s do not depend on batch sizes or the order of streams',
  async (_name, projection) => {
    const testDatabase = await createTestDatabase();
    const database = openPlannedOnce(testDatabase.url, 4);
    try {
      await createProjectorTables(database);
      const targets = openTargets(database);
      const steps = fc.array(step, { minLength: 20, maxLength: 40 });
      const picks = fc.array(fc.nat(6), { minLength: 5, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(steps, picks, fc.integer({ min: 2, max: 12 }), async (lives, turns, size) => {
          const events = play(lives);
          const rebuilt = await build(database, targets, projection, events, Number.POSITIVE_INFINITY);
          expect(await build(database, targets, projection, events, 1), 'event by event').toEqual(rebuilt);
          const mixed = interleave(events, turns);
          expect(await build(database, targets, projection, mixed, size), `mixed, ${size} a batch`).toEqual(
            rebuilt,
          );
        }),
        { numRuns: runs(RUNS) },
      );
    } finally {
      await database.end();
      await testDatabase.drop();
    }
  },
);
