import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { checkInvariants } from '#application/invariants/check-invariants.ts';
import { brandIdOf } from '#domain/ids.ts';
import { systemClock } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';
import { openApiStack } from '../operations/fixtures/stack.ts';
import { untilPassed } from '../stack/read-models.ts';
import {
  absent,
  BRANDS,
  type Counts,
  countFromFiles,
  folder,
  importFiles,
  PAGE_SCAN_OPTIONS,
} from './page-scans.ts';

/**
 * Imports the files of real page scans one by one in random orders. The corrected totals of every scan must be those of
 * the order of observation (rule 11), and the figures of all replies must agree. ANY_ORDER_RUNS=10 is the long form.
 */
const { ANY_ORDER_RUNS, ANY_ORDER_SEED } = readSettings(
  z.object({
    ANY_ORDER_RUNS: z.coerce.number().int().default(1),
    ANY_ORDER_SEED: z.coerce.number().int().default(1),
  }),
);
const LIMIT_MS = 300_000;

/** Returns the items in an order that follows from the seed. */
const shuffled = <Item>(items: readonly Item[], seed: number): readonly Item[] => {
  let state = seed;
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state;
  };
  return items
    .map((item) => ({ item, rank: next() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
};

const files = globSync(`supernova/fb-ads-{${BRANDS.map(({ group }) => group).join()}}-2*.csv.gz`, {
  cwd: folder,
});

describe.skipIf(absent)('page scans imported in a random order', () => {
  it.each(Array.from({ length: ANY_ORDER_RUNS }, (_, run) => ANY_ORDER_SEED + run))(
    'have the totals of the order of observation, and figures that agree (seed %i)',
    async (seed) => {
      await using stack = await openApiStack();
      const scratch = mkdtempSync(join(tmpdir(), 'any-order-'));
      try {
        for (const file of shuffled(files.toSorted(), seed)) {
          const path = join(folder, file);
          const { code, output } = await importFiles(
            [path, ...PAGE_SCAN_OPTIONS],
            scratch,
            stack.environment,
          );
          expect(code, output).toBe(0);
        }
        for (const { group, domain } of BRANDS) {
          const totals = new Map<string, Counts>();
          const stream = adLibraryStream(brandIdOf(domain));
          for await (const { type, data } of stack.eventStore.read<AdLibraryEvent>(stream)) {
            if (type !== 'ScanRecorded' && type !== 'ScanCorrected') continue;
            const { baseline, news, late, stopped, returned, active, missing } = data.totals;
            totals.set(data.observed_at, { baseline, news, late, stopped, returned, active, missing });
          }
          expect([group, totals]).toEqual([group, countFromFiles(group)]);
        }
        await untilPassed(stack.pool, await stack.eventStore.head());
        const { invariants } = await checkInvariants(stack.pool, {
          invariants: INVARIANTS,
          clock: systemClock,
          waitMs: 60_000,
          recheckMs: 0,
        });
        expect(invariants.filter(({ state }) => state !== 'holds')).toEqual([]);
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    },
    LIMIT_MS,
  );
});
