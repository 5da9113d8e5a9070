import { describe, it } from 'vitest';
import { freshness } from '#projections/freshness/project.ts';
import { readFreshness } from '#projections/freshness/read.ts';
import { given } from '../dsl/projections.ts';
import { histories, timeOf } from './fixtures/library-histories.ts';

describe('freshness', () => {
  const shown = (as_of: string, last_reliable_at: string | null, next_due: string) =>
    ({ as_of, last_reliable_at, next_due, freshness_tier: 'daily' }) as never;
  const looked = () => {
    const world = histories();
    world.brand('shop');
    world.track('shop');
    world.scan('shop', { name: 'a', day: 2, reliable: true });
    return world;
  };

  it('is not moved by a scan for another brand that shows an ad of this one', async () => {
    const world = looked();
    world.scan('shop', { name: 'b', day: 5, reliable: false, scannedFor: 'other' });
    await given(world.events)
      .into(freshness)
      .shows((db) => readFreshness(db, world.idOf('shop')), shown(timeOf(2), timeOf(2), timeOf(3)));
  });

  it('is moved by a scan for another brand that covers all its pages', async () => {
    const world = looked();
    world.scan('shop', { name: 'b', day: 5, reliable: true, scannedFor: 'other' });
    await given(world.events)
      .into(freshness)
      .shows((db) => readFreshness(db, world.idOf('shop')), shown(timeOf(5), timeOf(5), timeOf(6)));
  });

  it('returns to the reliable scan before one that a correction withdraws', async () => {
    const world = looked();
    world.scan('shop', { name: 'b', day: 5, reliable: true });
    world.scan('shop', { name: 'c', day: 6, reliable: true, scannedFor: 'other' });
    world.correctScan('shop', 'b', {}, false);
    world.correctScan('shop', 'c', {}, false);
    await given(world.events)
      .into(freshness)
      .shows((db) => readFreshness(db, world.idOf('shop')), shown(timeOf(5), timeOf(2), timeOf(6)));
  });

  it('returns to the scan before one that had not looked at the brand', async () => {
    const world = looked();
    world.scan('shop', { name: 'b', day: 5, reliable: true, scannedFor: 'other' });
    world.correctScan('shop', 'b', {}, true, true);
    await given(world.events)
      .into(freshness)
      .shows((db) => readFreshness(db, world.idOf('shop')), shown(timeOf(2), timeOf(2), timeOf(3)));
  });
});
