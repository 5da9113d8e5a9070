import { isObject, type JsonObject, objectAt, objectsAt } from '#domain/shapes/json-object.ts';
import { isShopProduct } from '#domain/shapes/shop-product.ts';
import type { FormatName } from '../formats.ts';
import {
  ANY_MEMBER,
  KEY_MAX_CHARACTERS,
  PATH_SEPARATOR,
  pathOf,
  type RecordPlaces,
} from '../parsing/json-records.ts';

const DEPTH_MAX = 12;
/** In order of precedence. */
export const AD_ID_NAMES = ['ad_archive_id', 'adArchiveID', 'adArchiveId'] as const;

const AD_MEMBERS: ReadonlySet<string> = new Set(
  'data payload ad_library_main search_results_connection edges node collated_results results'.split(' '),
);

const isObservation = ({ type }: JsonObject): boolean =>
  typeof type === 'string' && /^[a-z_]+\.[a-z_]+$/.test(type);

export const isWebAd = (value: JsonObject): boolean =>
  AD_ID_NAMES.some((name) => name in value && !isObject(value[name]));

const hasArchiveMember = (value: JsonObject): boolean =>
  Object.keys(value).some((name) => /^ad_(delivery|creat|snapshot)/.test(name));

export const isTechnologies = (value: JsonObject): boolean =>
  Array.isArray(value['technologies']) &&
  (typeof value['url'] === 'string' || typeof value['domain'] === 'string' || isObject(value['urls'])) &&
  objectsAt(value, 'technologies').every((technology) => typeof technology['name'] === 'string');

/** Adds the id by which an object has the ad, when the ad has none of its own. */
export const withKey = (value: JsonObject, key: unknown): JsonObject => {
  if (typeof key !== 'string' || !/^\d{5,20}$/.test(key) || isWebAd(value)) return value;
  if (isObject(value['snapshot'])) return { ad_archive_id: key, ...value };
  return hasArchiveMember(value) ? { id: key, ...value } : value;
};

/** `path`: place of the record in the file. */
export const formatOfRecord = (record: JsonObject, path = ''): FormatName | null => {
  const value = withKey(record, path.split(PATH_SEPARATOR).at(-1));
  if (isObservation(value)) return 'observations';
  if (isWebAd(value)) {
    if ('ad_archive_id' in value) return 'web-graphql';
    const names = Object.keys(objectAt(value, 'snapshot'));
    return names.some((name) => name.includes('_')) ? 'web-2024' : 'actor-camel-case';
  }
  if ('isResultComplete' in value && 'inputUrl' in value) return 'actor-camel-case';
  if ('id' in value && hasArchiveMember(value)) return 'ads-archive-json';
  if (isTechnologies(value)) return 'technologies-json';
  return isShopProduct(value) ? 'storefront-json' : null;
};

export const formatOfEnvelope = (value: JsonObject): FormatName | null => {
  if ('is_result_complete' in value) return 'web-2024';
  if ('edges' in value && isObject(value['page_info'])) return 'web-graphql';
  if ('data' in value && isObject(value['paging'])) return 'ads-archive-json';
  return Array.isArray(value['products']) && value['products'].length === 0 ? 'storefront-json' : null;
};

type Test = (value: JsonObject, path: string) => boolean;

/** Outermost paths of records inside a value; the empty path is the value. */
export const recordPaths = (value: unknown, isRecord: Test, path = '', depth = 0): readonly string[] => {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return [];
  if (Array.isArray(value)) {
    // The elements of a list are alike, so the first one with records shows where they are.
    for (const element of value as readonly unknown[]) {
      const found = recordPaths(element, isRecord, path, depth + 1);
      if (found.length > 0) return found;
    }
    return [];
  }
  if (isRecord(value as JsonObject, path)) return [''];
  const members = Object.entries(value as JsonObject).map(([name, member]) => ({
    name: Buffer.from(name).toString('latin1').slice(0, KEY_MAX_CHARACTERS),
    member,
    found: recordPaths(member, isRecord, pathOf(path, name), depth + 1),
  }));
  const objects = members.filter(({ member }) => isObject(member));
  const isMap =
    objects.every(({ found }) => found.includes('')) &&
    (objects.length > 1 || objects.some(({ name }) => /\d/.test(name)));
  return members.flatMap(({ name, member, found }) => {
    const own = isMap && isObject(member) ? ANY_MEMBER : name;
    return found.map((inner) => (inner === '' ? own : pathOf(own, inner)));
  });
};

const WEB_FORMATS: readonly (FormatName | null)[] = ['web-graphql', 'web-2024', 'actor-camel-case'];

export const areUnlike = (one: FormatName, other: FormatName): boolean =>
  one !== other && !(WEB_FORMATS.includes(one) && WEB_FORMATS.includes(other));

/** Members that are entered before their object ends. */
const memberNames = (format: FormatName): ReadonlySet<string> => {
  if (format === 'storefront-json') return new Set(['products']);
  return WEB_FORMATS.includes(format) || format === 'ads-archive-json' ? AD_MEMBERS : new Set();
};

export const placesOf = (format: FormatName): RecordPlaces => {
  const isRecord: Test = (value, path) => {
    const found = formatOfRecord(value, path);
    return found !== null && !areUnlike(found, format);
  };
  return { names: memberNames(format), find: (value) => recordPaths(value, isRecord) };
};
