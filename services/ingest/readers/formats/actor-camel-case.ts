import { Completeness } from '../completeness.ts';
import { SCAN_PAGES_MAX } from '#contracts/observations/ad-library-scan.ts';
import { idOf, idText, textOf } from '../ad-fields.ts';
import { brokenJson, notAnAd } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import type { JsonItem } from '../parsing/json-item.ts';
import { type JsonObject, objectAt } from '#domain/shapes/json-object.ts';
import { NO_HINTS, type PageRecord, type Reader, type RefusedRecord, recordOrRefusal } from '../record.ts';
import { snakeCased, unflattened } from '../parsing/snake-case.ts';
import { ownScanTime } from '../scan-key.ts';
import { isWebAd, webAdRecord, type WebDialect } from './web-ad.ts';

const toSnakeCase = (value: JsonObject): JsonObject => snakeCased(unflattened(value));
const DIALECT: WebDialect = { format: 'actor-camel-case', toSnakeCase };

type PageCount = { seen: number; total: number | null };

/**
 * Reads the camelCase export of scraping actors, flattened or nested. A row without ads lists a covered page. A page is
 * complete when its row says so, or when the file has as many ads as the page's `totalCount`.
 */
export const readActorCamelCase: Reader = async function* (source) {
  const completeness = new Completeness();
  const counts = new Map<string, PageCount>();
  for await (const item of jsonRecords(source)) {
    if (item.kind === 'broken') {
      yield brokenJson(item);
    } else if (isWebAd(item.value)) {
      countAd(counts, item.value);
      yield webAdRecord(item, DIALECT);
    } else if ('isResultComplete' in item.value) {
      completeness.claim(keyOf(item.value), item.value['isResultComplete'] === true);
      const page = pageOf(item);
      if (page !== null) yield page;
    } else if (item.kind === 'record') {
      yield notAnAd(item, DIALECT.format);
    }
  }
  for (const [key, { seen, total }] of counts) {
    if (total !== null) completeness.claim(key, seen === total);
    else completeness.distrust();
  }
  yield* completeness.verdict();
};

const keyOf = (value: JsonObject): string =>
  textOf(value['inputUrl']) ?? idText(value['pageID']) ?? idText(value['pageId']) ?? '';

const countAd = (counts: Map<string, PageCount>, value: JsonObject): void => {
  const key = keyOf(value);
  const count = counts.get(key) ?? { seen: 0, total: null };
  if (!counts.has(key) && counts.size > SCAN_PAGES_MAX) return;
  count.seen += 1;
  if (typeof value['totalCount'] === 'number') count.total = value['totalCount'];
  counts.set(key, count);
};

const pageOf = (item: JsonItem & { kind: 'record' | 'envelope' }): PageRecord | RefusedRecord | null =>
  recordOrRefusal<PageRecord | RefusedRecord>({ line: item.line, raw: item.raw, adId: null }, () => {
    const value = toSnakeCase(item.value);
    const info = objectAt(value, 'page_info');
    const page = objectAt(objectAt(info, 'ad_library_page_info'), 'page_info');
    const id = idOf('the page id', page['page_id'] ?? objectAt(info, 'page')['id']);
    if (id === null) {
      return {
        kind: 'refused',
        line: item.line,
        what: 'is a row without ads and without a page id',
        advice: 'remove the record',
        raw: item.raw,
        adId: null,
      };
    }
    return {
      kind: 'page',
      line: item.line,
      page: { page_id: id, page_name: textOf(page['page_name']) },
      hints: { ...NO_HINTS, scannedAt: ownScanTime(value) },
    };
  });
