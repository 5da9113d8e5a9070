import { isoTimeSql } from '#contracts/values/time.ts';
import { appendFields, arrayText, objectText } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { excerptOfBody } from '#contracts/events/corpus/ad-library.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { DAYS_ACTIVE, PAGE_OF_AD } from '../sql/ad-age.ts';
import { CREATIVE_COLUMNS, CREATIVE_FROM, type CreativeRow, creativeText } from '../sql/json.ts';

const CREATIVES_OF_AD_MAX = 4;
const CTAS_MAX = 20;

export type LibraryQuery = {
  readonly brandId: string;
  readonly sample: number;
  /** Day of the brand's last scan, `YYYY-MM-DD`, from which ages count back. */
  readonly day: string;
};

const AS_OF = `
  select ${isoTimeSql('least(a.scanned_at, c.scanned_at)')} as at
  from ads.applied_scan a join creatives.applied_scan c using (brand_id) where a.brand_id = $1`;

/** Last scan that both read models have applied, or `null`. Read it before the library, whose ages end with its day. */
export const readLibraryAsOf = async (db: ReadDatabase, brandId: string): Promise<string | null> =>
  (await db.query<{ at: string }>({ sql: AS_OF, values: [brandId] }))[0]?.at ?? null;

type AdRow = {
  readonly ad_id: string;
  readonly social_page_id: string | null;
  readonly page_name: string | null;
  readonly format: string | null;
  readonly title: string | null;
  readonly body: string | null;
  readonly cta_type: string | null;
  readonly started_on: string | null;
  readonly days_active: number | null;
};

/** Running ads with stored media: the oldest, and the newest others. */
const sampleIds = async (
  db: ReadDatabase,
  { brandId, sample }: LibraryQuery,
): Promise<{ readonly oldest: readonly string[]; readonly newest: readonly string[] }> => {
  const ids = (direction: 'asc' | 'desc', limit: number) =>
    db.query<{ ad_id: string }>({
      sql: `select ad_id from creatives.ad where brand_id = $1 and active and stored
        order by listed_on ${direction}, ad_id ${direction} limit $2`,
      values: [brandId, limit],
    });
  const half = Math.ceil(sample / 2);
  const [oldestRows, newestRows] = await Promise.all([ids('asc', half), ids('desc', sample)]);
  const oldest = oldestRows.map(({ ad_id }) => ad_id);
  const newest = newestRows.map(({ ad_id }) => ad_id).filter((id) => !oldest.includes(id));
  return { oldest, newest: newest.slice(0, sample - half) };
};

const readAds = async (db: ReadDatabase, ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map();
  const [ads, creatives] = await Promise.all([
    db.query<AdRow>({
      sql: `select a.ad_id, a.social_page_id, a.page_name, a.format, a.title, a.body, a.cta_type, a.started_on::text,
          ${DAYS_ACTIVE} as days_active
        from ads.ad a ${PAGE_OF_AD} where a.ad_id = any($1::text[])`,
      values: [ids],
    }),
    db.query<CreativeRow>({
      sql: `select c.* from unnest($1::text[]) as t(ad_id) cross join lateral (
          select ${CREATIVE_COLUMNS} from ${CREATIVE_FROM} where c.ad_id = t.ad_id and c.stored
          order by c.first_seen_at, c.creative_id limit ${CREATIVES_OF_AD_MAX}
        ) c`,
      values: [ids],
    }),
  ]);
  return new Map(
    ads.map((ad) => {
      const own = creatives.filter(({ ad_id }) => ad_id === ad.ad_id).map(creativeText);
      return [ad.ad_id, libraryAd(ad, own)];
    }),
  );
};

const libraryAd = (ad: AdRow, creatives: readonly string[]): string => {
  const text = JSON.stringify({
    id: ad.ad_id,
    page: ad.social_page_id === null ? null : { page_id: ad.social_page_id, page_name: ad.page_name },
    format: ad.format ?? 'other',
    title: ad.title,
    body: excerptOfBody(ad.body),
    cta_type: ad.cta_type,
    started_on: ad.started_on,
    days_active: ad.days_active,
  });
  return appendFields(text, {
    creatives: arrayText(creatives),
    url: `"${BASE_URL_MARK}/v1/ads/${ad.ad_id}"`,
  });
};

type TotalsRow = {
  readonly format: string | null;
  readonly cta_type: string | null;
  readonly ads: number;
  readonly days_7: number;
  readonly days_30: number;
  readonly days_90: number;
  readonly longest: number | null;
};

const readTotals = async (db: ReadDatabase, { brandId, day }: LibraryQuery): Promise<object> => {
  const [rows, stored] = await Promise.all([
    db.query<TotalsRow>({
      sql: `
        select format, cta_type, count(*)::int as ads, count(*) filter (where listed_on <= $2::date - 7)::int as days_7,
          count(*) filter (where listed_on <= $2::date - 30)::int as days_30,
          count(*) filter (where listed_on <= $2::date - 90)::int as days_90,
          greatest(0, $2::date - min(listed_on)) as longest
        from creatives.ad where brand_id = $1 and active group by format, cta_type`,
      values: [brandId, day],
    }),
    db.query<{ ads: number }>({
      sql: 'select count(*)::int as ads from creatives.ad where brand_id = $1 and active and stored',
      values: [brandId],
    }),
  ]);
  const sum = (of: (row: TotalsRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const active = sum(({ ads }) => ads);
  const over = [sum((row) => row.days_7), sum((row) => row.days_30), sum((row) => row.days_90)] as const;
  const formatted = (format: string): number =>
    sum((row) => ((row.format ?? 'other') === format ? row.ads : 0));
  const ctas = new Map<string | null, number>();
  for (const { cta_type, ads } of rows) ctas.set(cta_type, (ctas.get(cta_type) ?? 0) + ads);
  return {
    active_ads: active,
    with_stored_media: stored[0]?.ads ?? 0,
    formats: {
      video: formatted('video'),
      image: formatted('image'),
      carousel: formatted('carousel'),
      dco: formatted('dco'),
      other: formatted('other'),
    },
    ctas: [...ctas]
      .map(([cta_type, ads]) => ({ cta_type, ads }))
      .toSorted((a, b) => b.ads - a.ads || ((a.cta_type ?? '') < (b.cta_type ?? '') ? -1 : 1))
      .slice(0, CTAS_MAX),
    longevity: {
      days_0_6: active - over[0],
      days_7_29: over[0] - over[1],
      days_30_89: over[1] - over[2],
      days_90_plus: over[2],
      longest_days: active === 0 ? null : Math.max(...rows.map(({ longest }) => longest ?? 0)),
    },
  };
};

export const readCreativeLibrary = async (
  db: ReadDatabase,
  query: LibraryQuery,
  reference: string,
): Promise<string> => {
  const [{ oldest, newest }, totals] = await Promise.all([sampleIds(db, query), readTotals(db, query)]);
  const texts = await readAds(db, [...oldest, ...newest]);
  const list = (ids: readonly string[]): string => arrayText(ids.flatMap((id) => texts.get(id) ?? []));
  return objectText({
    brand: reference,
    sample_cap: String(query.sample),
    longest_running: list(oldest),
    newest: list(newest),
    totals: JSON.stringify(totals),
  });
};
