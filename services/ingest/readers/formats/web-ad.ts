import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import {
  adOf,
  cardOf,
  cardOfAd,
  codeOf,
  countriesOf,
  ctaLabelOf,
  dateOf,
  flagOf,
  formatOf,
  platformsOf,
  textOf,
} from '../fields/ad-fields.ts';
import { idsOf, idText, pageIdOf } from '../fields/ad-ids.ts';
import { plainText } from '../content/html-library-data.ts';
import { unknownShape, unreadContent } from '../parsing/json-faults.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '#domain/shapes/json-object.ts';
import {
  type AdCard,
  type AdMedia,
  type AdRecord,
  NO_HINTS,
  type RefusedRecord,
  recordOrRefusal,
} from '../record.ts';
import { ownScanTime } from '../scan-key.ts';
import { SNAPSHOT_CONTENT } from '../shapes/known-shapes.ts';
import { AD_ID_NAMES } from '../shapes/record-format.ts';
import { unreadMember, unreadWebContent } from '../shapes/unread-content.ts';

export type JsonRecord = {
  readonly line: number;
  readonly number: number;
  readonly raw: string;
  readonly value: JsonObject;
};

export type WebDialect = {
  readonly format: string;
  readonly toSnakeCase: (value: JsonObject) => JsonObject;
};

/** Reads one ad. Refuses invalid fields, no known content, and content that would be lost. */
export const webAdRecord = (
  record: JsonRecord,
  { format, toSnakeCase }: WebDialect,
  country?: unknown,
): AdRecord | RefusedRecord => {
  const adId = AD_ID_NAMES.map((name) => idText(record.value[name])).find((id) => id !== null) ?? null;
  const value = toSnakeCase(record.value);
  return recordOrRefusal<AdRecord | RefusedRecord>({ line: record.line, raw: record.raw, adId }, () => {
    const notes: string[] = [];
    const snapshot = objectAt(value, 'snapshot');
    const page = value['page_id'] ?? snapshot['page_id'];
    const { checked, ...ids } = idsOf({ ad: adId, page }, [value, snapshot], notes);
    if (!hasContent(value['snapshot'])) return unknownShape(record, format, adId);
    const member = unreadMember(snapshot);
    if (member !== null) return unreadContent(record, format, adId, member);
    const { line, raw } = record;
    const ad = webAd(ids, value, snapshot, notes);
    const content = unreadWebContent(value, snapshot, ad);
    if (content !== null) return unreadContent(record, format, adId, content);
    const mayBeLastSeen = ad.is_active === null;
    const hints = { ...NO_HINTS, scannedAt: ownScanTime(value), countries: countriesOf(country) };
    return {
      kind: 'ad',
      line,
      raw,
      ad,
      version: { key: null, card: cardOfAd(ad) },
      hints,
      notes,
      checked,
      mayBeLastSeen,
    };
  });
};

const hasContent = (snapshot: unknown): boolean =>
  isObject(snapshot) && SNAPSHOT_CONTENT.some((name) => name in snapshot);

const webAd = (
  ids: Pick<ObservedAd, 'ad_id' | 'page_id'>,
  value: JsonObject,
  snapshot: JsonObject,
  notes: string[],
): ObservedAd => {
  const isActive = flagOf(value['is_active'], notes);
  const cards = objectsAt(snapshot, 'cards');
  return adOf({
    ...ids,
    page_name: textOf(value['page_name']) ?? textOf(snapshot['page_name']),
    is_active: isActive,
    started_on: dateOf('start_date', value['start_date']),
    // For an active ad this is the day on which it was last seen, not a stop date (rule 7).
    stopped_on: isActive === true ? null : dateOf('end_date', value['end_date']),
    body: bodyOf(snapshot['body']),
    title: textOf(snapshot['title']),
    link_description: textOf(snapshot['link_description']),
    caption: textOf(snapshot['caption']),
    cta_type: codeOf('cta_type', snapshot['cta_type'], notes),
    cta_text: ctaLabelOf(snapshot['cta_text']),
    link_url: textOf(snapshot['link_url']),
    format: formatOf(snapshot['display_format'], notes),
    platforms: platformsOf(
      value['publisher_platform'] ?? value['publisher_platforms'] ?? value['platforms'],
      notes,
    ),
    media: mediaOf(snapshot, cards),
    cards: cards.map(cardOfWeb),
    ...partnerOf(snapshot['branded_content'], notes),
  });
};

const partnerOf = (content: unknown, notes: string[]): Pick<ObservedAd, 'branded_content'> => {
  if (!isObject(content)) return {};
  const address = textOf(content['page_profile_uri'] ?? content['page_profile_url']);
  const named = /\/(?:profile\.php\?id=)?(\d{5,20})\/?$/.exec(address ?? '')?.[1];
  const { page_id } = pageIdOf(idText(content['page_id']) ?? named, [content], notes);
  const page_name = textOf(content['page_name'] ?? content['current_page_name']);
  return page_id === null && page_name === null ? {} : { branded_content: { page_id, page_name } };
};

const bodyOf = (body: unknown): string | null => {
  if (!isObject(body)) return textOf(body);
  const html = textOf(objectAt(body, 'markup')['__html']);
  return textOf(body['text']) ?? (html === null ? null : textOf(plainText(html)));
};

const cardOfWeb = (card: JsonObject): AdCard =>
  cardOf({
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
