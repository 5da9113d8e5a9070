import { BLANK_AD, type ObservedAd, UncutAd } from '#contracts/observations/ad-library-scan.ts';
import { shortenAd, type Shortened } from '#contracts/observations/shorten-ad.ts';
import { languageCode } from '#contracts/values/codes.ts';
import { Country, ObservedDate } from '#contracts/values/primitives.ts';
import { type JsonObject, objectsAt } from './json-object.ts';

export type LibraryAdScope = {
  /** Whether active or inactive ads were requested. The ad itself does not say. */
  readonly isActive: boolean;
  /** UTC date of the scan. A stop after it is only planned. */
  readonly scannedOn: string;
  /** Requested pages. An ad of any other page is refused. */
  readonly pageIds: readonly string[];
};

export type MappedLibraryAd =
  | { readonly ad: ObservedAd & { readonly page_id: string }; readonly shortened: Readonly<Shortened> }
  | { readonly refused: string };

/** A number above 2^53 has lost digits, so it is refused. */
const idAt = (value: JsonObject, key: string): string | null => {
  const id = value[key];
  const text = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
  return typeof text === 'string' && text !== '' && text !== '0' ? text : null;
};

/** Keeps the written day, without conversion to UTC. `null` when unreadable. */
const dayAt = (value: JsonObject, key: string): string | null => {
  const text = value[key];
  if (typeof text !== 'string') return null;
  const day = /^(\d{4}-\d{2}-\d{2})(?:$|[T ]\d{2}:)/.exec(text)?.[1];
  return day !== undefined && ObservedDate.safeParse(day).success ? day : null;
};

const uniqueSorted = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();

/** Sorted without duplicates, because the library promises no order. */
const textsAt = (value: JsonObject, key: string): string[] => {
  const list = value[key];
  if (!Array.isArray(list)) return [];
  const texts = list.filter((text) => typeof text === 'string').map((text) => text.trim());
  return uniqueSorted(texts.filter((text) => text !== ''));
};

const orNull = <Entry>(list: Entry[]): Entry[] | null => (list.length === 0 ? null : list);

/** Drops the reach of each country. `null` without a breakdown. */
const countriesOf = (value: JsonObject): string[] | null => {
  const codes = objectsAt(value, 'age_country_gender_reach_breakdown').map(({ country }) => country);
  return orNull(uniqueSorted(codes.filter((code) => Country.safeParse(code).success) as string[]));
};

export const versionsOf = (
  bodies: readonly string[],
  titles: readonly string[],
  descriptions: readonly string[],
): ObservedAd['versions'] => {
  const count = Math.max(bodies.length, titles.length, descriptions.length);
  if (count < 2) return [];
  return Array.from({ length: count }, (_, index) => ({
    body: bodies[index] ?? null,
    title: titles[index] ?? null,
    link_description: descriptions[index] ?? null,
    cta_text: null,
    link_url: null,
  }));
};

/** An ad without a page belongs to the only requested page, if it was one. */
const pageOf = (value: JsonObject, pageIds: readonly string[]): string | null =>
  idAt(value, 'page_id') ?? (pageIds.length === 1 ? (pageIds[0] as string) : null);

/** Cut to an ad's limits. The library shows no destination, button, format or media. Money and reach are not read. */
export const libraryAdOf = (value: JsonObject, scope: LibraryAdScope): MappedLibraryAd => {
  const adId = idAt(value, 'id');
  if (adId === null) return { refused: 'an ad has no id' };
  const pageId = pageOf(value, scope.pageIds);
  if (pageId === null) return { refused: `ad ${adId.slice(0, 30)} names no page` };
  if (!scope.pageIds.includes(pageId)) {
    return { refused: `ad ${adId.slice(0, 30)} is of page ${pageId.slice(0, 30)}, which was not asked for` };
  }
  const bodies = textsAt(value, 'ad_creative_bodies');
  const titles = textsAt(value, 'ad_creative_link_titles');
  const descriptions = textsAt(value, 'ad_creative_link_descriptions');
  const [caption = null] = textsAt(value, 'ad_creative_link_captions');
  const stoppedOn = dayAt(value, 'ad_delivery_stop_time');
  const countries = countriesOf(value);
  const name = value['page_name'];
  const parsed = UncutAd.safeParse({
    ...BLANK_AD,
    ad_id: adId,
    page_id: pageId,
    page_name: typeof name === 'string' && name.trim() !== '' ? name.trim() : null,
    is_active: scope.isActive,
    started_on: dayAt(value, 'ad_delivery_start_time'),
    stopped_on: stoppedOn !== null && stoppedOn > scope.scannedOn ? null : stoppedOn,
    ...(countries === null ? {} : { countries }),
    body: bodies[0] ?? null,
    title: titles[0] ?? null,
    link_description: descriptions[0] ?? null,
    caption,
    platforms: orNull(
      uniqueSorted(
        textsAt(value, 'publisher_platforms').map((one) => one.toLowerCase().replaceAll(/[\s-]+/g, '_')),
      ),
    ),
    languages: orNull(
      uniqueSorted(textsAt(value, 'languages').map((one) => languageCode(one) ?? one.toLowerCase())),
    ),
    versions: versionsOf(bodies, titles, descriptions),
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { refused: `ad ${adId.slice(0, 30)}: ${issue?.path.join('.')} is not valid: ${issue?.message}` };
  }
  const { ad, shortened } = shortenAd(parsed.data);
  return { ad: { ...ad, page_id: pageId }, shortened };
};
