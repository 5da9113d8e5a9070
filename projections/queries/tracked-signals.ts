import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import type { SignalKind } from '#contracts/values/signals.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import { iso } from '../sql/json-text.ts';
import { everyOfTracked, newestOfTracked, tracksFew } from '../sql/newest-first-page.ts';
import { parameters } from '../sql/radar-json.ts';
import { SIGNAL_COLUMNS, type SignalRow, signalText } from '../sql/signal-json.ts';
import { scannedAtOfTracked } from '../sql/tracked-as-of.ts';

export type TrackedSignalsFilter = {
  readonly workspaceId: string;
  /** ISO timestamp: signals observed from here on. */
  readonly since: string;
  readonly kinds?: readonly SignalKind[];
};

type Shown = SignalRow & { readonly brand: string; readonly sorted_by: string };
/** One row at least: when any of the brands was last scanned, also when nothing changed there. */
type Row = { readonly as_of: string | null; readonly few: boolean } & (Shown | { readonly id: null });

/** SQL of the signals of these keys. */
const shownOf = (keys: string): string => `
  select ${SIGNAL_COLUMNS}, ${iso('s.observed_at')} as observed_at, ${BRAND_REFERENCE_SQL} as brand,
    to_char(s.observed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as sorted_by
  from (${keys}) k join signals.signal s using (id) join signals.brand b on b.brand_id = s.brand_id
  order by k.observed_at desc, k.id desc`;

/**
 * The signals of a workspace's tracked brands, newest first, as of the last scan of any of the brands: read as the
 * radar is.
 */
export const listTrackedSignals = async (
  db: ReadDatabase,
  { workspaceId, since, kinds }: TrackedSignalsFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const { values, given } = parameters();
  const workspace = given(workspaceId);
  const narrowed = {
    table: 'signals.signal',
    kind: 'kind',
    since: given(since),
    limit: given(page.limit + 1),
    kinds: kinds === undefined ? null : given(kinds),
    after: page.after === null ? null : ([given(page.after[0]), given(page.after[1])] as const),
  };
  const sql = `
    with few as materialized (${tracksFew(workspace)})
    select a.as_of, few.so as few, s.*
    from (${scannedAtOfTracked(workspace, null)}) a cross join few
    left join (${shownOf(newestOfTracked(narrowed, workspace))}) s on true order by s.sorted_by desc, s.id desc`;
  const rows = await db.query<Row>({ sql, values });
  const met = rows.filter((row): row is Row & Shown => row.id !== null);
  const found =
    rows[0]?.few === false && met.length <= page.limit
      ? await db.query<Shown>({ sql: shownOf(everyOfTracked(narrowed, workspace)), values })
      : met;
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
