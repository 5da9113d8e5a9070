import { Completeness, countryIn } from '../completeness.ts';
import { countriesOf, textOf } from '../fields/ad-fields.ts';
import { idOf, idText } from '../fields/ad-ids.ts';
import { brokenJson, notAnAd } from '../parsing/json-faults.ts';
import { type JsonEntry, jsonRecords } from '../parsing/json-records.ts';
import { type JsonObject, objectAt } from '#domain/shapes/json-object.ts';
import {
  NO_HINTS,
  type PageRecord,
  type Reader,
  recordOrRefusal,
  refusal,
  type RefusedRecord,
} from '../record.ts';
import { snakeCased, unflattened } from '../parsing/snake-case.ts';
import { ownScanTime } from '../scan-key.ts';
import { isWebAd, placesOf } from '../shapes/record-format.ts';
import { webAdRecord, type WebDialect } from './web-ad.ts';

const toSnakeCase = (value: JsonObject): JsonObject => snakeCased(unflattened(value));
const DIALECT: WebDialect = { format: 'actor-camel-case', toSnakeCase };

/** Rows of scraping actors. `isResultComplete`, or as many ads as `totalCount`, claims completeness. */
export const readActorCamelCase: Reader = async function* (source) {
  const completeness = new Completeness({ readsCountry: true });
  for await (const item of jsonRecords(source, placesOf('actor-camel-case'))) {
    if (item.kind === 'broken') {
      yield brokenJson(item);
    } else if (isWebAd(item.value)) {
      const row = item.kind === 'record' ? { ...item.context, ...item.value } : item.value;
      const { inputUrl, totalCount } = row;
      const key = keyOf(row);
      const record = webAdRecord(item, DIALECT, countryIn(inputUrl));
      if (record.kind === 'ad') completeness.ad(key, record.ad);
      completeness.address('inputUrl', inputUrl);
      if (typeof totalCount === 'number') {
        completeness.claim(key, 'totalCount', true);
        completeness.total(key, 'totalCount', totalCount);
      }
      yield record;
    } else if ('isResultComplete' in item.value) {
      completeness.envelope(keyOf(item.value), item);
      completeness.claim(keyOf(item.value), 'isResultComplete', item.value['isResultComplete'] === true);
      yield pageOf(item);
    } else if (item.kind === 'envelope') {
      completeness.envelope(null, item);
    } else {
      yield notAnAd(item, DIALECT.format);
    }
  }
  yield completeness.verdict();
};

const keyOf = (value: JsonObject): string =>
  idText(value['inputUrl']) ?? idText(value['pageID']) ?? idText(value['pageId']) ?? '';

const pageOf = (item: JsonEntry & { kind: 'record' | 'envelope' }): PageRecord | RefusedRecord =>
  recordOrRefusal<PageRecord | RefusedRecord>({ line: item.line, raw: item.raw, adId: null }, () => {
    const value = toSnakeCase(item.value);
    const info = objectAt(value, 'page_info');
    const page = objectAt(objectAt(info, 'ad_library_page_info'), 'page_info');
    const id = idOf('the page id', page['page_id'] ?? objectAt(info, 'page')['id']);
    const { line, raw } = item;
    if (id === null)
      return refusal({ line, raw }, 'is a row without ads and without a page id', 'remove the record');
    return {
      kind: 'page',
      line,
      page: { page_id: id, page_name: textOf(page['page_name']) },
      hints: {
        ...NO_HINTS,
        scannedAt: ownScanTime(value),
        countries: countriesOf(countryIn(item.value['inputUrl'])),
      },
    };
  });
