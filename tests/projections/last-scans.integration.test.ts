import { describe, expect, it } from 'vitest';
import { projections } from '#projections/index.ts';
import { SCANNED } from '#projections/queries/invariants.ts';
import { readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { given } from '../dsl/projections.ts';
import { histories, timeOf } from './fixtures/library-histories.ts';

describe('the last scan of a brand', () => {
  it.for(SCANNED)(
    'is in %s the same after corrections, also of a scan that is a look again',
    async (name) => {
      const world = histories();
      world.brand('shop');
      world.scan('shop', { name: 'a', day: 2 });
      world.scan('shop', { name: 'b', day: 5, scannedFor: 'other' });
      world.correctScan('shop', 'b', {}, false, true);
      const asOf = (days: number) => {
        const projection = projections.find((one) => one.name === name);
        if (projection === undefined) return expect.unreachable(name);
        const schema = name.replaceAll('-', '_');
        const brand = world.idOf('shop');
        return given(world.events)
          .into(projection)
          .shows((db) => readScannedAt(db, schema, brand), timeOf(days));
      };
      await asOf(2);
      world.correctScan('shop', 'b', {});
      await asOf(5);
    },
  );
});
