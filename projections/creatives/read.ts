import { isoTimeSql } from '#contracts/values/time.ts';
import { thumbUrlOf, unescapeStoredMedia } from '#contracts/values/media/stored-media.ts';
import { pageOfRows } from '../sql/pages.ts';
import { creativeIdOf } from '#contracts/values/media/creatives.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { raw, sql } from '../sql/sql-tag.ts';
import { CREATIVE_COLUMNS, CREATIVE_FROM, type CreativeRow, creativeText } from '../sql/json.ts';

/** Maximum files returned for one ad. No ad made by a person has more. */
const CREATIVES_OF_AD_MAX = 1_000;
const THUMBS_MAX = 4;

export const listCreatives = async (
  db: ReadDatabase,
  of: { readonly adId: string } | { readonly brandId: string },
  page: PageRequest,
): Promise<Page> => {
  const where = sql.and([
    'adId' in of ? sql.fragment`c.ad_id = ${of.adId}` : sql.fragment`c.brand_id = ${of.brandId}`,
    sql.fragment`c.stored`,
    page.after && sql.fragment`(c.listed_on, c.creative_id) < (${sql.list(page.after)})`,
  ]);
  const rows = await db.query<CreativeRow>(sql.unsafe`
    select ${raw(CREATIVE_COLUMNS)} from ${raw(CREATIVE_FROM)} where ${where}
    order by c.listed_on desc, c.creative_id desc limit ${page.limit + 1}`);
  return pageOfRows(rows, page.limit, {
    toItem: creativeText,
    cursorOf: (last) => [last.listed_on, last.creative_id],
  });
};

/** `null` if the ad does not exist. */
export const findCreativesOfAd = async (
  db: ReadDatabase,
  adId: string,
): Promise<readonly string[] | null> => {
  const [adRows, { items }] = await Promise.all([
    db.query({ sql: 'select 1 from creatives.ad where ad_id = $1', values: [adId] }),
    listCreatives(db, { adId }, { limit: CREATIVES_OF_AD_MAX, after: null }),
  ]);
  return adRows.length === 0 ? null : items;
};

export type FoundCreative = { readonly id: string; readonly json: string; readonly as_of: string };

/** In no order; omits unknown ids. Includes files that are not stored, since records and thumbnails name them. */
export const findCreatives = async (
  db: ReadDatabase,
  ids: readonly string[],
): Promise<readonly FoundCreative[]> => {
  const rows = await db.query<CreativeRow>({
    sql: `select ${CREATIVE_COLUMNS} from ${CREATIVE_FROM} where c.creative_id = any($1::uuid[])`,
    values: [ids],
  });
  return rows.map((row) => ({ id: row.creative_id, json: creativeText(row), as_of: row.as_of }));
};

const NEWEST = `select ${isoTimeSql('max(seen_at)')} as at from creatives.scope`;
const NEWEST_OF_BRAND = `select ${isoTimeSql('seen_at')} as at from creatives.scope where scope_id = $1`;

/** `null` without any file. Send it before the query of the figures. */
/** Keys of the files that the ad carries. */
export const readFilesOfAd = async (db: ReadDatabase, adId: string): Promise<readonly string[]> => {
  const rows = await db.query<{ creative_key: string }>({
    sql: 'select creative_key from creatives.carriage where ad_id = $1',
    values: [adId],
  });
  return rows.map(({ creative_key }) => creative_key);
};

export const readNewestOfFiles = async (db: ReadDatabase): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: NEWEST, values: [] }))[0]?.at ?? null;

/** `null` without any file of the brand. */
export const readNewestOfBrandFiles = async (db: ReadDatabase, brandId: string): Promise<string | null> =>
  (await db.query<{ at: string | null }>({ sql: NEWEST_OF_BRAND, values: [brandId] }))[0]?.at ?? null;

type ThumbRow = {
  readonly brand_id: string;
  readonly creative_key: string | null;
  readonly newest_ad_id: string;
  readonly media_kind: string;
  readonly poster_url: string | null;
  readonly poster_object_key: string | null;
  readonly thumb_object_key: string | null;
  readonly media_url: string | null;
  readonly object_key: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly newest_on: string;
  readonly as_of: string;
};

/** Selects files of live ads that have an image, newest first; a brand without any gets an empty list. */
export const readBrandThumbs = async (
  db: ReadDatabase,
  brandIds: readonly string[],
): Promise<{ readonly items: readonly string[]; readonly as_of: string | null }> => {
  const rows = await db.query<ThumbRow>({
    sql: `
      select t.brand_id, k.creative_key, k.newest_ad_id, k.newest_on::text, f.media_kind, f.width, f.height,
        f.poster_url, f.poster_object_key, f.thumb_object_key, f.media_url, f.object_key, ${isoTimeSql('greatest(f.measured_at, f.read_at)')} as as_of
      from unnest($1::uuid[]) with ordinality as t(brand_id, place)
      left join lateral (
        select s.creative_key, s.newest_ad_id, s.newest_on from creatives.file_scope s
        where s.scope_id = t.brand_id and s.has_image and s.newest_on is not null
        order by s.newest_on desc, s.creative_key desc limit ${THUMBS_MAX}
      ) k on true
      left join creatives.file f on f.creative_key = k.creative_key
      order by t.place, k.newest_on desc, k.creative_key desc`,
    values: [brandIds],
  });
  const thumbs = new Map<string, object[]>(brandIds.map((id) => [id, []]));
  for (const row of rows) {
    if (row.creative_key === null) continue;
    thumbs.get(row.brand_id)?.push({
      creative_id: creativeIdOf(row.newest_ad_id, row.creative_key),
      creative_key: row.creative_key,
      ad_id: row.newest_ad_id,
      media_kind: row.media_kind,
      image_url: thumbUrlOf({ ...row, creative_key: row.creative_key }),
      width: row.width,
      height: row.height,
      started_on: row.newest_on,
    });
  }
  const times = rows.flatMap(({ as_of }) => (as_of === null ? [] : [as_of])).toSorted();
  return {
    items: [...thumbs].map(([brand_id, list]) =>
      unescapeStoredMedia(JSON.stringify({ brand_id, thumbs: list }), ['image_url']),
    ),
    as_of: times.at(-1) ?? null,
  };
};
