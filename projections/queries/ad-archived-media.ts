import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { ARCHIVED_MEDIA_MAX } from '#contracts/resources/corpus/ads/ad.ts';
import { mediaUrlOf } from '#contracts/values/media/stored-media.ts';
import { CREATIVE_COLUMNS, CREATIVE_FROM, type CreativeRow, creativeText } from '../sql/json.ts';

/** `text` is JSON. `media_url` may be a placeholder, see `mediaUrlOf`. */
export type ArchivedFile = {
  readonly kind: string;
  readonly media_url: string | null;
  readonly text: string;
};

/** Files as `GET /v1/ads/{adId}/creatives` lists them. */
export const listArchivedMedia = async (db: ReadDatabase, adId: string): Promise<readonly ArchivedFile[]> => {
  const rows = await db.query<CreativeRow>({
    sql: `select ${CREATIVE_COLUMNS} from ${CREATIVE_FROM} where c.ad_id = $1 and c.stored
      order by c.listed_on desc, c.creative_id desc limit ${ARCHIVED_MEDIA_MAX}`,
    values: [adId],
  });
  return rows.map((row) => ({ kind: row.media_kind, media_url: mediaUrlOf(row), text: creativeText(row) }));
};

/**
 * Files lack the URL from which the library served them, so a match is certain only if ad and archive have one medium
 * of the kind. `null` otherwise.
 */
export const archivedUrlOf = (
  kind: string,
  shown: readonly { readonly kind: string }[],
  archive: readonly ArchivedFile[],
): string | null => {
  const files = archive.filter((file) => file.kind === kind);
  const alone = files.length === 1 && shown.filter((media) => media.kind === kind).length === 1;
  return alone ? (files[0]?.media_url ?? null) : null;
};
