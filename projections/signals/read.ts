import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { SignalKind } from '#contracts/values/signals.ts';
import { SIGNAL_COLUMNS, type SignalRow, summaryOf } from '../sql/json.ts';

const PAGES = 'select distinct social_page_id from signals.link where brand_id = any($1::uuid[])';

/** Social pages that were observed to belong with one of the brands, or no longer to. */
export const listPagesOfBrands = async (
  db: ReadDatabase,
  brandIds: readonly string[],
): Promise<readonly string[]> => {
  const rows = await db.query<{ social_page_id: string }>({ sql: PAGES, values: [brandIds] });
  return rows.map(({ social_page_id }) => social_page_id);
};

const OF_BRAND = `
  select ${SIGNAL_COLUMNS}, ${isoTimeSql('s.observed_at')} as observed_at from signals.signal s
  where s.brand_id = $1 and s.date between $2 and $3 and s.kind = any($4::text[])
    and s.correction is distinct from 'withdrawn'
  order by s.observed_at, s.kind`;

export type BrandSignal = SignalRow & { readonly summary: string };

/** Both days included, in the order of observation, without withdrawn signals. */
export const listBrandSignals = async (
  db: ReadDatabase,
  brandId: string,
  { from, to }: { readonly from: string; readonly to: string },
  kinds: readonly SignalKind[],
): Promise<readonly BrandSignal[]> => {
  const rows = await db.query<SignalRow>({ sql: OF_BRAND, values: [brandId, from, to, kinds] });
  return rows.map((row) => ({ ...row, summary: summaryOf(row) }));
};
