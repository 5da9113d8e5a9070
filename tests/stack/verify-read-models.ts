import { checkInvariants } from '#application/invariants/check-invariants.ts';
import { systemClock } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';
import { type Rebuilding, rebuildProjection } from '#services/projector/rebuild/rebuild-projection.ts';
import { createSharedReader } from '#services/projector/rebuild/shared-read.ts';
import type { Projection } from '#projections/define-projection.ts';
import { readRows } from '#services/projector/control/arrange-part.ts';
import { swapSchemas } from '#services/projector/rebuild/swap-schema.ts';
import { checksums, untilPassed } from './read-models.ts';

/** Runs the checks of `ops verify` without a projector. */

type Checksums = Readonly<Record<string, string>>;

/** Swaps a rebuild in while no projector runs, as its owner does: the projection leaves the cursor of its part first. */
export const swapWithoutProjector = async (database: Database, projection: Projection): Promise<void> => {
  await database.query(
    `insert into projector.behind (projection, part, position, epoch, state)
     select $1, part, position, epoch, 'catching_up' from run.progress where kind = 'projections' on conflict do nothing`,
    [projection.name],
  );
  const row = (await readRows(database)).get(projection.name);
  if (row === undefined) throw new Error(`${projection.name} has no row`);
  await swapSchemas(database, projection, row);
};

/** An event that cannot be applied ends the rebuild. */
export const rebuildingIn = (database: Database): Rebuilding => ({
  database,
  signal: new AbortController().signal,
  onPoison: (error) => {
    throw error;
  },
});

/** Rebuilds all of them with one reading of the log, as a projector does when all are requested at once. */
export const rebuildTogether = async (
  database: Database,
  eventStore: EventStore,
  rebuilt: readonly Projection[],
  rangeEvents?: number,
): Promise<void> => {
  const reader = createSharedReader(eventStore, rangeEvents);
  await Promise.all(rebuilt.map((one) => rebuildProjection(rebuildingIn(database), reader, one)));
};

/** Returns the checksums of all tables before and after. The projector must be stopped. */
export const rebuildAll = async (
  database: Database,
  eventStore: EventStore,
  rangeEvents?: number,
): Promise<{ readonly live: Checksums; readonly rebuilt: Checksums }> => {
  const live = await checksums(database, projections);
  await rebuildTogether(database, eventStore, projections, rangeEvents);
  for (const projection of projections) await swapWithoutProjector(database, projection);
  return { live, rebuilt: await checksums(database, projections) };
};

/** One line for each broken invariant, and for each table that a rebuild changes. Stops the projector. */
export const faultsAtEnd = async ({
  pool,
  eventStore,
  stopProjector,
}: {
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly stopProjector: () => Promise<void>;
}): Promise<readonly string[]> => {
  await untilPassed(pool, await eventStore.head());
  const broken = await brokenInvariants(pool);
  await stopProjector();
  const { live, rebuilt } = await rebuildAll(pool, eventStore);
  const tables = Object.keys({ ...live, ...rebuilt }).filter((table) => live[table] !== rebuilt[table]);
  return [...broken, ...tables.map((table) => `${table} is ${live[table]}, and ${rebuilt[table]} rebuilt`)];
};

/** Each broken invariant has one line, with the first of its violations. */
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
