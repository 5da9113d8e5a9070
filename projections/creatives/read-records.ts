import { isoTimeSql } from '#contracts/values/time.ts';
import { appendFields, joinObjects, objectText } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK, BASE_URL_SQL } from '#contracts/values/base-url.ts';
import { mediaUrlOf, posterUrlOf, unescapeStoredMedia } from '#contracts/values/media/stored-media.ts';
import { CREATIVE_FIELD_NAMES, type CreativeField } from '#contracts/values/media/creatives.ts';
import { excerptOfBody } from '#contracts/events/corpus/ad-library.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { pageOfRows, readAdaptivePage } from '../sql/pages.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';
import { countedTogether } from './pictures.ts';
import { PUBLIC_SCOPE } from './statements.ts';

const BRANDS_OF_RECORD_MAX = 20;
const ADS_OF_RECORD_MAX = 100;
const EXCERPT_SOURCE_CHARACTERS = 600;

type RecordRow = {
  readonly creative_key: string;
  readonly media_kind: string;
  readonly content_type: string | null;
  readonly bytes: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly duration_seconds: number | null;
  readonly media_url: string | null;
  readonly object_key: string | null;
  readonly poster_url: string | null;
  readonly poster_object_key: string | null;
  readonly depth: string;
  readonly transcript_start: string | null;
  readonly active_ads: string;
  readonly total_ads: string;
  readonly stored_at: string;
  readonly as_of: string;
} & Readonly<Record<CreativeField, string | null>>;

const COLUMNS = `f.creative_key, f.media_kind, f.content_type, f.bytes::text, f.width, f.height, f.duration_seconds,
  f.media_url, f.object_key, f.poster_url, f.poster_object_key, coalesce(f.depth, 'measured') as depth, ${CREATIVE_FIELD_NAMES.map((field) => `f.${field}`).join()},
  left(f.transcript, ${EXCERPT_SOURCE_CHARACTERS}) as transcript_start, n.active_ads::text, n.total_ads::text,
  ${isoTimeSql('f.stored_at')} as stored_at, ${isoTimeSql('greatest(f.measured_at, f.read_at)')} as as_of`;

const summaryOf = (row: RecordRow): string => {
  const text = JSON.stringify({
    creative_key: row.creative_key,
    media_kind: row.media_kind,
    content_type: row.content_type,
    bytes: row.bytes === null ? null : Number(row.bytes),
    width: row.width,
    height: row.height,
    duration_seconds: row.duration_seconds,
    media_url: mediaUrlOf(row),
    poster_url: posterUrlOf(row),
    depth: row.depth,
    fields: Object.fromEntries(CREATIVE_FIELD_NAMES.map((field) => [field, row[field]])),
    transcript_excerpt: excerptOfBody(row.transcript_start),
    active_ads: Number(row.active_ads),
    total_ads: Number(row.total_ads),
    stored_at: row.stored_at,
    as_of: row.as_of,
  });
  return appendFields(unescapeStoredMedia(text, ['media_url', 'poster_url']), {
    url: `"${BASE_URL_MARK}/v1/creative-records/${row.creative_key}"`,
  });
};

const FILE_NUMBERS = ['duration_seconds', 'bytes', 'width', 'height'] as const;
export const RANGED_FIELDS = [...FILE_NUMBERS, 'active_ads'] as const;
export type RangedField = (typeof RANGED_FIELDS)[number];
export type Range = { readonly min?: number | undefined; readonly max?: number | undefined };

export type RecordFilter = {
  readonly brandId?: string;
  /** All must match: `media_kind:video`, `depth:described`, `hook:question`. */
  readonly facets: readonly string[];
  readonly ranges: Readonly<Partial<Record<RangedField, Range>>>;
  /** All words must be spoken or shown on screen; `"a phrase"`, `or` and `-word` as in web searches. */
  readonly said?: string;
  readonly shown?: string;
};

const within = (column: Fragment, { min, max }: Range = {}): readonly Fragment[] =>
  [
    min !== undefined && sql.fragment`${column} >= ${min}`,
    max !== undefined && sql.fragment`${column} <= ${max}`,
  ].filter((one) => one !== false);

const fileConditions = ({ facets, ranges, said, shown }: RecordFilter): readonly Fragment[] =>
  [
    facets.length > 0 && sql.fragment`f.facets @> ${sql.array(facets, 'text')}`,
    said !== undefined && sql.fragment`f.said @@ websearch_to_tsquery('simple', ${said})`,
    shown !== undefined && sql.fragment`f.shown @@ websearch_to_tsquery('simple', ${shown})`,
    ...FILE_NUMBERS.flatMap((name) => within(raw(`f.${name}`), ranges[name])),
  ].filter((one) => one !== false);

const recordsIn = (table: string) => ({
  scan: {
    columns: sql.fragment`s.creative_key, s.active_ads as place`,
    from: raw(`creatives.${table} s`),
    order: sql.fragment`s.active_ads desc, s.creative_key desc`,
  },
  filterTable: { from: sql.fragment`creatives.file f`, key: sql.fragment`creative_key` },
  show: {
    columns: raw(`${COLUMNS}, s.place::text as key`),
    joins: sql.fragment`
      join creatives.file_count n using (creative_key) join creatives.file f using (creative_key)`,
  },
  order: sql.fragment`s.place desc, s.creative_key desc`,
});
const ALL_RECORDS = recordsIn('file_count');
const RECORDS_OF_BRANDS = recordsIn('file_scope');

export const searchRecords = async (
  db: ReadDatabase,
  filter: RecordFilter,
  page: PageRequest,
): Promise<Page> => {
  const { brandId } = filter;
  const where = sql.and([
    brandId !== undefined && sql.fragment`s.scope_id = ${brandId}`,
    ...within(sql.fragment`s.active_ads`, filter.ranges.active_ads),
    page.after && sql.fragment`(s.active_ads, s.creative_key) < (${sql.list(page.after)})`,
  ]);
  const rows = await readAdaptivePage<RecordRow & { readonly key: string }>(
    db,
    brandId === undefined ? ALL_RECORDS : RECORDS_OF_BRANDS,
    { where, conditions: fileConditions(filter) },
    page,
  );
  return pageOfRows(rows, page.limit, {
    toItem: summaryOf,
    cursorOf: (last) => [Number(last.key), last.creative_key],
  });
};

/** By key; unknown keys are absent. */
export const readRecordSummaries = async (
  db: ReadDatabase,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await db.query<RecordRow>({
    sql: `select ${COLUMNS} from creatives.file f join creatives.file_count n using (creative_key)
      where f.creative_key = any($1::text[])`,
    values: [keys],
  });
  return new Map(rows.map((row) => [row.creative_key, summaryOf(row)]));
};

/** Two keys suffice to tell that a prefix is not unique. */
export const findRecordKeys = async (db: ReadDatabase, prefix: string): Promise<readonly string[]> => {
  const rows = await db.query<{ creative_key: string }>({
    // No hexadecimal digit sorts after `f`, so `g` ends the range. A prepared `like` would not use the index.
    sql: `select creative_key from creatives.file_count where creative_key >= $1 and creative_key < $1 || 'g' limit 2`,
    values: [prefix],
  });
  return rows.map(({ creative_key }) => creative_key);
};

type DetailRow = RecordRow & {
  readonly frame_times_seconds: readonly number[] | null;
  readonly read_frame_times_seconds: readonly number[] | null;
  readonly transcript: string | null;
  readonly language: string | null;
  readonly corrections: readonly object[] | null;
  readonly shown_texts: readonly string[] | null;
  /** JSON texts. */
  readonly brands: string | null;
  readonly ads: string | null;
};

/** Ads of all files with the same picture count as ads of the file `f`. */
const SAME_PICTURE = `array(
  select f.creative_key union all
  select o.creative_key from creatives.hashed_file d cross join lateral (${countedTogether('d.hash', 'creatives.')}) s
    join creatives.hashed_file o on o.hash = s.hash
  where d.creative_key = f.creative_key and o.creative_key <> f.creative_key)`;

const DETAIL = `
  select ${COLUMNS}, f.frame_times_seconds, f.read_frame_times_seconds, f.transcript, f.language, f.corrections,
    f.shown_texts, r.brands, l.ads
  from creatives.file f join creatives.file_count n using (creative_key)
  left join lateral (
    select '[' || string_agg('{"brand":' || reference || ',"active_ads":' || active_ads || ',"total_ads":' || total_ads
      || '}', ',' order by active_ads desc, total_ads desc, brand_id) || ']' as brands
    from (
      select b.brand_id, min(${BRAND_REFERENCE_SQL}) as reference,
        count(distinct a.ad_id) filter (where coalesce(a.active, true)) as active_ads,
        count(distinct a.ad_id) as total_ads
      from creatives.carriage c join creatives.ad a using (ad_id) join creatives.brand b on b.brand_id = a.brand_id
      where c.creative_key = any(${SAME_PICTURE}) and b.slug is not null group by b.brand_id
      order by 3 desc, 4 desc, 1 limit ${BRANDS_OF_RECORD_MAX}
    ) r
  ) r on true
  left join lateral (
    select '[' || string_agg('{"id":"' || ad_id || '","brand_id":"' || brand_id || '","active":' || active
      || ',"creative_id":"' || creative_id || '","url":"' || ${BASE_URL_SQL} || '/v1/ads/' || ad_id || '"}', ',' order by place)
      || ']' as ads
    from (
      select a.ad_id, a.brand_id, coalesce(a.active, true)::text as active, c.creative_id,
        row_number() over (order by coalesce(a.active, true) desc, a.listed_on desc, a.ad_id desc) as place
      from (
        -- An ad that carries several files with the picture is listed with this file, if it carries it.
        select distinct on (ad_id) ad_id, creative_id from creatives.carriage
        where creative_key = any(${SAME_PICTURE}) order by ad_id, creative_key <> f.creative_key, creative_key
      ) c join creatives.ad a using (ad_id)
      order by place limit ${ADS_OF_RECORD_MAX}
    ) l
  ) l on true
  where f.creative_key = $1`;

export const findRecord = async (
  db: ReadDatabase,
  creativeKey: string,
): Promise<{ readonly json: string; readonly as_of: string } | null> => {
  const [row] = await db.query<DetailRow>({ sql: DETAIL, values: [creativeKey] });
  if (!row) return null;
  const more = JSON.stringify({
    frame_times_seconds: row.frame_times_seconds,
    read_frame_times_seconds: row.read_frame_times_seconds,
    transcript:
      row.transcript === null
        ? null
        : { text: row.transcript, language: row.language, corrections: row.corrections },
    shown_texts: row.shown_texts,
  });
  const summary = appendFields(summaryOf(row), { brands: row.brands ?? '[]', ads: row.ads ?? '[]' });
  return { json: joinObjects(summary, more), as_of: row.as_of };
};

export type Coverage = { readonly json: string; readonly as_of: string | null };

const SEEN = 'select seen_at from creatives.scope where scope_id = $1';
const SEEN_OF_PUBLIC = `
  select p.seen_at from creatives.scope p join creatives.brand b on b.brand_id = p.scope_id
  where b.is_public order by p.seen_at desc limit 1`;

export const readCoverage = async (
  db: ReadDatabase,
  brandId: string | null,
  brand: string,
): Promise<Coverage> => {
  const scopeId = brandId ?? PUBLIC_SCOPE;
  const rows = await db.query<{ facet: string; files: string; as_of: string }>({
    sql: `
      select v.facet, v.files::text,
        ${isoTimeSql('s.seen_at')} as as_of
      from creatives.coverage v, (${brandId === null ? SEEN_OF_PUBLIC : SEEN}) s
      where v.scope_id = $1 and v.files > 0 order by v.files desc, v.facet`,
    values: [scopeId],
  });
  const filesOf = new Map(rows.map(({ facet, files }) => [facet, Number(files)]));
  const files = (facet: string): number => filesOf.get(facet) ?? 0;
  const described = files('depth:described');
  const fields = CREATIVE_FIELD_NAMES.map((field) => {
    const values = [...filesOf]
      .filter(([facet]) => facet.startsWith(`${field}:`))
      .map(([facet, count]) => ({ value: facet.slice(field.length + 1), files: count }));
    const read = values.reduce((sum, value) => sum + value.files, 0);
    return described === 0
      ? { field, values: null, not_read: null }
      : { field, values, not_read: described - read };
  });
  const text = JSON.stringify({
    measured_files: files('media_kind:image') + files('media_kind:video'),
    images: files('media_kind:image'),
    videos: files('media_kind:video'),
    transcribed_files: files('depth:transcribed') + described,
    described_files: described,
    fields,
  });
  return { json: joinObjects(objectText({ brand }), text), as_of: rows[0]?.as_of ?? null };
};
