import get from 'es-toolkit/compat/get';
import type { JsonMapping } from '../formats/column-mapping.ts';
import { Completeness } from '../completeness.ts';
import { isBlankText } from '../fields/blank-text.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { type JsonEntry, jsonRecords, PATH_SEPARATOR } from '../parsing/json-records.ts';
import type { JsonObject } from '#domain/shapes/json-object.ts';
import { type AdRecord, type Reader, recordOrRefusal, refusal, type RefusedRecord } from '../record.ts';
import { shortList } from '../shapes/nearest-shape.ts';
import { mappedAd, type Pick } from './mapped-ad.ts';

const EDIT_MAPPING = 'correct the mapping, or remove the record';
const CONTENT_FIELDS: readonly (keyof JsonMapping['columns'])[] = [
  'body',
  'title',
  'link_description',
  'caption',
  'cta_type',
  'cta_text',
  'link_url',
  'format',
  'image_url',
  'video_url',
  'poster_url',
  'started_on',
  'stopped_on',
];

export const readMappedJson = (mapping: JsonMapping): Reader => {
  const places = { paths: [mapping.records.join(PATH_SEPARATOR)] };
  const contentPaths = CONTENT_FIELDS.flatMap((field) => mapping.columns[field] ?? []);
  return async function* (source) {
    const completeness = new Completeness();
    for await (const item of jsonRecords(source, places)) {
      if (item.kind === 'broken') yield brokenJson(item);
      else if (item.kind === 'envelope') completeness.envelope('', item);
      else {
        const record = recordOf(mapping, contentPaths, item);
        if (record.kind === 'ad') completeness.ad('', record.ad);
        yield record;
      }
    }
    yield completeness.verdict();
  };
};

const recordOf = (
  mapping: JsonMapping,
  contentPaths: readonly string[],
  item: JsonEntry & { readonly kind: 'record' },
): AdRecord | RefusedRecord => {
  const { line, number, raw, value } = item;
  const adId = textAt(value, mapping.columns.ad_id);
  const refused = (what: string): RefusedRecord => {
    const found = shortList(Object.keys(value));
    return refusal(
      { line, raw, adId },
      `record ${number} has an unknown shape: ${what} (found: ${found})`,
      EDIT_MAPPING,
    );
  };
  if (item.path !== mapping.records.join(PATH_SEPARATOR))
    return refused(`the mapping ${mapping.name} expects a list at ${mapping.records.join('.')}`);
  if (mapping.columns.ad_id.every((path) => get(value, path) === undefined))
    return refused(`the mapping ${mapping.name} expects the ad id at ${mapping.columns.ad_id.join(' or ')}`);
  if (contentPaths.length > 0 && contentPaths.every((path) => get(value, path) === undefined))
    return refused(`it has no content at the paths of the mapping ${mapping.name}`);
  return recordOrRefusal({ line, raw, adId }, () =>
    mappedAd(mapping, mapping.variants[0], { line, raw, fields: value }, pickFrom(value)),
  );
};

const pickFrom =
  (value: JsonObject): Pick =>
  (candidates, isBlank = isBlankText) =>
    candidates
      ?.map((path) => get(value, path))
      .find((found) =>
        typeof found === 'string'
          ? !isBlank(found)
          : found !== undefined && found !== null && !(Array.isArray(found) && found.length === 0),
      ) ?? null;

const textAt = (value: JsonObject, candidates: readonly string[]): string | null => {
  const found = pickFrom(value)(candidates);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : null;
};
