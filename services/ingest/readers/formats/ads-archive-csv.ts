import { ARCHIVE_ID_NAMES, archiveAd, archiveId, hasArchiveContent } from './ads-archive-ad.ts';
import { anotherHeader, brokenRow, csvRows } from '../parsing/csv-rows.ts';
import { UNKNOWN_SHAPE_ADVICE } from '../parsing/json-faults.ts';
import { type Reader, RecordFault, recordOrRefusal } from '../record.ts';
import { unreadArchiveContent } from '../shapes/unread-content.ts';

export const readAdsArchiveCsv: Reader = async function* (source) {
  for await (const item of csvRows(source)) {
    if (item.kind === 'broken') {
      yield brokenRow(item);
    } else if (item.kind === 'header') {
      const hasId = ARCHIVE_ID_NAMES.some((name) => item.columns.includes(name));
      const missing = [
        ...(hasId ? [] : [ARCHIVE_ID_NAMES.join(' or ')]),
        ...(!hasId || hasArchiveContent(item.columns)
          ? []
          : ['ad_creative_bodies or ad_delivery_start_time']),
      ];
      if (missing.length > 0) {
        yield anotherHeader(item.columns, missing, 'use --mapping FILE for other headers');
        return;
      }
    } else {
      const { line, raw, row } = item;
      yield recordOrRefusal({ line, raw, adId: archiveId(row) }, () => {
        const record = archiveAd(row, { line, raw });
        const content = unreadArchiveContent(row, record.ad);
        if (content === null) return record;
        throw new RecordFault(
          `has an unknown shape; ${content}; the nearest known shape is ads-archive-csv`,
          UNKNOWN_SHAPE_ADVICE,
        );
      });
    }
  }
};
