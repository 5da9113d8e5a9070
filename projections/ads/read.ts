import { isoTimeSql } from '#contracts/values/time.ts';
import { pageOfRows, readAdaptivePage } from '../sql/pages.ts';
import { appendFields, arrayText } from '#contracts/values/json-text.ts';
import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { unescapeStoredMedia } from '#contracts/values/media/stored-media.ts';
import { type ArchivedFile, archivedUrlOf } from '../queries/ad-archived-media.ts';
import { DAYS_ACTIVE, LAST_SEEN_AT, PAGE_OF_AD } from '../sql/ad-age.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';

const HISTORY_ENTRIES_MAX = 100;

type AdRow = AdContent & {
  readonly ad_id: string;
  readonly brand_id: string;
  readonly social_page_id: string | null;
  readonly page_name: string | null;
  readonly status: string;
  readonly countries: readonly string[];
  readonly started_on: string | null;
  readonly stopped_on: string | null;
  readonly listed_on: string;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  readonly days_active: number | null;
};

const COLUMNS = `a.ad_id, a.brand_id, a.social_page_id, a.page_name, a.status, a.format, a.body, a.title, a.cta_type,
  a.cta_text, a.link_url, a.platforms, a.countries, a.started_on::text, a.stopped_on::text, a.listed_on::text,
  ${isoTimeSql('a.first_seen_at')} as first_seen_at,
  ${isoTimeSql(LAST_SEEN_AT)} as last_seen_at, ${DAYS_ACTIVE} as days_active`;

const DETAIL_COLUMNS = 'a.link_description, a.caption, a.languages, a.media, a.cards, a.versions';

const FROM = `ads.ad a ${PAGE_OF_AD}`;

/** Address of an ad in the public library of the network. */
export const libraryUrl = (adId: string): string => `https://www.facebook.com/ads/library/?id=${adId}`;

const summaryOf = (row: AdRow) => ({
  id: row.ad_id,
  brand_id: row.brand_id,
  page: row.social_page_id === null ? null : { page_id: row.social_page_id, page_name: row.page_name },
  status: row.status,
  format: row.format ?? 'other',
  body: row.body,
  title: row.title,
  cta_type: row.cta_type,
  cta_text: row.cta_text,
  destination_url: row.link_url,
  platforms: row.platforms ?? [],
  countries: row.countries.filter((country) => country !== 'ALL'),
  started_on: row.started_on,
  stopped_on: row.stopped_on,
  first_seen_at: row.first_seen_at,
  last_seen_at: row.last_seen_at,
  days_active: row.days_active,
  library_url: libraryUrl(row.ad_id),
});

const copyOf = (card: AdContent['cards'][number]) => ({
  body: card.body,
  title: card.title,
  link_description: card.link_description,
  cta_text: card.cta_text,
  destination_url: card.link_url,
});

/**
 * Returns one ad in full, or `null`. `as_of` is the last applied scan of its brand, or a later sighting: events of an
 * ad are applied before the end of their scan, and another brand's scan may have seen it. `archived` is read
 * concurrently.
 */
export const findAd = async (
  db: ReadDatabase,
  adId: string,
  archived: Promise<readonly ArchivedFile[]> = Promise.resolve([]),
): Promise<{ json: string; as_of: string } | null> => {
  const found = db.query<AdRow & { brand: string; history: string; as_of: string }>({
    sql: `
      select ${COLUMNS}, ${DETAIL_COLUMNS}, ${BRAND_REFERENCE_SQL} as brand,
        ${isoTimeSql(`greatest(${LAST_SEEN_AT}, a.inactive_since, s.scanned_at, h.newest)`)} as as_of,
        coalesce(h.entries, '[]') as history
      from ${FROM} join ads.brand b on b.brand_id = a.brand_id
      left join ads.applied_scan s on s.brand_id = a.brand_id
      left join lateral (
        select case when bool_and(change <> 'attributed') then max(at) filter (where change <> 'corrected') end as newest,
          '[' || string_agg(json_build_object(
          'at', ${isoTimeSql('at')}, 'change', change, 'detail', detail
        )::text, ',' order by position desc) || ']' as entries
        from (select * from ads.history where ad_id = a.ad_id order by position desc limit ${HISTORY_ENTRIES_MAX}) h
      ) h on true
      where a.ad_id = $1`,
    values: [adId],
  });
  const [[row], archive] = await Promise.all([found, archived]);
  if (!row) return null;
  const detail = JSON.stringify({
    ...summaryOf(row),
    link_description: row.link_description,
    caption: row.caption,
    languages: row.languages ?? [],
    media: row.media.map(({ kind, url, poster_url }) => ({
      kind,
      source_url: url,
      poster_url,
      archived_url: archivedUrlOf(kind, row.media, archive),
    })),
    cards: row.cards.map(copyOf),
    versions: row.versions.map(copyOf),
  });
  const json = appendFields(unescapeStoredMedia(detail, ['archived_url']), {
    archived_media: arrayText(archive.map(({ text }) => text)),
    brand: row.brand,
    history: row.history,
  });
  return { json, as_of: row.as_of };
};

const pageOf = (rows: readonly AdRow[], limit: number): Page =>
  pageOfRows(rows, limit, {
    toItem: (row) => JSON.stringify(summaryOf(row)),
    cursorOf: (last) => [last.listed_on, last.ad_id],
  });

const follows = (ad: Fragment, { after }: PageRequest): Fragment | null =>
  after && sql.fragment`(${ad}.listed_on, ${ad}.ad_id) < (${sql.list(after)})`;

export const listBrandAds = async (db: ReadDatabase, brandId: string, page: PageRequest): Promise<Page> => {
  const rows = await db.query<AdRow>(sql.unsafe`
    select ${raw(COLUMNS)} from ${raw(FROM)}
    where ${sql.and([sql.fragment`a.brand_id = ${brandId}`, follows(sql.fragment`a`, page)])}
    order by a.listed_on desc, a.ad_id desc limit ${page.limit + 1}`);
  return pageOf(rows, page.limit);
};

/** `null` for an unknown ad. */
export const readBrandOfAd = async (db: ReadDatabase, adId: string): Promise<string | null> => {
  const rows = await db.query<{ brand_id: string | null }>({
    sql: 'select brand_id from ads.ad where ad_id = $1',
    values: [adId],
  });
  return rows[0]?.brand_id ?? null;
};

/** By id; unknown ids are absent. */
export const readAdSummaries = async (
  db: ReadDatabase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await db.query<AdRow>({
    sql: `select ${COLUMNS} from ${FROM} where a.ad_id = any($1::text[])`,
    values: [ids],
  });
  return new Map(rows.map((row) => [row.ad_id, JSON.stringify(summaryOf(row))]));
};

/** Days, both included; either end may be open. */
export type DayWindow = { readonly from?: string | undefined; readonly to?: string | undefined };

export type BrandAdFilter = {
  readonly pageId?: string;
  readonly platform?: string;
  readonly language?: string;
  readonly ctaType?: string;
  readonly status?: string;
  /** Days on which ads are listed. */
  readonly started: DayWindow;
  /** UTC days on which ads were confirmed inactive. */
  readonly inactive: DayWindow;
  readonly sort: 'newest' | 'longest_running';
};

const startOfDay = (date: string): Fragment => sql.fragment`(${date}::date::timestamp at time zone 'utc')`;

/** Ads that were never running are last. */
const PLACES = {
  newest: { place: sql.fragment`a.listed_on`, type: raw('date') },
  longest_running: { place: raw(`coalesce(${DAYS_ACTIVE}, -1)`), type: raw('int') },
} as const;

/** The index of the brand finds the page, and filters by what it includes; only shown ads are read whole. */
export const searchBrandAds = async (
  db: ReadDatabase,
  brandId: string,
  filter: BrandAdFilter,
  { after, limit }: PageRequest,
): Promise<Page> => {
  const { pageId, platform, language, ctaType, status, started, inactive, sort } = filter;
  const { place, type } = PLACES[sort];
  const isInactive = inactive.from !== undefined || inactive.to !== undefined;
  const where = sql.and([
    sql.fragment`a.brand_id = ${brandId}::uuid`,
    pageId !== undefined && sql.fragment`a.social_page_id = ${pageId}`,
    platform !== undefined && sql.fragment`a.platforms @> array[${platform}]::text[]`,
    language !== undefined && sql.fragment`a.languages @> array[${language}]::text[]`,
    ctaType !== undefined && sql.fragment`a.cta_type = ${ctaType}`,
    status !== undefined && sql.fragment`a.status = ${status}`,
    started.from !== undefined && sql.fragment`a.listed_on >= ${started.from}::date`,
    started.to !== undefined && sql.fragment`a.listed_on <= ${started.to}::date`,
    isInactive && sql.fragment`a.status = 'inactive'`,
    inactive.from !== undefined && sql.fragment`a.inactive_since >= ${startOfDay(inactive.from)}`,
    inactive.to !== undefined &&
      sql.fragment`a.inactive_since < ${startOfDay(inactive.to)} + interval '24 hours'`,
    after && sql.fragment`(${place}, a.ad_id) < (${after[0] ?? ''}::${type}, ${after[1] ?? ''})`,
  ]);
  const rows = await db.slow<AdRow & { readonly place: string }>(sql.unsafe`
    select ${raw(COLUMNS)}, k.place::text from (
      select a.ad_id, ${place} as place from ${raw(FROM)} where ${where}
      order by place desc, a.ad_id desc limit ${limit + 1}
    ) k join ads.ad a using (ad_id) ${raw(PAGE_OF_AD)}
    order by k.place desc, a.ad_id desc`);
  return pageOfRows(rows, limit, {
    toItem: (row) => JSON.stringify(summaryOf(row)),
    cursorOf: (last) => [last.place, last.ad_id],
  });
};

export type AdFilter = {
  /** Words that the copy must contain, all of them; `"a phrase"`, `or` and `-word` as in web searches. */
  readonly q?: string;
  readonly format?: string;
  readonly status?: string;
  readonly country?: string;
  readonly brandId?: string;
  /** Date; only ads listed on or after it. */
  readonly startedSince?: string;
};

export const searchAds = (db: ReadDatabase, filter: AdFilter, page: PageRequest): Promise<Page> =>
  filter.q === undefined || filter.q === ''
    ? listAds(db, filter, page)
    : searchWords(db, filter, filter.q, page);

/** Ads matching several facets are older than a scan along the order reaches; the scan is preferred for longer. */
const EXPECTED_PAGES_OF_SEVERAL_FACETS = 0.25;

const facetsOf = ({ format, status, country }: AdFilter): readonly string[] =>
  [format, status, country].filter((facet) => facet !== undefined);

const LIST = {
  scan: {
    columns: sql.fragment`s.ad_id, s.listed_on as place`,
    from: sql.fragment`ads.ad s`,
    order: sql.fragment`s.listed_on desc, s.ad_id desc`,
  },
  filterTable: { from: sql.fragment`ads.ad c`, key: sql.fragment`ad_id` },
  show: {
    columns: raw(`${COLUMNS}, a.listed_on::text as key`),
    joins: raw(`join ads.ad a using (ad_id) ${PAGE_OF_AD}`),
  },
  order: sql.fragment`s.place desc, s.ad_id desc`,
};

const listAds = async (db: ReadDatabase, filter: AdFilter, page: PageRequest): Promise<Page> => {
  const { brandId, startedSince } = filter;
  // Repeated for the scan and the search: two conditions together may match few ads where one matches many.
  const bounds = (ad: Fragment): Fragment =>
    sql.and([
      brandId !== undefined && sql.fragment`${ad}.brand_id = ${brandId}::uuid`,
      startedSince !== undefined && sql.fragment`${ad}.listed_on >= ${startedSince}::date`,
      follows(ad, page),
    ]);
  const facets = facetsOf(filter);
  const adaptive = {
    where: bounds(sql.fragment`s`),
    conditions:
      facets.length === 0
        ? []
        : [sql.fragment`c.facets @> ${sql.array(facets, 'text')}`, bounds(sql.fragment`c`)],
    ...(facets.length > 1 ? { expectedPages: EXPECTED_PAGES_OF_SEVERAL_FACETS } : {}),
  };
  return pageOf(
    await readAdaptivePage<AdRow & { readonly key: string }>(db, LIST, adaptive, page),
    page.limit,
  );
};

const searchWords = async (
  db: ReadDatabase,
  { format, status, country, brandId, startedSince }: AdFilter,
  q: string,
  page: PageRequest,
): Promise<Page> => {
  const conditions = sql.and([
    sql.fragment`a.tsv @@ websearch_to_tsquery('simple', ${q})`,
    format !== undefined && sql.fragment`a.format = ${format}`,
    status !== undefined && sql.fragment`a.status = ${status}`,
    country !== undefined && sql.fragment`a.countries @> array[${country}]::text[]`,
    brandId !== undefined && sql.fragment`a.brand_id = ${brandId}::uuid`,
    startedSince !== undefined && sql.fragment`a.listed_on >= ${startedSince}::date`,
    follows(sql.fragment`a`, page),
  ]);
  const rows = await db.slow<AdRow>(sql.unsafe`
    select ${raw(COLUMNS)} from ${raw(FROM)} where ${conditions}
    order by a.listed_on desc, a.ad_id desc limit ${page.limit + 1}`);
  return pageOf(rows, page.limit);
};
