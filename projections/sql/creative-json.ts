import { isoTimeSql } from '#contracts/values/time.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { mediaUrlOf, posterUrlOf, unescapeStoredMedia } from '#contracts/values/media/stored-media.ts';

export type CreativeRow = {
  readonly creative_id: string;
  readonly ad_id: string;
  readonly brand_id: string;
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
  readonly ad_active: boolean;
  readonly first_seen_at: string;
  readonly as_of: string;
  readonly listed_on: string;
};

export const CREATIVE_COLUMNS = `c.creative_id, c.ad_id, c.brand_id, c.creative_key, f.media_kind, f.content_type,
  f.bytes::text, f.width, f.height, f.duration_seconds, f.media_url, f.object_key, f.poster_url, f.poster_object_key, coalesce(a.active, true) as ad_active,
  ${isoTimeSql('c.first_seen_at')} as first_seen_at, ${isoTimeSql('greatest(f.measured_at, f.read_at)')} as as_of, c.listed_on::text`;
export const CREATIVE_FROM = `creatives.carriage c join creatives.file f using (creative_key)
  join creatives.ad a on a.ad_id = c.ad_id`;

export const creativeText = (row: CreativeRow): string => {
  const text = JSON.stringify({
    id: row.creative_id,
    ad_id: row.ad_id,
    brand_id: row.brand_id,
    creative_key: row.creative_key,
    media_kind: row.media_kind,
    content_type: row.content_type,
    bytes: row.bytes === null ? null : Number(row.bytes),
    width: row.width,
    height: row.height,
    duration_seconds: row.duration_seconds,
    media_url: mediaUrlOf(row),
    poster_url: posterUrlOf(row),
    ad_active: row.ad_active,
    first_seen_at: row.first_seen_at,
    as_of: row.as_of,
  });
  return appendFields(unescapeStoredMedia(text, ['media_url', 'poster_url']), {
    url: `"${BASE_URL_MARK}/v1/creatives/${row.creative_id}"`,
    record_url: `"${BASE_URL_MARK}/v1/creative-records/${row.creative_key}"`,
  });
};
