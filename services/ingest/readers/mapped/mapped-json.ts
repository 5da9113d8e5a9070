import toPath from 'es-toolkit/compat/toPath';
import { memoize } from 'es-toolkit/function/memoize';
import type { JsonObject } from '#domain/shapes/json-object.ts';
import { isBlankText } from '../fields/list-notation.ts';
import { CONTENT_FIELDS, type JsonMapping } from '../formats/column-mapping.ts';
import { type AdFormat, type JsonAd, jsonAdReader } from '../formats/json-ads.ts';
import { PATH_SEPARATOR } from '../parsing/json-records.ts';
import { type AdRecord, type Reader, RecordFault } from '../record.ts';
import { shortList } from '../shapes/nearest-shape.ts';
import { mappedAd, type Pick } from './mapped-ad.ts';

export const readMappedJson = (mapping: JsonMapping): Reader => {
  const place = mapping.records.join(PATH_SEPARATOR);
  const contentPaths = CONTENT_FIELDS.flatMap((field) => mapping.columns[field] ?? []);
  const { ad_id } = mapping.columns;
  const read = ({ line, number, raw, value, path }: JsonAd): AdRecord => {
    const lacks = (paths: readonly string[]): boolean =>
      paths.every((one) => valueAt(value, one) === undefined);
    const refuse = (what: string): never => {
      throw new RecordFault(
        `record ${number} has an unknown shape: ${what} (found: ${shortList(Object.keys(value))})`,
        'correct the mapping, or remove the record',
      );
    };
    if (path !== place) refuse(`the mapping ${mapping.name} expects a list at ${mapping.records.join('.')}`);
    if (lacks(ad_id)) refuse(`the mapping ${mapping.name} expects the ad id at ${ad_id.join(' or ')}`);
    if (contentPaths.length > 0 && lacks(contentPaths))
      refuse(`it has no content at the paths of the mapping ${mapping.name}`);
    return mappedAd(mapping, mapping.variants[0], { line, raw, fields: value }, pickFrom(value));
  };
  const format: AdFormat = {
    isAd: ({ kind }) => kind === 'record',
    adId: (value) => textAt(value, ad_id),
    read,
    row: () => ({ part: '' }),
    envelope: () => ({ part: '' }),
  };
  return jsonAdReader(mapping.name, format, { paths: [place] });
};

const pickFrom =
  (value: JsonObject): Pick =>
  (candidates, isBlank = isBlankText) =>
    candidates
      ?.map((path) => valueAt(value, path))
      .find((found) =>
        typeof found === 'string'
          ? !isBlank(found)
          : found !== undefined && found !== null && !(Array.isArray(found) && found.length === 0),
      ) ?? null;

const textAt = (value: JsonObject, candidates: readonly string[]): string | null => {
  const found = pickFrom(value)(candidates);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : null;
};

const pathOf = memoize((text: string): readonly string[] => toPath(text));

const valueAt = (record: JsonObject, text: string): unknown => {
  if (Object.hasOwn(record, text)) return record[text];
  let value: unknown = record;
  for (const part of pathOf(text)) {
    const isIn = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
    value = isIn ? (value as JsonObject)[part] : undefined;
  }
  return value;
};
