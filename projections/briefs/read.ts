import { BEFORE_NEWEST, pageOfRows } from '../sql/pages.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';

/** No value needs escaping: ids, dates, numbers and fixed names. */
const OPEN_SUMMARY = `
  '{"id":"' || b.brief_id || '","week":"' || b.week || '","from":"' || b.from_date || '","to":"' || b.to_date
  || '","brands":' || b.brands || ',"changes":{"ads_started":' || b.ads_started || ',"ads_stopped":' || b.ads_stopped
  || ',"destinations_changed":' || b.destinations_changed || '},"feedback":' || coalesce('"' || b.feedback || '"', 'null')
  || ',"created_at":"' || b.prepared_at || '"'`;

const PAGE = `
  select ${OPEN_SUMMARY} || '}' as item, b.from_date, b.brief_id from briefs.brief b
  where b.workspace_id = $1 and (b.from_date, b.brief_id) < ($2, $3::uuid)
  order by b.from_date desc, b.brief_id desc limit $4`;

export const listBriefs = async (db: ReadDatabase, workspaceId: string, page: PageRequest): Promise<Page> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const rows = await db.query<{ item: string; from_date: string; brief_id: string }>({ sql: PAGE, values });
  return pageOfRows(rows, page.limit, {
    toItem: ({ item }) => item,
    cursorOf: (last) => [last.from_date, last.brief_id],
  });
};

const SUMMARY = `
  select ${OPEN_SUMMARY} || '}' as item from briefs.brief b where b.workspace_id = $1 and b.brief_id = $2`;

/** `null` when there is none. */
export const findBriefSummary = async (
  db: ReadDatabase,
  workspaceId: string,
  briefId: string,
): Promise<string | null> =>
  (await db.query<{ item: string }>({ sql: SUMMARY, values: [workspaceId, briefId] }))[0]?.item ?? null;

// `with ordinality` keeps the order of the array.
const ONE = `
  select ${OPEN_SUMMARY} || ',"changes_by_brand":[' || coalesce(c.changes, '') || '],"notable_items":' || b.notable || '}' as item
  from briefs.brief b left join lateral (
    select string_agg('{"brand":' || ${BRAND_REFERENCE_SQL.replaceAll('b.', 'n.')} || ',"changes":{"ads_started":'
      || (k.count ->> 'ads_started') || ',"ads_stopped":' || (k.count ->> 'ads_stopped')
      || ',"destinations_changed":' || (k.count ->> 'destinations_changed') || '}}', ',' order by k.place) as changes
    from jsonb_array_elements(b.counts) with ordinality as k(count, place)
    join briefs.brand n on n.brand_id = (k.count ->> 'brand_id')::uuid
  ) c on true
  where b.workspace_id = $1 and b.brief_id = $2`;

export const findBrief = async (
  db: ReadDatabase,
  workspaceId: string,
  briefId: string,
): Promise<string | null> =>
  (await db.query<{ item: string }>({ sql: ONE, values: [workspaceId, briefId] }))[0]?.item ?? null;

const THERE = 'select workspace_id from briefs.brief where week = $1';

export const listWorkspacesWithBrief = async (
  db: ReadDatabase,
  week: string,
): Promise<ReadonlySet<string>> => {
  const rows = await db.query<{ workspace_id: string }>({ sql: THERE, values: [week] });
  return new Set(rows.map(({ workspace_id }) => workspace_id));
};

const MADE_SINCE = `
  select workspace_id, brief_id as id, from_date as "from", to_date as "to" from briefs.brief where prepared_at >= $1`;

/** Briefs of all workspaces. `since`: ISO timestamp. */
export const listBriefsMadeSince = (
  db: ReadDatabase,
  since: string,
): Promise<
  readonly {
    readonly workspace_id: string;
    readonly id: string;
    readonly from: string;
    readonly to: string;
  }[]
> => db.slow({ sql: MADE_SINCE, values: [since] });
