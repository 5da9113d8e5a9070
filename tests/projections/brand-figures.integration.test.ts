import { describe, it } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { brands } from '#projections/brands/project.ts';
import { findBrand } from '#projections/brands/read.ts';
import { categories } from '#projections/categories/project.ts';
import { listCategories } from '#projections/categories/read.ts';
import { dailyActivity } from '#projections/daily-activity/project.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { newAdvertisers } from '#projections/new-advertisers/project.ts';
import { velocity } from '#projections/velocity/project.ts';
import { readVelocity } from '#projections/velocity/read.ts';
import { given } from '../dsl/projections.ts';
import { dayOf, histories, timeOf } from './fixtures/library-histories.ts';

const firstPage = { limit: 10, after: null };

const daysOf = (brandId: string) => async (db: ReadDatabase) =>
  (await readDailyActivity(db, brandId, {})).items.map((item) => {
    const day = JSON.parse(item) as Record<string, number | boolean | string>;
    return [day['date'], day['active_ads'], day['new_ads'], day['retired_ads'], day['reliable']];
  });

const weeksOf = (brandId: string) => async (db: ReadDatabase) =>
  (await readVelocity(db, brandId, 12)).items.map(
    (item) => (JSON.parse(item) as { active_ads: number }).active_ads,
  );

const detailOf =
  (fields: readonly string[], ...brandIds: readonly string[]) =>
  async (db: ReadDatabase) => {
    const found = await Promise.all(brandIds.map((id) => findBrand(db, { id })));
    return found.map((brand) => {
      const detail = JSON.parse((brand?.detail ?? 'null').replaceAll('\u0001', '')) as Record<
        string,
        unknown
      >;
      return fields.map((field) => detail[field]);
    });
  };

const totalsOfCategories = async (db: ReadDatabase) =>
  (await listCategories(db, {}, firstPage)).items.map((item) => {
    const { totals } = JSON.parse(item.replaceAll('\u0001', '')) as { totals: Record<string, number> };
    return [totals['active_ads'], totals['total_ads']];
  });

const firstAdsOf = async (db: ReadDatabase) =>
  (
    await db.query<{ first: string | null; scanned: string; active: string }>({
      sql: `select first_ad_started_on::text as first, (first_scan_at at time zone 'utc')::date::text as scanned,
          active_ads::text as active
        from new_advertisers.brand order by active_ads desc`,
      values: [],
    })
  ).map(({ first, scanned, active }) => [first, scanned, active]);

describe('two scans of the same time', () => {
  // The scan with the higher id comes first in the log.
  const tied = () => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', { name: 'a', day: 4, totals: { active: 1, total: 1 } });
    world.scan('shop', { name: 'z', day: 13, totals: { active: 5, total: 9, news: 1, seen: 5 } });
    world.scan('shop', { name: 'b', day: 13, totals: { active: 3, total: 7, news: 2, seen: 3 } });
    return { events: world.events, shop: world.idOf('shop') };
  };

  it('are ordered by id in daily activity', async () => {
    const { events, shop } = tied();
    await given(events)
      .into(dailyActivity)
      .shows(daysOf(shop), [
        [dayOf(4), 1, 0, 0, true],
        [dayOf(13), 5, 3, 0, true],
      ]);
  });

  it('are ordered by id in velocity', async () => {
    const { events, shop } = tied();
    await given(events).into(velocity).shows(weeksOf(shop), [1, 5]);
  });

  it('are ordered by id in the totals of categories', async () => {
    const { events } = tied();
    await given(events)
      .into(categories)
      .shows(totalsOfCategories, [[5, 9]]);
  });

  it('are ordered by id in the totals of the brand', async () => {
    const { events, shop } = tied();
    await given(events)
      .into(brands)
      .shows(detailOf(['active_ads', 'total_ads', 'new_ads_7d'], shop), [[5, 9, 3]]);
  });

  it('are ordered by id in new advertisers', async () => {
    const { events } = tied();
    await given(events)
      .into(newAdvertisers)
      .shows(firstAdsOf, [[null, dayOf(4), '5']]);
  });
});

describe('a scan that arrives late', () => {
  it('shows the figures in the order of observation, including corrections', async () => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', {
      name: 'a',
      day: 4,
      totals: { active: 1, total: 1, seen: 1 },
      starts: [{ id: '1' }],
    });
    world.scan('shop', {
      name: 'c',
      day: 6,
      totals: { active: 2, total: 2, news: 1, seen: 2 },
      starts: [{ id: '2', ad: { novelty: 'news' } }],
    });
    world.correctAd('shop', 'c', '2', { first_seen_at: timeOf(5) });
    world.scan('shop', {
      name: 'b',
      day: 5,
      late: 'chronological',
      totals: { active: 2, total: 2, news: 1, seen: 2 },
    });
    world.correctScan('shop', 'c', { active: 2, total: 2, news: 0, seen: 2 });
    const shop = world.idOf('shop');
    const days = [
      [dayOf(4), 1, 0, 0, true],
      [dayOf(5), 2, 1, 0, true],
      [dayOf(6), 2, 0, 0, true],
    ];
    await given(world.events).into(dailyActivity).shows(daysOf(shop), days);
    await given(world.events)
      .into(brands)
      .shows(detailOf(['active_ads', 'new_ads_7d', 'as_of'], shop), [[2, 1, timeOf(6)]]);
  });

  it('too late to be decided never overrides a scan in order, nor makes its day reliable', async () => {
    const world = histories();
    world.scan('shop', { name: 'a', day: 4, hour: 8, totals: { active: 7 }, reliable: false });
    world.scan('shop', {
      name: 'b',
      day: 4,
      hour: 9,
      late: 'undecided',
      totals: { active: 99, seen: 3, news: 1 },
    });
    world.scan('shop', { name: 'c', day: 3, late: 'undecided', totals: { active: 99, seen: 2 } });
    await given(world.events)
      .into(dailyActivity)
      .shows(daysOf(world.idOf('shop')), [
        [dayOf(3), 2, 0, 0, false],
        [dayOf(4), 7, 1, 0, false],
      ]);
  });
});

describe('an ad that changes its brand', () => {
  const FIELDS = ['active_ads', 'total_ads', 'formats', 'top_countries'];
  const formats = (image: number) => ({ video: 0, image, carousel: 0, dco: 0, other: 0 });
  const countries = (ads: number) => (ads === 0 ? [] : [{ country: 'US', ads }]);

  const moved = () => {
    const world = histories();
    for (const name of ['from', 'to']) world.brand(name);
    const starts = ['1', '2', '3'].map((id, index) => ({ id, ad: { started_on: dayOf(index) } }));
    world.scan('from', { name: 'a', day: 4, totals: { active: 3, total: 3, seen: 3 }, starts });
    world.scan('to', { name: 'b', day: 4, totals: { active: 0, total: 0 } });
    world.move('from', 'to', '1', 5);
    return world;
  };

  it('counts for the new brand at once', async () => {
    const world = moved();
    await given(world.events)
      .into(brands)
      .shows(detailOf(FIELDS, world.idOf('from'), world.idOf('to')), [
        [2, 2, formats(2), countries(2)],
        [1, 1, formats(1), countries(1)],
      ]);
    await given(world.events)
      .into(categories)
      .shows(totalsOfCategories, [[3, 3]]);
    await given(world.events)
      .into(newAdvertisers)
      .shows(firstAdsOf, [
        [dayOf(1), dayOf(4), '2'],
        [dayOf(0), dayOf(4), '1'],
      ]);
  });

  it('is not counted twice when the totals of the scan are stated again', async () => {
    const world = moved();
    // A correction states the totals of the scan's own time, which is before the move.
    world.correctScan('from', 'a', { active: 3, total: 3, news: 1 });
    world.correctScan('to', 'b', { active: 0, total: 0, news: 1 });
    world.move('from', 'to', '2', 6);
    await given(world.events)
      .into(brands)
      .shows(detailOf(['active_ads', 'total_ads'], world.idOf('from'), world.idOf('to')), [
        [1, 1],
        [2, 2],
      ]);
  });
});

describe('the average lifespan', () => {
  const averageOf = (world: ReturnType<typeof histories>) => ({
    is: (days: number | null) =>
      given(world.events)
        .into(brands)
        .shows(detailOf(['avg_ad_lifespan_days'], world.idOf('shop')), [[days]]),
  });
  const started = (...ids: readonly string[]) => {
    const world = histories();
    world.brand('shop');
    const starts = ids.map((id) => ({ id, ad: { started_on: dayOf(1) } }));
    world.scan('shop', { name: 'a', day: 2, starts });
    return world;
  };

  it('leaves out an ad that was first met as ended, without a stop date', async () => {
    const world = histories();
    world.brand('shop');
    const ended = { status: 'inactive' as const, started_on: dayOf(1) };
    world.scan('shop', { name: 'a', day: 300, starts: [{ id: '1', ad: ended }] });
    await averageOf(world).is(null);
    world.scan('shop', {
      name: 'b',
      day: 301,
      starts: [{ id: '2', ad: { ...ended, stopped_on: dayOf(11) } }],
    });
    await averageOf(world).is(10);
  });

  it('runs to the last day seen running, from the first day seen when the library has no start date', async () => {
    const world = started('1');
    world.scan('shop', { name: 'b', day: 3, starts: [{ id: '2' }] });
    world.scan('shop', {
      name: 'c',
      day: 9,
      stops: [
        { id: '1', seenOn: 5 },
        { id: '2', seenOn: 5 },
      ],
    });
    await averageOf(world).is(3);
  });

  it('counts an ad once, however often it ended', async () => {
    const world = started('1', '2');
    world.scan('shop', {
      name: 'b',
      day: 9,
      stops: [
        { id: '1', seenOn: 5 },
        { id: '2', seenOn: 3 },
      ],
    });
    await averageOf(world).is(3);
    world.scan('shop', { name: 'c', day: 12, returns: ['1'] });
    await averageOf(world).is(2);
    world.scan('shop', { name: 'd', day: 20, stops: [{ id: '1', seenOn: 17 }] });
    await averageOf(world).is(9);
  });
});
