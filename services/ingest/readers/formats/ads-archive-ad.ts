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

/** The official API's pages are asked for by at most so many page ids; more come from a search for words. */
export const ARCHIVE_PAGES_MAX = 10;

type Said = { readonly [field: string]: unknown };

/**
 * An ad of the official `ads_archive`, under its present names or the singular ones before version 13.
 * Destination, call to action, format and whether it is active are not in it. Who paid, how much, and
 * whom it reached are not read.
 */
export const archiveAd = (said: Said): ObservedAd => {
  const bodies = textsOf(said['ad_creative_bodies'], said['ad_creative_body']);
  const titles = textsOf(said['ad_creative_link_titles'], said['ad_creative_link_title']);
  const descriptions = textsOf(said['ad_creative_link_descriptions'], said['ad_creative_link_description']);
  const captions = textsOf(said['ad_creative_link_captions'], said['ad_creative_link_caption']);
  return adOf({
    ad_id: requiredIdOf('the ad id', archiveId(said)),
    page_id: idOf('page_id', said['page_id']),
    page_name: textOf(said['page_name']),
    started_on: dateOf('ad_delivery_start_time', said['ad_delivery_start_time']),
    stopped_on: dateOf('ad_delivery_stop_time', said['ad_delivery_stop_time']),
    body: bodies[0] ?? null,
    title: titles[0] ?? null,
    link_description: descriptions[0] ?? null,
    caption: captions[0] ?? null,
    platforms: platformsOf(said['publisher_platforms']),
    languages: listOf(said['languages'])?.map((language) => language.toLowerCase()) ?? null,
    versions: versionsOf(bodies, titles, descriptions),
  });
};

export const archiveId = (said: Said): string | null =>
  idText(said['id']) ?? idText(said['ad_id']) ?? idText(said['adlib_id']);

/** A list, a list as a flattened CSV prints it, or one text, which may hold commas and brackets. */
const textsOf = (plural: unknown, singular: unknown): readonly string[] => {
  const value = plural ?? singular;
  const texts = typeof value === 'string' ? (pythonList(value) ?? [value]) : (listOf(value) ?? []);
  return texts.map(textOf).filter((text) => text !== null);
};

/** Where an ad has several texts the library shows versions of it. */
const versionsOf = (
  bodies: readonly string[],
  titles: readonly string[],
  descriptions: readonly string[],
): AdCard[] => {
  const count = Math.max(bodies.length, titles.length, descriptions.length);
  if (count < 2) return [];
  return Array.from({ length: count }, (_, at) =>
    cardOf({
      body: bodies[at] ?? null,
      title: titles[at] ?? null,
      link_description: descriptions[at] ?? null,
    }),
  );
};
