import { describe, it } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { rankings } from '#projections/rankings/project.ts';
import { listRisers } from '#projections/rankings/read.ts';
import { given } from '../dsl/projections.ts';
import { histories } from './fixtures/library-histories.ts';

const risersOf = async (db: ReadDatabase) =>
  (await listRisers(db, {}, { limit: 10, after: null })).rows.map(
    ({ brand_id, active_ads, previous_active_ads }) => [brand_id, active_ads, previous_active_ads],
  );

describe('risers', () => {
  const PAGES = ['100000001', '100000002'] as const;
  const onPage = (page: string, from: number, count: number, novelty: 'baseline' | 'news' = 'baseline') =>
    Array.from({ length: count }, (_, index) => ({ id: `9${from + index}`, ad: { page_id: page, novelty } }));

  it('are compared by the scan with the higher id, of two of the same time', async () => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', { name: 'a', day: 4, totals: { active: 1 } });
    world.scan('shop', { name: 'z', day: 13, totals: { active: 5 } });
    world.scan('shop', { name: 'b', day: 13, totals: { active: 3 } });
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('shop'), 5, 1]]);
  });

  it('show no growth of a brand with constant ads whose second page is covered from day 8 on', async () => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', { name: 'a', day: 1, totals: { active: 3 }, starts: onPage(PAGES[0], 0, 3) });
    for (let day = 2; day < 8; day += 1) world.scan('shop', { name: `d${day}`, day, totals: { active: 3 } });
    const starts = onPage(PAGES[1], 10, 50);
    world.scan('shop', { name: 'e', day: 8, pages: PAGES, totals: { active: 53 }, starts });
    await given(world.events).into(rankings).shows(risersOf, []);
    world.scan('shop', { name: 'f', day: 12, pages: PAGES, totals: { active: 53 } });
    await given(world.events).into(rankings).shows(risersOf, []);
    // From the 15th day on, both days cover the second page.
    const news = onPage(PAGES[1], 90, 2, 'news');
    world.scan('shop', { name: 'g', day: 16, pages: PAGES, totals: { active: 55 }, starts: news });
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('shop'), 55, 53]]);
  });

  it('compare only the countries that both days covered', async () => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', { name: 'a', day: 1, totals: { active: 3 }, starts: onPage(PAGES[0], 0, 3) });
    const abroad = onPage(PAGES[0], 10, 9).map(({ id, ad }) => ({ id, ad: { ...ad, countries: ['CA'] } }));
    const news = onPage(PAGES[0], 90, 1, 'news');
    world.scan('shop', {
      name: 'b',
      day: 9,
      countries: ['US', 'CA'],
      totals: { active: 13 },
      starts: [...abroad, ...news],
    });
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('shop'), 4, 3]]);
  });

  it('count an ad that names no country only if both days covered all countries that its scan requested', async () => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', { name: 'a', day: 1, totals: { active: 3 }, starts: onPage(PAGES[0], 0, 3) });
    const unnamed = (from: number, count: number, requested_countries: readonly string[]) =>
      onPage(PAGES[0], from, count).map(({ id, ad }) => ({
        id,
        ad: { ...ad, countries: [], requested_countries },
      }));
    const countries = ['US', 'CA'];
    const starts = [...unnamed(10, 9, ['CA', 'US']), ...onPage(PAGES[0], 90, 1, 'news')];
    world.scan('shop', { name: 'b', day: 9, countries, totals: { active: 13 }, starts });
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('shop'), 4, 3]]);
    world.scan('shop', {
      name: 'c',
      day: 17,
      countries,
      totals: { active: 15 },
      starts: unnamed(30, 2, ['CA', 'US']),
    });
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('shop'), 15, 13]]);
  });

  it('do not count ads that came from another brand, also if the earlier totals are corrected after the move', async () => {
    const world = histories();
    for (const name of ['from', 'to']) world.brand(name);
    world.scan('from', { name: 'a', day: 1, totals: { active: 3 }, starts: onPage(PAGES[0], 0, 3) });
    world.scan('to', { name: 'b', day: 1, totals: { active: 2 }, starts: onPage(PAGES[0], 50, 2) });
    world.move('from', 'to', '90', 5);
    const starts = onPage(PAGES[0], 70, 1, 'news');
    world.scan('to', { name: 'c', day: 9, totals: { active: 4 }, starts });
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('to'), 3, 2]]);
    // Totals hold the moves up to the time of their scan, whenever they are stated.
    world.correctScan('to', 'b', { active: 2 });
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('to'), 3, 2]]);
  });

  it('do not count ads that came from another brand between the days, also if the log has the move later', async () => {
    const world = histories();
    for (const name of ['from', 'to']) world.brand(name);
    world.scan('from', { name: 'a', day: 1, totals: { active: 3 }, starts: onPage(PAGES[0], 0, 3) });
    world.scan('to', { name: 'b', day: 1, totals: { active: 2 }, starts: onPage(PAGES[0], 50, 2) });
    const starts = onPage(PAGES[0], 70, 1, 'news');
    world.scan('to', { name: 'c', day: 9, totals: { active: 4 }, starts });
    world.move('from', 'to', '90', 5);
    await given(world.events)
      .into(rankings)
      .shows(risersOf, [[world.idOf('to'), 3, 2]]);
  });

  it('exclude a brand whose earlier day became unreliable by a correction', async () => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', { name: 'a', day: 1, totals: { active: 3 } });
    world.scan('shop', { name: 'b', day: 9, totals: { active: 5 } });
    world.correctScan('shop', 'a', { active: 3 }, false);
    await given(world.events).into(rankings).shows(risersOf, []);
  });
});
