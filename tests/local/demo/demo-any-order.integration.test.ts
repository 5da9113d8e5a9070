import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Observation } from '#contracts/observations/index.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { openApiStack } from '../../operations/fixtures/stack.ts';
import { observedState } from '../../stack/observed-state.ts';
import { untilPassed } from '../../stack/read-models.ts';
import { shuffled } from '../../stack/shuffled.ts';
import { brokenInvariants, rebuildAll } from '../../stack/verify-read-models.ts';

/**
 * Random orders must lead to the same state as the order of observation (rule 11), and a rebuild to the same tables. Runs in
 * `npm run trial -- demo-order` alone; the short forms are `reference/replies` and `projections/order-of-arrival`.
 */
const { DEMO_ORDER_RUNS, DEMO_ORDER_ADS, DEMO_ORDER_DAYS, DEMO_ORDER_SEED } = readSettings(
  z.object({
    DEMO_ORDER_RUNS: z.coerce.number().int().min(0).default(0),
    DEMO_ORDER_ADS: z.coerce.number().int().min(40).default(40),
    /** Fewer than those after which a late scan is history only (rule 11). */
    DEMO_ORDER_DAYS: z.coerce.number().int().max(45).default(20),
    DEMO_ORDER_SEED: z.coerce.number().int().default(1),
  }),
);
const LIMIT_MS = 60_000 + 250 * DEMO_ORDER_ADS;

const ADS_PER_BRAND = 20;

/** Observations that belong together: all parts of a scan, or a single observation. */
type Group = readonly Observation[];

const demoGroups = (): Group[] => {
  const groups = new Map<string, Observation[]>();
  const corpus = demoObservations({
    seed: DEMO_ORDER_SEED,
    brands: Math.ceil(DEMO_ORDER_ADS / ADS_PER_BRAND),
    ads: DEMO_ORDER_ADS,
    days: DEMO_ORDER_DAYS,
    until: '2026-03-01',
  });
  for (const observation of corpus) {
    const key = 'scan_id' in observation ? observation.scan_id : `single ${groups.size}`;
    groups.set(key, [...(groups.get(key) ?? []), observation]);
  }
  return [...groups.values()];
};

const groups = demoGroups();
const seeds = Array.from({ length: DEMO_ORDER_RUNS }, (_, run) => DEMO_ORDER_SEED + run);
const orders = [
  { order: 'the order of observation', ordered: groups, isRebuilt: false },
  ...seeds.map((seed) => ({
    order: `random order ${seed}`,
    ordered: shuffled(groups, seed),
    isRebuilt: true,
  })),
];

describe.runIf(DEMO_ORDER_RUNS > 0)(`the demo corpus of ${DEMO_ORDER_ADS} ads`, () => {
  const first: { state?: unknown } = {};

  it.each(orders)(
    'leads to the same state in $order',
    async ({ ordered, isRebuilt }) => {
      await using stack = await openApiStack();
      const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
      await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
      for (const observation of ordered.flat()) await intake.submit(observation);

      await untilPassed(stack.pool, await stack.eventStore.head());
      expect(await brokenInvariants(stack.pool)).toEqual([]);
      const state = await observedState(stack.pool);
      first.state ??= state;
      expect(state).toEqual(first.state);
      if (!isRebuilt) return;
      await stack.stopProjector();
      const { live, rebuilt } = await rebuildAll(stack.pool, stack.eventStore);
      expect(rebuilt).toEqual(live);
    },
    LIMIT_MS,
  );
});
