import { checkInvariants } from '#application/invariants/check-invariants.ts';
import { systemClock } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';
import { rebuildProjection } from '#services/projector/rebuild/rebuild-projection.ts';
import { swapSchemas } from '#services/projector/rebuild/swap-schema.ts';
import { checksums } from './read-models.ts';

/** The checks of `ops verify`, run by a test itself instead of through a projector. */

type Checksums = Readonly<Record<string, string>>;

/** Rebuilds every projection and returns the checksums of its tables before and after. The projector must be stopped. */
export const rebuildAll = async (
  database: Database,
  eventStore: EventStore,
): Promise<{ readonly live: Checksums; readonly rebuilt: Checksums }> => {
  const live = await checksums(database, projections);
  for (const projection of projections) {
    await rebuildProjection(database, eventStore, projection, new AbortController().signal);
    await swapSchemas(database, projection);
  }
  return { live, rebuilt: await checksums(database, projections) };
};

/** Returns a line for each invariant between replies that does not hold, with the first of its violations. */
export const brokenInvariants = async (database: Database): Promise<readonly string[]> => {
  const { invariants } = await checkInvariants(database, {
    invariants: INVARIANTS,
    clock: systemClock,
    waitMs: 60_000,
    recheckMs: 0,
  });
  return invariants
    .filter(({ state }) => state !== 'holds')
    .map(
      ({ name, state, violations, first, reason }) =>
        `${name} is ${state}: ${reason ?? `${violations}, first ${JSON.stringify(first.slice(0, 3))}`}`,
    );
};
