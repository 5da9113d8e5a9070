import {
  adOf,
  cardOf,
  cardOfAd,
  dateOf,
  languagesOf,
  platformsOf,
  textOf,
  textsOf,
} from '../fields/ad-fields.ts';
import { digitCount, idsOf, idText } from '../fields/ad-ids.ts';
import { type AdCard, type AdRecord, NO_HINTS } from '../record.ts';
import { ownScanTime } from '../scan-key.ts';
import { ARCHIVE_CONTENT } from '../shapes/known-shapes.ts';

type Fields = { readonly [field: string]: unknown };

/** Current names, or singular ones before version 13. The API has no destination, button, format or active flag. */
export const archiveAd = (fields: Fields, at: Pick<AdRecord, 'line' | 'raw'>): AdRecord => {
  const notes: string[] = [];
  const texts = (name: string, singular: string): readonly string[] =>
    textsOf(fields[`ad_creative_${name}`] ?? fields[`ad_creative_${singular}`]);
  const bodies = texts('bodies', 'body');
  const titles = texts('link_titles', 'link_title');
  const descriptions = texts('link_descriptions', 'link_description');
  const { checked, ...ids } = idsOf({ ad: archiveId(fields), page: fields['page_id'] }, [fields], notes);
  const ad = adOf({
    ...ids,
    page_name: textOf(fields['page_name']),
    started_on: dateOf('ad_delivery_start_time', fields['ad_delivery_start_time']),
    stopped_on: dateOf('ad_delivery_stop_time', fields['ad_delivery_stop_time']),
    body: bodies[0] ?? null,
    title: titles[0] ?? null,
    link_description: descriptions[0] ?? null,
    caption: texts('link_captions', 'link_caption')[0] ?? null,
    platforms: platformsOf(fields['publisher_platforms'], notes),
    languages: languagesOf(fields['languages']),
    versions: versionsOf(bodies, titles, descriptions),
  });
  const hints = { ...NO_HINTS, scannedAt: ownScanTime(fields) };
  return { kind: 'ad', ...at, ad, version: { key: null, card: cardOfAd(ad) }, hints, notes, checked };
};

export const hasArchiveContent = (names: readonly string[]): boolean =>
  ARCHIVE_CONTENT.some((name) => names.includes(name));

/** Columns that can only have the id of the library. `id` and `ad_id` may have the row of a table. */
const OWN_ID_NAMES = ['ad_archive_id', 'ad_library_id', 'adlib_id'] as const;
export const ARCHIVE_ID_NAMES = ['id', 'ad_id', ...OWN_ID_NAMES] as const;

/** Returns the id of the library, which is the longer one of `id` and `ad_id`. */
export const archiveId = (fields: Fields): string | null => {
  const own = OWN_ID_NAMES.map((name) => idText(fields[name])).find((id) => id !== null);
  const [id, adId] = [idText(fields['id']), idText(fields['ad_id'])];
  return own ?? (digitCount(adId) > digitCount(id) ? adId : (id ?? adId));
};

export const versionsOf = (
  bodies: readonly string[],
  titles: readonly string[],
  descriptions: readonly string[],
): AdCard[] => {
  const count = Math.max(bodies.length, titles.length, descriptions.length);
  if (count < 2) return [];
  return Array.from({ length: count }, (_, index) =>
    cardOf({
      body: bodies[index] ?? null,
      title: titles[index] ?? null,
      link_description: descriptions[index] ?? null,
    }),
  );
};
