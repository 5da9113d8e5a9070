import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { isBlankText } from '../fields/list-notation.ts';
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

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const COPY_WORDS =
  words(`text texts body bodies copy copies title titles headline headlines description descriptions
  message messages content contents creative creatives html markup`);
const MEDIA_WORDS =
  words(`image images picture pictures photo photos video videos media thumbnail link links card cards
  carousel`);
const OTHER_WORDS =
  words(`page profile advertiser brand branded extra alt disclaimer byline bylines impressions spend
  reach error search query`);

const isBlank = (value: unknown): boolean => {
  if (typeof value === 'string') return isBlankText(value);
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isBlank);
  return value === null || value === undefined || value === false;
};

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
};
const found = (value: JsonObject): string => `(found: ${shortList(Object.keys(value))})`;

function* notText(path: string, value: unknown): Generator<string> {
  if (typeof value !== 'string' && !isBlank(value))
    yield `${path} is ${kindOf(value)}, but a text is expected`;
}

function* notBody(path: string, body: unknown): Generator<string> {
  if (!isObject(body)) yield* notText(path, body);
  if (!isObject(body) || isBlank(body)) return;
  const { text, markup } = body;
  if (!('text' in body) && !('markup' in body)) yield `${path} has neither text nor markup ${found(body)}`;
  yield* notText(`${path}.text`, text);
  if (!isObject(markup)) yield* notText(`${path}.markup`, markup);
  else if ('__html' in markup) yield* notText(`${path}.markup.__html`, markup['__html']);
  else if (!isBlank(markup)) yield `${path}.markup has no __html ${found(markup)}`;
}

function* notCard(path: string, card: JsonObject): Generator<string> {
  yield* notBody(`${path}.body`, card['body']);
  for (const name of CARD_TEXTS) yield* notText(`${path}.${name}`, card[name]);
}

/** `names`: an element without any of them has another shape. */
function* notList(
  path: string,
  list: unknown,
  names: readonly string[],
  notElement: (path: string, element: JsonObject) => Iterable<string> = () => [],
): Generator<string> {
  if (isBlank(list)) return;
  if (!Array.isArray(list)) {
    yield `${path} is ${kindOf(list)}, but a list is expected`;
    return;
  }
  for (const [index, element] of (list as readonly unknown[]).entries()) {
    const at = `${path}[${index}]`;
    if (isBlank(element)) continue;
    if (!isObject(element)) yield `${at} is ${kindOf(element)}, but an object is expected`;
    else if (names.some((name) => name in element)) yield* notElement(at, element);
    else yield `${at} has no known member ${found(element)}`;
  }
}

export function* unreadMembers(snapshot: JsonObject): Generator<string> {
  yield* notBody('snapshot.body', snapshot['body']);
  for (const name of SNAPSHOT_TEXTS) yield* notText(`snapshot.${name}`, snapshot[name]);
  const cardNames = ['body', ...CARD_TEXTS, ...MEDIA_ADDRESSES];
  yield* notList('snapshot.cards', snapshot['cards'], cardNames, notCard);
  for (const name of SNAPSHOT_MEDIA) yield* notList(`snapshot.${name}`, snapshot[name], MEDIA_ADDRESSES);
}

export function* unreadArchiveMembers(fields: JsonObject): Generator<string> {
  for (const name of ARCHIVE_TEXTS) {
    const value = fields[name];
    if (Array.isArray(value))
      for (const [at, text] of value.entries()) yield* notText(`${name}[${at}]`, text);
    else if (typeof value !== 'string' && !isBlank(value))
      yield `${name} is ${kindOf(value)}, but texts are expected`;
  }
}

const wordsOf = (name: string): readonly string[] => {
  const parts = name.toLowerCase().match(/[a-z]+/g) ?? [];
  return parts.some((word) => OTHER_WORDS.has(word)) ? [] : parts;
};
const isCopyName = (name: string): boolean => COPY_WORDS.has(wordsOf(name).at(-1) ?? '');

const hasText = (value: unknown, isNamed: (name: string) => boolean): boolean => {
  if (typeof value === 'string') return !isBlankText(value);
  if (Array.isArray(value)) return value.some((one) => hasText(one, isNamed));
  return (
    isObject(value) && Object.entries(value).some(([name, one]) => isNamed(name) && hasText(one, isNamed))
  );
};
const isCopy = (name: string, member: unknown): boolean =>
  isCopyName(name) && hasText(member, (inner) => inner === 'value' || isCopyName(inner));
const isMedia = (name: string, member: unknown): boolean =>
  wordsOf(name).some((word) => MEDIA_WORDS.has(word)) && hasText(member, () => true);

type Copy = Pick<ObservedAd, 'body' | 'title' | 'link_description'>;
const isWordless = ({ body, title, link_description: description }: Copy): boolean =>
  body === null && title === null && description === null;

const namesOf = (
  value: JsonObject,
  known: readonly string[],
  isContent: (name: string, member: unknown) => boolean,
): readonly string[] =>
  Object.keys(value).filter((name) => !known.includes(name) && isContent(name, value[name]));

const elsewhere = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`no text of the ad is at a known place, but content is in ${shortList(names)}`];

export const unreadWebContent = (
  value: JsonObject,
  snapshot: JsonObject,
  ad: ObservedAd,
): readonly string[] => {
  if (!isWordless(ad) || ad.cards.some((card) => !isWordless(card))) return [];
  const isBare = ad.media.length === 0 && ad.cards.length === 0 && ad.link_url === null;
  const inside = namesOf(
    snapshot,
    SNAPSHOT_CONTENT,
    (name, member) => isCopy(name, member) || (isBare && isMedia(name, member)),
  );
  return elsewhere([...inside.map((name) => `snapshot.${name}`), ...namesOf(value, ['snapshot'], isCopy)]);
};

export const unreadArchiveContent = (fields: JsonObject, ad: ObservedAd): readonly string[] =>
  isWordless(ad) ? elsewhere(namesOf(fields, ARCHIVE_CONTENT, isCopy)) : [];
