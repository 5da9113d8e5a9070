import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { statementNames } from '#platform/postgres/statement-names.ts';
import type { Projection } from '#projections/define-projection.ts';
import { projections } from '#projections/index.ts';
import { projectEvents } from '#application/read-models/project-events.ts';
import { type Catalog, enterSchema, readCatalog, schemaOf } from '#application/read-models/schema.ts';
import { statementOf } from '#application/read-models/write-changes.ts';
import { arrivingEvents, EVENTS_OF_BATCH } from './live/events.ts';
import { openBigCorpus } from './reads/corpus.ts';
import { type BenchContext, median } from './runner/bench.ts';

const SLOWEST_SHOWN = 3;

/** Applies small batches as the projector does, and rolls them back. Has no target: investigate outliers. */
export const run = async (context: BenchContext<'live'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const { pool } = await openBigCorpus(resources, (line) => context.print(line));
  const client = await pool.connect();
  resources.defer(() => client.release());
  const nameOf = statementNames();
  const catalogs = new Map<Projection, Catalog>();
  for (const projection of projections)
    catalogs.set(projection, await readCatalog(pool, schemaOf(projection.name)));

  context.print(
    `live: the slowest read models per batch of ${EVENTS_OF_BATCH} events, in ms: median (maximum)`,
  );
  for (const { name, batches } of await arrivingEvents(pool)) {
    const costs: { readonly projection: string; readonly median: number; readonly max: number }[] = [];
    for (const [projection, catalog] of catalogs) {
      const times: number[] = [];
      for (const events of batches) {
        const tookMs = await applyAndForget(client, projection, catalog, events, nameOf);
        if (tookMs !== null) times.push(tookMs);
      }
      if (times.length === 0) continue;
      // Keeps the second half, which represents a warm server: query plans are settled and pages are in memory.
      const warm = times.slice(times.length / 2);
      costs.push({ projection: projection.name, median: median(warm), max: Math.max(...warm) });
    }
    if (costs.length === 0) throw new Error(`No read model applied an event of "${name}".`);
    const slowest = costs.toSorted((a, b) => b.median - a.median).slice(0, SLOWEST_SHOWN);
    const shown = slowest.map(
      (cost) => `${cost.projection} ${cost.median.toFixed(1)} (${cost.max.toFixed(0)})`,
    );
    context.print(`  ${name.padEnd(46)} ${shown.join(', ')}`);
    context.record(name, slowest[0]?.median ?? Number.NaN);
  }
};

/** `null` when the projection handles no event of the batch. */
async function applyAndForget(
  client: Transaction,
  projection: Projection,
  catalog: Catalog,
  events: readonly RecordedEvent[],
  nameOf: ReturnType<typeof statementNames>,
): Promise<number | null> {
  const own = events.filter(({ stream }) => projection.prefixes.some((prefix) => stream.startsWith(prefix)));
  const groups = projectEvents(projection, own).filter(({ rows }) => rows.length > 0);
  if (groups.length === 0) return null;
  await client.query('begin');
  try {
    await enterSchema(client, schemaOf(projection.name));
    const sinceMs = performance.now();
    for (const group of groups) {
      const { text, values } = statementOf(projection, catalog, group);
      await client.query({ ...nameOf(`/* ${projection.name} */ ${text}`), values: [...values] });
    }
    return performance.now() - sinceMs;
  } finally {
    await client.query('rollback');
  }
}
