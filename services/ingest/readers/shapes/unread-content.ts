import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { isBlankText } from '../fields/blank-text.ts';
import {
  ARCHIVE_CONTENT,
  ARCHIVE_TEXTS,
  CARD_TEXTS,
  MEDIA_ADDRESSES,
  SNAPSHOT_CONTENT,
  SNAPSHOT_MEDIA,
  SNAPSHOT_TEXTS,
} from './known-shapes.ts';
import { shortList } from './nearest-shape.ts';

/** Finds content that would be lost: members of unknown shape, or unknown ones of an otherwise empty ad. */

const CARD_NAMES = ['body', ...CARD_TEXTS, ...MEDIA_ADDRESSES] as const;

const COPY_WORDS = new Set(
  'text texts body bodies copy copies title titles headline headlines description descriptions message messages content contents creative creatives html markup'.split(
    ' ',
  ),
);
const OTHER_WORDS = new Set(
  'page profile advertiser brand branded extra alt disclaimer byline bylines impressions spend reach error search query'.split(
    ' ',
  ),
);
const MEDIA_WORDS = new Set(
  'image images picture pictures photo photos video videos media thumbnail link links card cards carousel'.split(
    ' ',
  ),
);

const isBlank = (value: unknown): boolean => {
  if (typeof value === 'string') return isBlankText(value);
  if (Array.isArray(value)) return value.every(isBlank);
  if (isObject(value)) return Object.values(value).every(isBlank);
  return value === null || value === undefined || value === false;
};

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
};

const firstOf = <T>(items: readonly T[], find: (item: T, index: number) => string | null): string | null => {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== null) return found;
  }
  return null;
};

const notText = (path: string, value: unknown): string | null =>
  typeof value === 'string' || isBlank(value) ? null : `${path} is ${kindOf(value)}, but a text is expected`;

const notBody = (path: string, body: unknown): string | null => {
  if (!isObject(body)) return notText(path, body);
  if (isBlank(body)) return null;
  const found = (value: JsonObject): string => `(found: ${shortList(Object.keys(value))})`;
  if (!('text' in body) && !('markup' in body)) return `${path} has neither text nor markup ${found(body)}`;
  const { text, markup } = body;
  if (!isObject(markup)) return notText(`${path}.text`, text) ?? notText(`${path}.markup`, markup);
  if (!isBlank(markup) && !('__html' in markup)) return `${path}.markup has no __html ${found(markup)}`;
  return notText(`${path}.text`, text) ?? notText(`${path}.markup.__html`, markup['__html']);
};

const notList = (
  path: string,
  list: unknown,
  names: readonly string[],
  notElement: (path: string, element: JsonObject) => string | null = () => null,
): string | null => {
  if (isBlank(list)) return null;
  if (!Array.isArray(list)) return `${path} is ${kindOf(list)}, but a list is expected`;
  return firstOf<unknown>(list, (element, index) => {
    const at = `${path}[${index}]`;
    if (isBlank(element)) return null;
    if (!isObject(element)) return `${at} is ${kindOf(element)}, but an object is expected`;
    if (names.some((name) => name in element)) return notElement(at, element);
    return `${at} has no known member (found: ${shortList(Object.keys(element))})`;
  });
};

const notCard = (path: string, card: JsonObject): string | null =>
  notBody(`${path}.body`, card['body']) ??
  firstOf(CARD_TEXTS, (name) => notText(`${path}.${name}`, card[name]));

export const unreadMember = (snapshot: JsonObject): string | null =>
  notBody('snapshot.body', snapshot['body']) ??
  firstOf(SNAPSHOT_TEXTS, (name) => notText(`snapshot.${name}`, snapshot[name])) ??
  notList('snapshot.cards', snapshot['cards'], CARD_NAMES, notCard) ??
  firstOf(SNAPSHOT_MEDIA, (name) => notList(`snapshot.${name}`, snapshot[name], MEDIA_ADDRESSES));

export const unreadArchiveMember = (fields: JsonObject): string | null =>
  firstOf(ARCHIVE_TEXTS, (name) => {
    const value = fields[name];
    if (Array.isArray(value)) return firstOf<unknown>(value, (text, at) => notText(`${name}[${at}]`, text));
    return notText(name, value) === null ? null : `${name} is ${kindOf(value)}, but texts are expected`;
  });

const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/\d+/g, '')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');

const isCopyName = (name: string): boolean => {
  const words = wordsOf(name);
  return COPY_WORDS.has(words.at(-1) ?? '') && !words.some((word) => OTHER_WORDS.has(word));
};

const isMediaName = (name: string): boolean => {
  const words = wordsOf(name);
  return words.some((word) => MEDIA_WORDS.has(word)) && !words.some((word) => OTHER_WORDS.has(word));
};

const hasCopy = (value: unknown): boolean => {
  if (typeof value === 'string') return !isBlankText(value);
  if (Array.isArray(value)) return value.some(hasCopy);
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, inner]) => (name === 'value' || isCopyName(name)) && hasCopy(inner),
  );
};

const hasText = (value: unknown): boolean =>
  typeof value === 'string'
    ? !isBlankText(value)
    : typeof value === 'object' && value !== null && Object.values(value).some(hasText);

type Copy = Pick<ObservedAd, 'body' | 'title' | 'link_description'>;
const isWordless = ({ body, title, link_description: description }: Copy): boolean =>
  body === null && title === null && description === null;

const unknownNames = (
  value: JsonObject,
  known: readonly string[],
  isContent: (name: string, member: unknown) => boolean,
): readonly string[] =>
  Object.entries(value)
    .filter(([name, member]) => !known.includes(name) && isContent(name, member))
    .map(([name]) => name);

const isCopy = (name: string, member: unknown): boolean => isCopyName(name) && hasCopy(member);
const isMedia = (name: string, member: unknown): boolean => isMediaName(name) && hasText(member);

const elsewhere = (names: readonly string[]): string | null =>
  names.length === 0 ? null : `no text of the ad is at a known place, but content is in ${shortList(names)}`;

export const unreadWebContent = (value: JsonObject, snapshot: JsonObject, ad: ObservedAd): string | null => {
  if (!isWordless(ad) || ad.cards.some((card) => !isWordless(card))) return null;
  const isBare = ad.media.length === 0 && ad.cards.length === 0 && ad.link_url === null;
  return elsewhere([
    ...unknownNames(
      snapshot,
      SNAPSHOT_CONTENT,
      (name, member) => isCopy(name, member) || (isBare && isMedia(name, member)),
    ).map((name) => `snapshot.${name}`),
    ...unknownNames(value, ['snapshot'], isCopy),
  ]);
};

export const unreadArchiveContent = (fields: JsonObject, ad: ObservedAd): string | null =>
  isWordless(ad) ? elsewhere(unknownNames(fields, ARCHIVE_CONTENT, isCopy)) : null;
