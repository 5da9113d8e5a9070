import { describe, it } from 'vitest';
import { ads } from '#projections/ads/project.ts';
import { findAd } from '#projections/ads/read.ts';
import { given } from '../dsl/projections.ts';
import { dayOf, histories, timeOf } from './fixtures/library-histories.ts';

describe('the age of an ad', () => {
  const ageOf = (world: ReturnType<typeof histories>) => ({
    is: (days: number | null) =>
      given(world.events)
        .into(ads)
        .shows(async (db) => {
          const { json = '{}' } = (await findAd(db, '1')) ?? {};
          return (JSON.parse(json.replaceAll('\u0001', '')) as { days_active?: number | null }).days_active;
        }, days),
  });
  const started = (ad: object) => {
    const world = histories();
    world.brand('shop');
    world.scan('shop', { name: 'a', day: 100, starts: [{ id: '1', ad }] });
    return world;
  };

  it('is unknown when the ad was first met as ended, without a stop date', async () => {
    const world = started({ started_on: dayOf(1), status: 'inactive' });
    await ageOf(world).is(null);
    world.scan('shop', { name: 'b', day: 105, returns: ['1'] });
    await ageOf(world).is(104);
  });

  it('runs to the stop date, whenever the ad was met', async () => {
    await ageOf(started({ started_on: dayOf(1), stopped_on: dayOf(8), status: 'inactive' })).is(7);
  });

  it('runs from the first day seen when the library has no start date', async () => {
    const world = started({});
    world.scan('shop', { name: 'b', day: 103 });
    await ageOf(world).is(3);
    world.scan('shop', { name: 'c', day: 110, stops: [{ id: '1', seenOn: 103 }] });
    await ageOf(world).is(3);
  });

  it('is known once a late scan shows the ad running', async () => {
    const world = started({ started_on: dayOf(1), status: 'inactive' });
    world.correctAd('shop', 'a', '1', { observed_running: true, seen_at: timeOf(20) });
    await ageOf(world).is(19);
  });
});
