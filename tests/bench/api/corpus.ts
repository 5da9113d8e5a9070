import { type BrandTracked, trackingStream } from '#contracts/events/workspace/workspace.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { radar } from '#projections/radar/project.ts';
import { addPerson, createWorkspaceNamed, issueKey } from '#services/ops/workspaces.ts';
import { createIndexes, createTables } from '#application/read-models/schema.ts';
import { seedCorpus } from '#tests/operations/fixtures/corpus.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { METADATA, scaled } from '../runner/bench.ts';
import { type BenchServers, startService } from '../runner/servers.ts';

/** Writes need a brand for each request of a client. */
const BRANDS = scaled(300, 25);
/** More full pages than connections read at the same time. */
const TRACKED = scaled(60, 10);
const KEYS = scaled(60, 22);
/** Brands above, and others that are not tracked. */
const BRANDS_OF_RADAR = 2_000;
const RADAR_DAYS = 90;
const PROJECTED_LIMIT_MS = 600_000;

export interface BenchCorpus {
  readonly workspaceId: string;
  readonly slugs: readonly string[];
  /** Key with all scopes. Its workspace lists 59 others. */
  readonly key: string;
}

export const openWorkspaces = (
  resources: AsyncDisposableStack,
  { databaseUrl }: BenchServers,
  pool: Database,
  eventStore: EventStore,
) => {
  const projectionWait = resources.use(openProjectionWait(databaseUrl, pool, silentLog()));
  const workspaceCommands = createWorkspaceCommands({ eventStore, pool, projectionWait });
  const operator = { eventStore, workspaceCommands, actor: METADATA.actor };
  return async (keys = 1): Promise<{ readonly workspaceId: string; readonly keys: readonly string[] }> => {
    const { workspace_id: workspaceId } = await createWorkspaceNamed(operator, 'bench', 'pro');
    const { member_id: memberId } = await addPerson(
      { ...operator, memberVault: null },
      workspaceId,
      { name: 'Ada', email: null },
      'owner',
    );
    const issued: string[] = [];
    for (let number = 0; number < keys; number += 1)
      issued.push((await issueKey(operator, workspaceId, memberId, `Key ${number}`, 'all')).api_key);
    return { workspaceId, keys: issued };
  };
};

/** Creates a workspace that tracks 60 brands and has 60 API keys. */
export const recordCorpus = async (servers: BenchServers, pool: Database): Promise<BenchCorpus> => {
  await using resources = new AsyncDisposableStack();
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  await createAccessTables(pool);
  startService(resources, servers, 'projector');
  const { workspaceId, keys } = await openWorkspaces(resources, servers, pool, eventStore)(KEYS);
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
  await eventStore.append(trackingStream(workspaceId), -1n, tracked, METADATA, 'track');
  await untilPassed(pool, await eventStore.head(), PROJECTED_LIMIT_MS);
  return { workspaceId, slugs: brands.map(({ slug }) => slug), key: keys.at(-1) ?? '' };
};

/**
 * Spreads items over brands and 90 days. One transaction also creates the table, so the rows need no WAL (`wal_level`
 * minimal).
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
    // The brands were scanned just now, so their items are in the window of the page.
    await client.query('insert into applied_scan select distinct brand_id, now() from item');
    await client.query('alter table item add primary key (id)');
    await createIndexes(client, radar, 'radar');
  });
  await pool.query('vacuum analyze radar.item');
  await pool.query('analyze radar.brand; analyze radar.applied_scan');
}
