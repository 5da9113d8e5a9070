import { namedIds } from '#contracts/values/links/library-addresses.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '#domain/shapes/json-object.ts';
import { adRecord, countriesOf, ctaLabelOf, flagOf, type GivenAd, textOf } from '../fields/ad-fields.ts';
import { idOf, idText, pageIdOf } from '../fields/ad-ids.ts';
import { plainText } from '../content/html-library-data.ts';
import { type ReadRecord, shapeFault } from '../parsing/json-faults.ts';
import { snakeCased, unflattened } from '../parsing/snake-case.ts';
import type { AdCard, AdMedia, AdRecord } from '../record.ts';
import { ownScanTime } from '../scan-key.ts';
import { SNAPSHOT_CONTENT } from '../shapes/known-shapes.ts';
import { differenceFrom } from '../shapes/nearest-shape.ts';
import { AD_ID_NAMES } from '../shapes/record-format.ts';
import { unreadMembers, unreadWebContent } from '../shapes/unread-content.ts';

const DATES = { start: { name: 'start_date' }, stop: { name: 'end_date' } };

const isOtherCase = (value: JsonObject): boolean => Object.keys(value).some((name) => /[A-Z./[]/.test(name));

/** The website's names are in snake_case. Collectors rename some of them, or write paths such as `cards[0]`. */
export const websiteNames = (value: JsonObject): JsonObject =>
  isOtherCase(value) || isOtherCase(objectAt(value, 'snapshot')) ? snakeCased(unflattened(value)) : value;

export const webAdId = (value: JsonObject): string | null =>
  AD_ID_NAMES.map((name) => idText(value[name])).find((id) => id !== null) ?? null;

/** Throws `RecordFault` for invalid fields, no known content, and content that would be lost. */
export const webAd = (
  { line, raw, number, value: given }: ReadRecord,
  format: string,
  country?: unknown,
): AdRecord => {
  const value = websiteNames(given);
  const snapshot = objectAt(value, 'snapshot');
  const refuseUnread = (places: Iterable<string>): void => {
    for (const where of places) throw shapeFault(number, `${where}; the nearest known shape is ${format}`);
  };
  if (!SNAPSHOT_CONTENT.some((name) => name in snapshot)) {
    // Throws for an invalid id.
    idOf('the ad id', webAdId(given));
    throw shapeFault(number, differenceFrom(given, format));
  }
  refuseUnread(unreadMembers(snapshot));
  const hints = { scannedAt: ownScanTime(value), countries: countriesOf(country) };
  const notes: string[] = [];
  const fields = { ...fieldsOf(value, snapshot, notes), ad_id: webAdId(given) };
  const record = adRecord({ line, raw }, fields, [value, snapshot], hints, { ...DATES, notes });
  refuseUnread(unreadWebContent(value, snapshot, record.ad));
  return { ...record, mayBeLastSeen: record.ad.is_active === null };
};

const fieldsOf = (value: JsonObject, snapshot: JsonObject, notes: string[]): GivenAd => {
  const cards = objectsAt(snapshot, 'cards');
  return {
    page_id: value['page_id'] ?? snapshot['page_id'],
    page_name: textOf(value['page_name']) ?? snapshot['page_name'],
    is_active: value['is_active'],
    started_on: value['start_date'],
    // For an active ad this is the day on which it was last seen, not a stop date (rule 7).
    stopped_on: flagOf(value['is_active'], []) === true ? null : value['end_date'],
    body: [bodyOf(snapshot['body'])],
    title: [snapshot['title']],
    link_description: [snapshot['link_description']],
    caption: [snapshot['caption']],
    cta_type: snapshot['cta_type'],
    cta_text: snapshot['cta_text'],
    link_url: snapshot['link_url'],
    format: snapshot['display_format'],
    platforms: value['publisher_platform'] ?? value['publisher_platforms'] ?? value['platforms'],
    media: mediaOf(snapshot, cards),
    cards: cards.map(cardOfWeb),
    ...partnerOf(snapshot['branded_content'], notes),
  };
};

const partnerOf = (content: unknown, notes: string[]): Pick<GivenAd, 'branded_content'> => {
  if (!isObject(content)) return {};
  const address = textOf(content['page_profile_uri'] ?? content['page_profile_url']);
  const named = /\/(?:profile\.php\?id=)?(\d{5,20})\/?$/.exec(address ?? '')?.[1];
  const { page_id } = pageIdOf(idText(content['page_id']) ?? named, namedIds([content]), notes);
  const page_name = textOf(content['page_name'] ?? content['current_page_name']);
  return page_id === null && page_name === null ? {} : { branded_content: { page_id, page_name } };
};

const bodyOf = (body: unknown): string | null => {
  if (!isObject(body)) return textOf(body);
  const html = textOf(objectAt(body, 'markup')['__html']);
  return textOf(body['text']) ?? (html === null ? null : textOf(plainText(html)));
};

const cardOfWeb = (card: JsonObject): AdCard => ({
  body: bodyOf(card['body']),
  title: textOf(card['title']),
  link_description: textOf(card['link_description']),
  cta_text: ctaLabelOf(card['cta_text']),
  link_url: textOf(card['link_url']),
});

/** Media of the cards, only when the ad has none of its own. */
const mediaOf = (snapshot: JsonObject, cards: readonly JsonObject[]): AdMedia[] => {
  const own = [...objectsAt(snapshot, 'images'), ...objectsAt(snapshot, 'videos')];
  return (own.length > 0 ? own : cards).map(medium).filter((one) => one !== null);
};

const medium = (part: JsonObject): AdMedia | null => {
  const video = textOf(part['video_hd_url']) ?? textOf(part['video_sd_url']);
  const poster = textOf(part['video_preview_image_url']);
  const image = textOf(part['original_image_url']) ?? textOf(part['resized_image_url']);
  if (video !== null || poster !== null) return { kind: 'video', url: video, poster_url: poster };
  return image === null ? null : { kind: 'image', url: image, poster_url: null };
};
