import { Completeness } from '../completeness.ts';
import { countriesOf } from '../fields/ad-fields.ts';
import { idOf } from '../fields/ad-ids.ts';
import { brokenJson, notAnAd } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import type { JsonObject } from '#domain/shapes/json-object.ts';
import { NO_HINTS, type PageRecord, type Reader, recordOrRefusal, type RefusedRecord } from '../record.ts';
import { ownScanTime } from '../scan-key.ts';
import { snakeCased } from '../parsing/snake-case.ts';
import { isWebAd, placesOf } from '../shapes/record-format.ts';
import { webAdRecord, type WebDialect } from './web-ad.ts';

const DIALECT: WebDialect = { format: 'web-2024', toSnakeCase: snakeCased };

/** Groups of ads in `results`. Only a response about one page can be complete: a word search is not read to its end. */
export const readWeb2024: Reader = async function* (source) {
  const completeness = new Completeness({ readsCountry: true });
  for await (const item of jsonRecords(source, placesOf('web-2024'))) {
    if (item.kind === 'broken') {
      yield brokenJson(item);
    } else if (isWebAd(item.value)) {
      const record = webAdRecord(item, DIALECT, countryOf(item.kind === 'record' ? item.context : {}));
      if (record.kind === 'ad') completeness.ad(record.ad.page_id ?? '', record.ad);
      yield record;
    } else if (item.kind === 'record') {
      yield notAnAd(item, DIALECT.format);
    } else {
      const claim = item.value['is_result_complete'] ?? item.value['isResultComplete'];
      const pageId = pageIdOf(item.value);
      completeness.envelope(pageId, item);
      if (typeof claim === 'boolean')
        completeness.claim(pageId ?? 'a search for words', 'is_result_complete', claim && pageId !== null);
      if (claim === true && pageId !== null) {
        const { line, raw, value } = item;
        yield recordOrRefusal<PageRecord | RefusedRecord>({ line, raw, adId: null }, () => ({
          kind: 'page',
          line,
          page: { page_id: pageId, page_name: null },
          hints: { ...NO_HINTS, scannedAt: ownScanTime(value), countries: countriesOf(countryOf(value)) },
        }));
      }
    }
  }
  yield completeness.verdict();
};

const pageIdOf = (envelope: JsonObject): string | null => {
  try {
    return idOf('page_id', envelope['page_id'] ?? envelope['pageID']);
  } catch {
    return null;
  }
};

const countryOf = (context: JsonObject): unknown => context['country_code'] ?? context['countryCode'];
