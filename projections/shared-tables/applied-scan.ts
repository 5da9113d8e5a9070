import type { ScanCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import type { Change, Statement } from '../define-projection.ts';

/**
 * The newest look of a batch per brand. `resets`: a scan was no look, so the time of the newest one left (or null)
 * replaces it and earlier looks of the batch do not count. `time` and `order` are columns of the input.
 */
export const newestLookSql = (time: string, order: string): string => `
  select brand_id, bool_or(resets) as resets, max(at) filter (where nth >= coalesce(reset_nth, nth)) as at
  from (
    select brand_id, ${time} as at, ${order} as nth, resets,
      max(${order}) filter (where resets) over (partition by brand_id) as reset_nth
    from :input i
  ) i group by brand_id`;

/**
 * Table `applied_scan (brand_id, scanned_at)` of a projection. Replies take `meta.as_of` from the read model of their
 * figures, so one that is behind never names a scan that its figures lack.
 */
export const recordAppliedScan: Statement = {
  columns: { brand_id: 'uuid', scanned_at: 'timestamptz', position: 'bigint', resets: 'boolean' },
  touches: ['applied_scan'],
  sql: `
    with applied as materialized (${newestLookSql('scanned_at', 'position')}), gone as (
      delete from applied_scan s using applied a where s.brand_id = a.brand_id and a.resets and a.at is null
    )
    insert into applied_scan as s (brand_id, scanned_at)
    select brand_id, at from applied where at is not null
    on conflict (brand_id) do update set scanned_at = excluded.scanned_at
    where excluded.scanned_at > s.scanned_at
      or exists (select from applied a where a.brand_id = excluded.brand_id and a.resets)`,
};

/** For a statement named `applied_scan`. A scan that was no look resets the time; a correction may undo this. */
export const appliedScan = (event: RecordedEvent<ScanRecorded | ScanCorrected>): Change => {
  const { brand_id, observed_at } = event.data;
  const last = event.type === 'ScanCorrected' ? event.data.last_look : undefined;
  const resets = last !== undefined;
  const scanned_at = last === undefined ? observed_at : (last?.observed_at ?? null);
  return {
    kind: 'run',
    statement: 'applied_scan',
    row: { brand_id, scanned_at, position: event.position, resets },
  };
};

/** ISO text, null before the first scan. `schema` is that of the read model. */
export const scannedAtSql = (schema: string, brandId: string): string =>
  `(select ${isoTimeSql('w.scanned_at')} from ${schema}.applied_scan w where w.brand_id = ${brandId})`;

export const newestScanSql = (schema: string): string =>
  `(select ${isoTimeSql('max(w.scanned_at)')} from ${schema}.applied_scan w)`;

/** `asOf`: last applied scan of the brand, `null` before the first. */
export type ItemsAsOf = { readonly items: readonly string[]; readonly asOf: string | null };

/** Reads items and scan from one snapshot. `items` is SQL of one column; `$1` is the brand. */
export const itemsAsOfSql = (schema: string, items: string): string =>
  `select array(${items}) as items, ${scannedAtSql(schema, '$1')} as "asOf"`;

export const readItemsAsOf = async (
  db: ReadDatabase,
  sql: string,
  values: readonly unknown[],
): Promise<ItemsAsOf> => (await db.query<ItemsAsOf>({ sql, values }))[0] ?? { items: [], asOf: null };

/**
 * Last applied scan of a brand, or `null`. Send it before the query of the figures: queries run in the order sent, so
 * figures are never older than the scan that the reply names.
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

/** Last applied scan of any brand, or `null`. Send it before the query of the figures. */
export const readNewestScan = async (db: ReadDatabase, schema: string): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: `select ${newestScanSql(schema)} as at`, values: [] }))[0]
    ?.at ?? null;
