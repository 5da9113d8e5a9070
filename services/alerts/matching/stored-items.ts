import { chunk } from 'es-toolkit/array/chunk';
import { DAY_MS } from '#contracts/values/time.ts';
import { PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import {
  type EntryKey,
  NOTHING_STORED,
  type PendingEntry,
  type PendingItem,
  type StoredItems,
} from '#application/alerts/pending-items.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** The tables of items that wait for the end of a scan, day or week. */

/** A withdrawal before `until` (log time) counts; `null`: all in the table. */
type WantedEntry = EntryKey & { readonly until?: string | null };

/** Compares bytes like JavaScript, for times of equal length. */
const STORED_ITEMS = `
  select e.n, count(*) filter (where not (w.source is not null or i.source = any($5)))::int as left,
    coalesce(
      json_agg(i.item order by i.place)
        filter (where i.item is not null and not (w.source is not null or i.source = any($5))), '[]') as items
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
    with ordinality as e (alert_id, cadence, key, until, n)
  join alerting.collected_item i on i.alert_id = e.alert_id and i.cadence = e.cadence and i.key = e.key
  left join alerting.withdrawn w on w.source = i.source and (e.until is null or w.at collate "C" < e.until)
  group by e.n`;

/** `withdrawn`: sources that are not yet in the table of withdrawals. */
export const readStoredItems = async (
  database: Database,
  entries: readonly WantedEntry[],
  withdrawn: ReadonlySet<string> = new Set(),
): Promise<readonly StoredItems[]> => {
  if (entries.length === 0) return [];
  const { rows } = await database.query<StoredItems & { n: string }>({
    name: 'stored items',
    text: STORED_ITEMS,
    values: [
      entries.map(({ alert_id }) => alert_id),
      entries.map(({ cadence }) => cadence),
      entries.map(({ key }) => key),
      entries.map(({ until }) => until ?? null),
      [...withdrawn],
    ],
  });
  const byPlace = new Map(rows.map(({ n, items, left }) => [Number(n), { items, left }]));
  return entries.map((_, index) => byPlace.get(index + 1) ?? NOTHING_STORED);
};

/** Keeps withdrawals for more than a week, the longest period of a digest. */
const WITHDRAWN_RETENTION_MS = 8 * DAY_MS;
/** Items of these rows are serialised together. */
const ROWS_PER_STATEMENT = 2_000;

const keysOf = (entries: readonly EntryKey[]): readonly (readonly string[])[] => [
  entries.map(({ alert_id }) => alert_id),
  entries.map(({ cadence }) => cadence),
  entries.map(({ key }) => key),
];

export const removeEntries = async (
  client: Transaction,
  entries: readonly EntryKey[],
  alertIds: readonly string[] = [],
): Promise<void> => {
  const remove = (table: string, where: string, values: readonly unknown[]): Promise<unknown> =>
    client.query(`delete from alerting.${table} t ${where}`, [...values]);
  const byKey = `using unnest($1::uuid[], $2::text[], $3::text[]) as gone (alert_id, cadence, key)
    where t.alert_id = gone.alert_id and t.cadence = gone.cadence and t.key = gone.key`;
  await Promise.all(
    ['collected', 'collected_item'].flatMap((table) => [
      ...(entries.length > 0 ? [remove(table, byKey, keysOf(entries))] : []),
      ...(alertIds.length > 0 ? [remove(table, 'where alert_id = any($1::uuid[])', [alertIds])] : []),
    ]),
  );
};

/** The place of an item follows from the number of items that the table then has. */
const ADD_ITEMS = `
  with given as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::text[])
      with ordinality as g (alert_id, cadence, key, items, as_of, entry)
  ), counted as (
    insert into alerting.collected as c (alert_id, cadence, key, items_total, as_of)
    select alert_id, cadence, key, items, as_of from given
    on conflict (alert_id, cadence, key) do update set items_total = c.items_total + excluded.items_total,
      as_of = greatest(c.as_of collate "C", excluded.as_of)
    returning alert_id, cadence, key, items_total
  )
  insert into alerting.collected_item (alert_id, cadence, key, place, item, source)
  select alert_id, cadence, key, items_total - items + n,
    case when items_total - items + n < ${PAYLOAD_ITEMS_MAX} then item end, source
  from unnest($6::int[], $7::int[], $8::jsonb[], $9::text[]) as i (entry, n, item, source)
  join given using (entry) join counted using (alert_id, cadence, key)
  on conflict do nothing`;

type NewItem = PendingItem & { readonly entry: PendingEntry };

const addItems = async (client: Transaction, items: readonly NewItem[]): Promise<void> => {
  const entries = [...Map.groupBy(items, ({ entry }) => entry)];
  const rows = entries.flatMap(([, ofEntry], index) =>
    ofEntry.map(({ item, source }, n) => ({ entry: index + 1, n, item, source })),
  );
  await client.query({
    name: 'add pending items',
    text: ADD_ITEMS,
    values: [
      ...keysOf(entries.map(([entry]) => entry)),
      entries.map(([, ofEntry]) => ofEntry.length),
      entries.map(([{ as_of }]) => as_of),
      rows.map(({ entry }) => entry),
      rows.map(({ n }) => n),
      rows.map(({ item }) => item && JSON.stringify(item)),
      rows.map(({ source }) => source),
    ],
  });
};

/** Moves the items of the batch to the table. */
export const writeEntries = async (client: Transaction, changed: readonly PendingEntry[]): Promise<void> => {
  const items = changed.flatMap((entry) => entry.fresh.map((one) => ({ ...one, entry })));
  for (const entry of changed) {
    entry.stored = (entry.stored ?? 0) + entry.fresh.length;
    entry.fresh = [];
  }
  await Promise.all(chunk(items, ROWS_PER_STATEMENT).map((some) => addItems(client, some)));
};

/** Also deletes those that no open period can hold any more. */
export const saveWithdrawn = async (
  client: Transaction,
  added: ReadonlyMap<string, string>,
): Promise<void> => {
  if (added.size === 0) return;
  const newest = [...added.values()].reduce((one, other) => (other > one ? other : one));
  await Promise.all([
    client.query(
      'insert into alerting.withdrawn (source, at) select * from unnest($1::text[], $2::text[]) on conflict do nothing',
      [[...added.keys()], [...added.values()]],
    ),
    client.query('delete from alerting.withdrawn where at < $1', [
      new Date(Date.parse(newest) - WITHDRAWN_RETENTION_MS).toISOString(),
    ]),
  ]);
};
