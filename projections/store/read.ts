import { isoTimeSql } from '#contracts/values/time.ts';
import { arrayText, objectText } from '#contracts/values/json-text.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';

export const STORE_WEEKS = 12;
/** Only the newest changes of these weeks; the weekly counts include all. */
export const STORE_CHANGES_MAX = 200;

// Weeks count back from the shop's newest scan; those without a scan are absent, not zero. A late scan, or one before
// the first product, counts for its week but not for the catalogue.
const WEEKS = `
  with newest as (
    select max(observed_at) as at from store.scan where brand_id = $1
  ), week as (
    select date_trunc('week', s.observed_at at time zone 'utc')::date as week_start,
      count(*) as scans, count(*) filter (where s.complete) as complete_scans,
      (array_agg(s.products order by s.observed_at desc) filter (where not s.late_arrival and s.products > 0))[1] as products,
      sum(s.listed)::bigint as listed, sum(s.returned)::bigint as returned, sum(s.delisted)::bigint as delisted,
      sum(s.changed)::bigint as changed, sum(s.cheaper)::bigint as cheaper, sum(s.dearer)::bigint as dearer,
      sum(s.mixed)::bigint as mixed
    from store.scan s, newest
    where s.brand_id = $1
      and s.observed_at >= (date_trunc('week', newest.at at time zone 'utc') - interval '${STORE_WEEKS - 1} weeks') at time zone 'utc'
    group by 1
  )
  select row_to_json(week)::text as item from week order by week_start`;

const LATEST = `
  select l.item, ${isoTimeSql('l.observed_at')} as scanned_at, l.products, l.missing, c.currency,
    ${isoTimeSql('c.completed_at')} as completed_at, ${isoTimeSql('c.collected_at')} as collected_at
  from (
    select item, observed_at, products, missing from store.scan
    where brand_id = $1 and not late_arrival order by observed_at desc limit 1
  ) l cross join lateral (
    select max(observed_at) filter (where complete) as completed_at,
      max(observed_at) filter (where seen > 0) as collected_at,
      (array_agg(item::json ->> 'currency' order by observed_at desc)
        filter (where item::json ->> 'currency' is not null))[1] as currency
    from store.scan where brand_id = $1 and not late_arrival
  ) c`;

const PRODUCTS = `
  select product_id, item from store.product
  where brand_id = $1 and listed and number < $2::numeric order by number desc limit $3`;

const CHANGES = `
  select item from store.change
  where brand_id = $1 and observed_at >= (
    select date_trunc('week', max(observed_at) at time zone 'utc') - interval '${STORE_WEEKS - 1} weeks'
    from store.scan where brand_id = $1
  ) at time zone 'utc'
  order by observed_at desc, product_id desc, type desc limit ${STORE_CHANGES_MAX}`;

/** Start cursor: greater than any product's number. */
const BEFORE_NEWEST = '1e30';

type Latest = {
  readonly item: string;
  readonly scanned_at: string;
  readonly products: string;
  readonly missing: string;
  readonly currency: string | null;
  readonly completed_at: string | null;
  readonly collected_at: string | null;
};

const textsOf = (rows: readonly { readonly item: string }[]): string =>
  arrayText(rows.map(({ item }) => item));

const quotedOrNull = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

/** `null` before the first scan; `not_collected` without any product: no catalogue is not an empty one. */
export const readStore = async (
  db: ReadDatabase,
  brandId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly data: string; readonly asOf: string | null }> => {
  const values = [brandId];
  const [[latest], weeks, found, changes] = await Promise.all([
    db.query<Latest>({ sql: LATEST, values }),
    db.query<{ item: string }>({ sql: WEEKS, values }),
    db.query<{ product_id: string; item: string }>({
      sql: PRODUCTS,
      values: [brandId, page.after ?? BEFORE_NEWEST, page.limit + 1],
    }),
    db.query<{ item: string }>({ sql: CHANGES, values }),
  ]);
  const collected = latest !== undefined && latest.collected_at !== null;
  const products = found.slice(0, page.limit);
  const next = found.length > page.limit ? (products.at(-1)?.product_id ?? null) : null;
  const data = objectText({
    status: collected ? '"collected"' : '"not_collected"',
    latest_scan: latest?.item ?? 'null',
    last_complete_scan_at: quotedOrNull(latest?.completed_at ?? null),
    currency: quotedOrNull(latest?.currency ?? null),
    products_total: collected ? latest.products : 'null',
    missing_products: collected ? latest.missing : 'null',
    products: collected ? textsOf(products) : 'null',
    next_product_id: collected ? quotedOrNull(next) : 'null',
    weeks: textsOf(weeks),
    changes: textsOf(changes),
  });
  return { data, asOf: latest?.collected_at ?? latest?.scanned_at ?? null };
};
