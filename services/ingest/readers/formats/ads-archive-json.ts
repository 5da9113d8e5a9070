import { archiveAd, archiveId, hasArchiveContent } from './ads-archive-ad.ts';
import { Completeness } from '../completeness.ts';
import { brokenJson, notAnAd, unknownShape, unreadContent } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject } from '#domain/shapes/json-object.ts';
import { type AdRecord, type Reader, recordOrRefusal, type RefusedRecord } from '../record.ts';
import { placesOf } from '../shapes/record-format.ts';
import { unreadArchiveContent, unreadArchiveMember } from '../shapes/unread-content.ts';

/** Result pages or lists. A last page without `paging.next` claims completeness; lists claim nothing. */
export const readAdsArchiveJson: Reader = async function* (source) {
  const completeness = new Completeness();
  for await (const item of jsonRecords(source, placesOf('ads-archive-json'))) {
    if (item.kind === 'broken') {
      yield brokenJson(item);
    } else if (item.kind === 'envelope') {
      completeness.envelope('', item);
      if (isObject(item.value['paging'])) completeness.claim('', 'paging', true);
    } else if (archiveId(item.value) === null) {
      yield notAnAd(item, 'ads-archive-json');
    } else if (!hasArchiveContent(Object.keys(item.value))) {
      yield unknownShape(item, 'ads-archive-json', archiveId(item.value));
    } else {
      const { line, raw, value } = item;
      const adId = archiveId(value);
      const record = recordOrRefusal<AdRecord | RefusedRecord>({ line, raw, adId }, () => {
        const read = archiveAd(value, { line, raw });
        const content = unreadArchiveMember(value) ?? unreadArchiveContent(value, read.ad);
        return content === null ? read : unreadContent(item, 'ads-archive-json', adId, content);
      });
      if (record.kind === 'ad') completeness.ad('', record.ad);
      yield record;
    }
  }
  yield completeness.verdict();
};
