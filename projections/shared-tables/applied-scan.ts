import type { ScanCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import type { Change, Statement } from '../define-projection.ts';

/**
 * The last scan of each brand that a read model has applied: a table `applied_scan (brand_id, scanned_at)` with an
 * index on `scanned_at`. Several projections have one, each its own.
 *
 * Replies take `meta.as_of` from the table of the read model that holds their figures. A read model that is behind, or
 * paused, therefore never names a scan that its figures lack.
 */
export const recordAppliedScan: Statement = {
  columns: { brand_id: 'uuid', scanned_at: 'timestamptz' },
  touches: ['applied_scan'],
  sql: `
    insert into applied_scan as s (brand_id, scanned_at)
    select brand_id, max(scanned_at) from :input i group by brand_id
    on conflict (brand_id) do update set scanned_at = excluded.scanned_at where excluded.scanned_at > s.scanned_at`,
};

/** Returns the change for one recorded or corrected scan, run by a statement named `applied_scan`. */
export const appliedScan = ({ data }: ScanRecorded | ScanCorrected): Change => ({
  kind: 'run',
  statement: 'applied_scan',
  row: { brand_id: data.brand_id, scanned_at: data.observed_at },
});

/** SQL of the last applied scan of a brand as ISO text; null before its first. `schema` is that of the read model. */
export const scannedAtSql = (schema: string, brandId: string): string =>
  `(select ${isoTimeSql('w.scanned_at')} from ${schema}.applied_scan w where w.brand_id = ${brandId})`;

/** SQL of the last applied scan of any brand as ISO text; null before the first. */
export const newestScanSql = (schema: string): string =>
  `(select ${isoTimeSql('max(w.scanned_at)')} from ${schema}.applied_scan w)`;

/** A list of one brand, and the last applied scan of the brand; `null` before its first. */
export type ItemsAsOf = { readonly items: readonly string[]; readonly asOf: string | null };

/**
 * Returns SQL of one row: the items of a brand in their order, and the scan as of which they hold. One statement reads
 * both, from one snapshot. `items` is SQL of one column; `$1` is the brand.
 */
export const itemsAsOfSql = (schema: string, items: string): string =>
  `select array(${items}) as items, ${scannedAtSql(schema, '$1')} as "asOf"`;

/** Reads a list of one brand with the scan as of which it holds. `sql` is that of `itemsAsOfSql`. */
export const readItemsAsOf = async (
  db: ReadDatabase,
  sql: string,
  values: readonly unknown[],
): Promise<ItemsAsOf> => (await db.query<ItemsAsOf>({ sql, values }))[0] ?? { items: [], asOf: null };

/**
 * Reads the last applied scan of a brand, or `null`. Send it before the query of the figures: queries run in the order
 * in which they are sent, so figures are never older than the scan that their reply names.
 */
export const readScannedAt = async (
  db: ReadDatabase,
  schema: string,
  brandId: string,
): Promise<string | null> =>
  (
    await db.query<{ at: string | null }>({
      sql: `select ${scannedAtSql(schema, '$1')} as at`,
      values: [brandId],
    })
  )[0]?.at ?? null;

/** Reads the last applied scan of any brand, or `null`. Send it before the query of the figures. */
export const readNewestScan = async (db: ReadDatabase, schema: string): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: `select ${newestScanSql(schema)} as at`, values: [] }))[0]
    ?.at ?? null;
