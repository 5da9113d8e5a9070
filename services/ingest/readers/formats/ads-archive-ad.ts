import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import {
  adOf,
  cardOf,
  dateOf,
  idOf,
  idText,
  listOf,
  platformsOf,
  requiredIdOf,
  textOf,
} from '../ad-fields.ts';
import { pythonList } from '../parsing/python-list.ts';
import type { AdCard } from '../record.ts';
import { ARCHIVE_CONTENT } from '../shapes/known-shapes.ts';

type Fields = { readonly [field: string]: unknown };

/**
 * Reads an ad of the official `ads_archive`, with its current field names or the singular ones before version 13. The
 * API has no destination, call to action, format and active flag. Payer, spend and reach are not read.
 */
export const archiveAd = (fields: Fields): ObservedAd => {
  const bodies = textsOf(fields['ad_creative_bodies'], fields['ad_creative_body']);
  const titles = textsOf(fields['ad_creative_link_titles'], fields['ad_creative_link_title']);
  const descriptions = textsOf(
    fields['ad_creative_link_descriptions'],
    fields['ad_creative_link_description'],
  );
  const captions = textsOf(fields['ad_creative_link_captions'], fields['ad_creative_link_caption']);
  return adOf({
    ad_id: requiredIdOf('the ad id', archiveId(fields)),
    page_id: idOf('page_id', fields['page_id']),
    page_name: textOf(fields['page_name']),
    started_on: dateOf('ad_delivery_start_time', fields['ad_delivery_start_time']),
    stopped_on: dateOf('ad_delivery_stop_time', fields['ad_delivery_stop_time']),
    body: bodies[0] ?? null,
    title: titles[0] ?? null,
    link_description: descriptions[0] ?? null,
    caption: captions[0] ?? null,
    platforms: platformsOf(fields['publisher_platforms']),
    languages: listOf(fields['languages'])?.map((language) => language.toLowerCase()) ?? null,
    versions: versionsOf(bodies, titles, descriptions),
  });
};

/** Returns true when a record or a header has a content field. Without any, it is of another shape. */
export const hasArchiveContent = (names: readonly string[]): boolean =>
  ARCHIVE_CONTENT.some((name) => names.includes(name));

export const archiveId = (fields: Fields): string | null =>
  idText(fields['id']) ?? idText(fields['ad_id']) ?? idText(fields['adlib_id']);

/** Returns the texts of a list, of a list in Python notation (flattened CSV), or a single text. It may have commas. */
const textsOf = (plural: unknown, singular: unknown): readonly string[] => {
  const value = plural ?? singular;
  const texts = typeof value === 'string' ? (pythonList(value) ?? [value]) : (listOf(value) ?? []);
  return texts.map(textOf).filter((text) => text !== null);
};

/** Returns the versions of an ad: one per text when it has several, because the library shows one version for each. */
const versionsOf = (
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
