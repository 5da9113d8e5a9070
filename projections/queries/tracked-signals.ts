import { isoTimeMicrosSql, isoTimeSql } from '#contracts/values/time.ts';
import { pageOfRows } from '../sql/keyset-page.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import type { SignalKind } from '#contracts/values/signals.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import {
  allOfTrackedBrands,
  newestOfTrackedBrands,
  scannedAtOfTracked,
  tracksFewBrands,
} from '../sql/newest-first-page.ts';
import { SIGNAL_COLUMNS, type SignalRow, signalText } from '../sql/signal-json.ts';
import type { TrackedWindow } from './tracked-radar.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';

const SIGNAL_TABLE = {
  table: sql.fragment`signals.signal`,
  kind: sql.fragment`kind`,
  scans: sql.fragment`signals.applied_scan`,
  // Shops and page links are observed apart from library scans, so a signal may be newer.
  ofScansOnly: false,
} as const;

export type TrackedSignalsFilter = {
  readonly workspaceId: string;
  readonly window: TrackedWindow;
  readonly kinds?: readonly SignalKind[];
};

type Shown = SignalRow & { readonly brand: string; readonly sorted_by: string };
/** The first row always exists, because it carries the time of the last scan. */
type Row = { readonly as_of: string | null; readonly few: boolean } & (Shown | { readonly id: null });

/** Compares as text, because both times have the same format. */
const latest = (one: string | null, other: string | null): string | null =>
  one !== null && other !== null && other > one ? other : (one ?? other);

const COLUMNS = raw(`${SIGNAL_COLUMNS}, ${isoTimeSql('s.observed_at')} as observed_at,
  ${BRAND_REFERENCE_SQL} as brand, ${isoTimeMicrosSql('s.observed_at')} as sorted_by`);

const shownSignals = (keys: Fragment) => sql.fragment`
  select ${COLUMNS}
  from (${keys}) k join signals.signal s using (id) join signals.brand b on b.brand_id = s.brand_id
  order by k.observed_at desc, k.id desc`;

/** Newest first, as of the last scan or a later signal. Reads in the same way as `listTrackedRadar`. */
export const listTrackedSignals = async (
  db: ReadDatabase,
  { workspaceId, window, kinds }: TrackedSignalsFilter,
  page: PageRequest,
): Promise<{ readonly page: Page; readonly asOf: string | null }> => {
  const newestFilter = { ...SIGNAL_TABLE, window, kinds, limit: page.limit + 1, after: page.after };
  const rows = await db.query<Row>(sql.unsafe`
    with few as materialized (${tracksFewBrands(workspaceId)})
    select a.as_of, few.so as few, s.*
    from (${scannedAtOfTracked(SIGNAL_TABLE.scans, workspaceId)}) a cross join few
    left join (${shownSignals(newestOfTrackedBrands(newestFilter, workspaceId))}) s on true
    order by s.sorted_by desc, s.id desc`);
  const met = rows.filter((row): row is Row & Shown => row.id !== null);
  const found =
    rows[0]?.few === false && met.length <= page.limit
      ? await db.query<Shown>(shownSignals(allOfTrackedBrands(newestFilter, workspaceId)))
      : met;
  return {
    page: pageOfRows(found, page.limit, {
      toItem: (row) => signalText(row, row.brand, workspaceId),
      cursorOf: (last) => [last.sorted_by, last.id],
    }),
    asOf: latest(rows[0]?.as_of ?? null, found[0]?.observed_at ?? null),
  };
};
