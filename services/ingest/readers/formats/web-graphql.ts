import { Completeness } from '../completeness.ts';
import { notAnAd, brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectAt } from '#domain/shapes/json-object.ts';
import type { Reader } from '../record.ts';
import { snakeCased } from '../parsing/snake-case.ts';
import { isWebAd, placesOf } from '../shapes/record-format.ts';
import { webAdRecord, type WebDialect } from './web-ad.ts';

const isCamelCase = (value: JsonObject): boolean => Object.keys(value).some((name) => /[A-Z]/.test(name));

/** The website's names are in snake_case. A collector may have renamed some of them. */
const DIALECT: WebDialect = {
  format: 'web-graphql',
  toSnakeCase: (value) =>
    isCamelCase(value) || isCamelCase(objectAt(value, 'snapshot')) ? snakeCased(value) : value,
};

/** Pages, parts of them or flat lists of ads. `has_next_page: false` claims completeness. */
export const readWebGraphql: Reader = async function* (source) {
  const completeness = new Completeness();
  for await (const item of jsonRecords(source, placesOf('web-graphql'))) {
    if (item.kind === 'broken') {
      yield brokenJson(item);
    } else if (item.kind === 'envelope') {
      completeness.envelope('', item);
      const isLast = objectAt(item.value, 'page_info')['has_next_page'];
      if (typeof isLast === 'boolean') completeness.claim('', 'has_next_page', true);
    } else if (isWebAd(item.value)) {
      const record = webAdRecord(item, DIALECT);
      if (record.kind === 'ad') completeness.ad('', record.ad);
      yield record;
    } else if (!isObject(item.value['page_info'])) {
      yield notAnAd(item, DIALECT.format);
    }
  }
  yield completeness.verdict();
};
