import { metadataOf } from '#tests/dsl/metadata.ts';
import { expect } from 'vitest';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { derivedId } from '#domain/ids.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import type { Projection } from '#projections/define-projection.ts';
import { applyBatch, type Target } from '#services/projector/apply/apply-batch.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { createIndexes, createTables, readCatalog, schemaOf } from '#application/read-models/schema.ts';
import { createTestDatabase } from '#tests/stack/database.ts';
import { openPlannedOnce } from './planned-once.ts';
import { checksums } from '#tests/stack/read-models.ts';

/**
 * `given(events).into(projection).shows(read, rows)`, on a real Postgres. Projects the events as one batch, event by
 * event, and in batches of three. Results and all rows must be the same, because the projector chooses the size of
 * batches.
 */

export type GivenEvent = { readonly stream: string; readonly event: Event };

const BATCH_SIZES = [Number.POSITIVE_INFINITY, 1, 3] as const;

export const recorded = (events: readonly GivenEvent[]): RecordedEvent[] => {
  const revisions = new Map<string, bigint>();
  return events.map(({ stream, event }, index) => {
    const revision = (revisions.get(stream) ?? -1n) + 1n;
    revisions.set(stream, revision);
    return {
      ...event,
      stream,
      revision,
      position: BigInt(index + 1) * 100n,
      recordedAt: new Date(0),
      id: derivedId('test event', String(index)),
      metadata: metadataOf('test'),
    };
  });
};

/** Each stream keeps its own order; `picks` choose the next stream. */
export const interleave = (
  events: readonly GivenEvent[],
  picks: readonly number[],
): readonly GivenEvent[] => {
  const streams = [...Map.groupBy(events, ({ stream }) => stream).values()].map((own) => [...own]);
  const mixed: GivenEvent[] = [];
  for (let turn = 0; mixed.length < events.length; turn += 1) {
    const waiting = streams.filter((own) => own.length > 0);
    const next = waiting[(picks[turn % picks.length] ?? 0) % waiting.length]?.shift();
    if (next) mixed.push(next);
  }
  return mixed;
};

export const openTarget = async (database: Database, projection: Projection): Promise<Target> => {
  const schema = schemaOf(projection.name);
  await inTransaction(database, async (client) => {
    await createTables(client, projection, schema);
    await createIndexes(client, projection, schema);
  });
  const catalog = await readCatalog(database, schema);
  return { projection, schema, catalog, saveCheckpoint: () => Promise.resolve() };
};

/** The tables of the target are empty. */
export type OpenTargets = (projection: Projection) => Promise<Target>;

/** Later calls empty the tables, because to create them again takes thirty times as long. */
export const openTargets = (database: Database): OpenTargets => {
  const opened = new Map<string, Target>();
  return async (projection) => {
    const known = opened.get(projection.name);
    if (known?.projection === projection) {
      const tables = [...known.catalog.keys()];
      await database.query(tables.map((table) => `delete from "${known.schema}"."${table}"`).join(';'));
      return known;
    }
    const target = await openTarget(database, projection);
    opened.set(projection.name, target);
    return target;
  };
};

type LentDatabase = {
  readonly url: string;
  readonly pool: Database;
  targets: OpenTargets;
  lastUse: Projection | null;
  drop(): Promise<void>;
};

/** Databases of this worker that no test uses now. To create and drop one takes longer than most tests. */
const unused: LentDatabase[] = [];

const createDatabase = async (): Promise<LentDatabase> => {
  const created = await createTestDatabase();
  const pool = openPlannedOnce(created.url, 4, { allowExitOnIdle: true });
  await createProjectorTables(pool);
  return {
    url: created.url,
    pool,
    targets: openTargets(pool),
    lastUse: null,
    drop: async () => {
      await pool.end();
      await created.drop();
    },
  };
};

/** Drops every schema except those of the projector and of its leases, positions and progress. */
const clear = async (pool: Database): Promise<void> => {
  const { rows } = await pool.query<{ name: string }>(
    `select nspname as name from pg_namespace
     where nspname !~ '^pg_' and nspname not in ('information_schema', 'public', 'projector', 'run')`,
  );
  for (const { name } of rows) await pool.query(`drop schema "${name}" cascade`);
};

/** Lends a database without tables of other projections. After a failure it is dropped. */
const withDatabase = async (
  projection: Projection,
  work: (database: LentDatabase) => Promise<void>,
): Promise<void> => {
  const lent = unused.pop() ?? (await createDatabase());
  try {
    if (lent.lastUse !== projection) {
      await clear(lent.pool);
      lent.targets = openTargets(lent.pool);
      lent.lastUse = projection;
    }
    await work(lent);
  } catch (error) {
    await lent.drop();
    throw error;
  }
  unused.push(lent);
};

export const given = (events: readonly GivenEvent[]) => ({
  into: (projection: Projection) => ({
    shows: <T>(read: (db: ReadDatabase) => Promise<T>, expected: T): Promise<void> =>
      withDatabase(projection, async ({ url, pool, targets }) => {
        await using db = openReadDatabase(url);
        let rowsOfFirstRun: object | null = null;
        for (const size of BATCH_SIZES) {
          const target = await targets(projection);
          const subscribed = recorded(events).filter(({ stream }) =>
            projection.prefixes.some((prefix) => stream.startsWith(prefix)),
          );
          for (let from = 0; from < subscribed.length; from += size) {
            const batch = subscribed.slice(from, from + size);
            await applyBatch(pool, target, batch, batch.at(-1)?.position ?? 0n);
          }
          const rows = await checksums(pool, [projection]);
          expect(rows, `tables in batches of ${size}`).toEqual((rowsOfFirstRun ??= rows));
          expect(await read(db), `in batches of ${size}`).toEqual(expected);
        }
      }),
  }),
});
