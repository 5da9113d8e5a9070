import type { Page, PageRequest, ReadDatabase } from '#contracts/read-database.ts';
import type { SignalKind } from '#contracts/signals.ts';
import { BRAND_REFERENCE_SQL } from './brand-reference.ts';
import { iso } from './freshness-text.ts';
import { parameters } from './radar-items.ts';
import { SIGNAL_COLUMNS, type SignalRow, signalText } from './signal-items.ts';

export type TrackedSignalsFilter = {
  readonly workspaceId: string;
  /** ISO timestamp: signals observed from here on. */
  readonly since: string;
  readonly kinds?: readonly SignalKind[];
};

type Shown = SignalRow & { readonly brand: string; readonly sorted_by: string };
/** One row at least: when any of the brands was last scanned, also when nothing changed there. */
type Row = { readonly as_of: string | null } & (Shown | { readonly id: null });

/**
 * The signals of a workspace's tracked brands, newest first, by one statement over three projections, as of the last
 * scan of any of the brands. The index alone finds the newest keys of each brand; only the page's own signals are
 * then looked up.
 */
export const listTrackedSignals = async (
  db: ReadDatabase,
  { workspaceId, since, kinds }: TrackedSignalsFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const { values, given } = parameters();
  const workspace = given(workspaceId);
  const [from, limit] = [given(since), given(page.limit + 1)];
  const narrowed = [
    ...(kinds === undefined ? [] : [`and s.kind = any(${given(kinds)}::text[])`]),
    ...(page.after === null
      ? []
      : [
          `and (s.observed_at, s.id) < (${given(page.after[0])}::timestamptz, ${given(page.after[1])}::uuid)`,
        ]),
  ].join(' ');
  const sql = `
    select a.as_of, s.*
    from (
      select ${iso('max(f.scanned_at)')} as as_of
      from tracking.tracked_brand k join freshness.brand f using (brand_id) where k.workspace_id = ${workspace}
    ) a left join (
      select ${SIGNAL_COLUMNS}, ${iso('s.observed_at')} as observed_at, ${BRAND_REFERENCE_SQL} as brand,
        to_char(s.observed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as sorted_by
      from (
        select k.observed_at, k.id
        from (select brand_id from tracking.tracked_brand where workspace_id = ${workspace} offset 0) t
        cross join lateral (
          select observed_at, id from signals.signal s
          where s.brand_id = t.brand_id and s.observed_at >= ${from} ${narrowed}
          order by s.observed_at desc, s.id desc limit ${limit}
        ) k order by k.observed_at desc, k.id desc limit ${limit}
      ) k join signals.signal s using (id) join signals.brand b on b.brand_id = s.brand_id
    ) s on true order by s.sorted_by desc, s.id desc`;
  const rows = await db.query<Row>({ sql, values });
  const found = rows.filter((row): row is Row & Shown => row.id !== null);
  const shown = found.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    page: {
      items: shown.map((row) => signalText(row, row.brand, workspaceId)),
      next: found.length > page.limit && last ? [last.sorted_by, last.id] : null,
    },
    asOf: rows[0]?.as_of ?? null,
  };
};
