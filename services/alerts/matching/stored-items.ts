import type { AlertItem } from '#contracts/webhooks/alert-payload.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { EntryKey } from './pending-digests.ts';

/** Stored items without withdrawn ones. `left` also counts those beyond the payload limit. */
export type StoredItems = { readonly items: readonly AlertItem[]; readonly left: number };

export const NOTHING_STORED: StoredItems = { items: [], left: 0 };

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
