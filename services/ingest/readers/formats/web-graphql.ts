import { Completeness } from '../completeness.ts';
import { notAnAd, brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, objectAt } from '../parsing/json-value.ts';
import type { Reader } from '../record.ts';
import { isWebAd, webAdRecord } from './web-ad.ts';

/**
 * The library's site since 2024: `search_results_connection` with `edges`, whose nodes hold
 * `collated_results`; the bare parts of it; flat lists of ads.
 *
 * The site's last page says `has_next_page: false`. That speaks for the whole only when all ads are of one
 * page: the ads of several pages come from a search for words, which reads no page to its end.
 */
export const readWebGraphql: Reader = async function* (source) {
  const completeness = new Completeness();
  const pages = new Set<string>();
  for await (const item of jsonRecords(source)) {
    if (item.kind === 'broken') {
      yield brokenJson(item);
    } else if (item.kind === 'envelope') {
      const paging = objectAt(item.value, 'page_info');
      if (typeof paging['has_next_page'] === 'boolean') completeness.says('', !paging['has_next_page']);
    } else if (isWebAd(item.value)) {
      const record = webAdRecord(item, (value) => value);
      if (record.kind === 'ad' && pages.size < 2) pages.add(record.ad.page_id ?? '');
      yield record;
    } else if (!isObject(item.value['page_info'])) {
      yield notAnAd(item, 'ad_archive_id');
    }
  }
  if (pages.size > 1) completeness.doubt();
  yield* completeness.verdict();
};
