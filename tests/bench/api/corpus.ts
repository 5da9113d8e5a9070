import { trackingStream, type BrandTracked } from '#contracts/events/workspace/workspace.ts';
import { createKeyText, sha256Of } from '#application/access/api-key-format.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { projections } from '#projections/index.ts';
import { radar } from '#projections/radar/project.ts';
import { addMemberNamed, createWorkspaceNamed } from '#services/ops/workspaces/operations.ts';
import { createIndexes, createTables } from '#services/projector/read-model-schema.ts';
import { runProjections } from '#services/projector/run.ts';
import { seedCorpus } from '#tests/operations/fixtures/corpus.ts';
import type { BenchServers } from '../servers.ts';
import { scaled } from '../bench.ts';

/** The writes need a brand for each request of a client. */
const BRANDS = scaled(300, 25);
const TRACKED = scaled(50, 10);
/** Number of brands in the radar: those above and others that are not tracked. */
const BRANDS_OF_RADAR = 2_000;
const RADAR_DAYS = 90;
/** Each key serves 900 requests of the load generator, so that no key is used twice within a minute. */
const KEYS = 2_000;
const PROJECTED_LIMIT_MS = 600_000;
const METADATA = {
  $correlationId: 'bench',
  $causationId: 'bench',
  request_id: 'bench',
  actor: { kind: 'service', id: 'bench' },
  schema_version: 1,
} as const;

export interface BenchCorpus {
  readonly workspaceId: string;
  readonly slugs: readonly string[];
  readonly keys: readonly string[];
}

/** Records brands as events and projects them. Creates a workspace that tracks 50 of them, with many API keys. */
export async function recordCorpus(servers: BenchServers, pool: Database): Promise<BenchCorpus> {
  await using db = openReadDatabase(servers.databaseUrl);
  await using eventStore = openEventStore(servers.eventStore.url);
  await using projectionWait = openProjectionWait(servers.databaseUrl, pool, silentLog());
  const projecting = new AbortController();
  const projector = runProjections({
    databaseUrl: servers.databaseUrl,
    eventStoreUrl: servers.eventStore.url,
    projections,
    log: silentLog(),
    signal: projecting.signal,
  });
  try {
    await createAccessTables(pool);
    const workspaceCommands = createWorkspaceCommands({ eventStore, pool, projectionWait });
    const operator = { eventStore, workspaceCommands, db, actor: METADATA.actor };
    const { workspace_id: workspaceId } = await createWorkspaceNamed(operator, 'bench', 'pro');
    const { member_id: memberId } = await addMemberNamed(operator, workspaceId, 'Ada', 'owner');
    const names = Array.from({ length: BRANDS }, (_, number) => `brand${number}`);
    const { brands } = await seedCorpus(eventStore, names, Date.now());
    const tracked = brands.slice(0, TRACKED).map(
      ({ id }): BrandTracked => ({
        type: 'BrandTracked',
        data: {
          workspace_id: workspaceId,
          brand_id: id,
          cadence: 'daily',
          tracked_at: new Date().toISOString(),
        },
      }),
    );
    const stream = trackingStream(workspaceId);
    const { position } = await eventStore.append(stream, -1n, tracked, METADATA, 'track');
    const all = projections.map(({ name }) => name);
    if (!(await projectionWait.wait(all, position, PROJECTED_LIMIT_MS)))
      throw new Error('The corpus was not projected in time.');
    return {
      workspaceId,
      slugs: brands.map(({ slug }) => slug),
      keys: await addKeys(pool, workspaceId, memberId),
    };
  } finally {
    projecting.abort();
    await projector;
  }
}

/** Inserts keys directly into the access tables: as events of one stream, 2,000 keys would take a minute. */
async function addKeys(pool: Database, workspaceId: string, memberId: string): Promise<readonly string[]> {
  const keys = Array.from({ length: KEYS }, () => createKeyText());
  await pool.query(
    `insert into access.api_key (sha256, key_id, workspace_id, member_id, scopes)
     select sha256, 'key_bench' || number, $2, $3, array['brands:read', 'tracking:read']
     from unnest($1::text[]) with ordinality as k(sha256, number)`,
    [keys.map(sha256Of), workspaceId, memberId],
  );
  return keys;
}

/**
 * Replaces the radar's items by `rows` items, spread evenly over brands and the last 90 days, with documents of the
 * usual length. One transaction also creates the table, so that the rows need no WAL (`wal_level` minimal).
 */
export async function fillRadar(pool: Database, rows: number): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query('create temporary table reference on commit drop as select * from radar.brand');
    await createTables(client, radar, 'radar');
    await client.query('insert into brand select * from reference');
    await client.query('alter table item drop constraint item_pkey');
    await client.query(
      `insert into item (id, brand_id, observed_at, type, occurrence, ad)
       select i.id, b.ids[1 + i.n % cardinality(b.ids)], now() - i.age,
         (array['ad_started', 'ad_stopped', 'destination_changed'])[1 + i.n % 3],
         '"type":"ad_started","observed_at":"2026-01-01T00:00:00.000Z",' ||
         '"destination_url":"https://shop.example.com/collections/winter-boots","previous_destination_url":null,' ||
         '"basis":null,"stopped_on":null', '{"id":"' || (900000000000000 + i.n) || '","page":{"page_id":' ||
         '"104857600","page_name":"A page"},"format":"video","title":"A title of some length","body":"' ||
         $3 || '","started_on":"2026-01-01","url":"' || chr(1) || '/v1/ads/' || (900000000000000 + i.n) || '"}'
       from (
         select array(select brand_id from brand order by brand_id)
           || array(select gen_random_uuid() from generate_series(1, $1 - (select count(*) from brand))) as ids
       ) b, lateral (
         select n, gen_random_uuid() as id, random() * interval '${RADAR_DAYS} days' as age
         from generate_series(1, $2::int) as n
       ) i`,
      [BRANDS_OF_RADAR, rows, 'Words of an ad that says what is sold. '.repeat(5).trim()],
    );
    await client.query('alter table item add primary key (id)');
    await createIndexes(client, radar, 'radar');
  });
  await pool.query('vacuum analyze radar.item');
  await pool.query('analyze radar.brand');
}
