import type { JsonObject } from '#domain/shapes/json-object.ts';
import { adRecord } from '../fields/ad-fields.ts';
import { digitCount, idText } from '../fields/ad-ids.ts';
import { shapeFault } from '../parsing/json-faults.ts';
import type { AdRecord } from '../record.ts';
import { ownScanTime } from '../scan-key.ts';
import { ARCHIVE_CONTENT, ARCHIVE_OWN_IDS } from '../shapes/known-shapes.ts';
import { differenceFrom } from '../shapes/nearest-shape.ts';
import { unreadArchiveContent, unreadArchiveMembers } from '../shapes/unread-content.ts';

const DATES = { start: { name: 'ad_delivery_start_time' }, stop: { name: 'ad_delivery_stop_time' } };

/**
 * Current names, or singular ones before version 13. The API has no destination, button, format or active flag. Throws
 * `RecordFault`, also for content that would be lost. `number`: the record's number in JSON.
 */
export const archiveAd = (
  fields: JsonObject,
  format: string,
  at: Pick<AdRecord, 'line' | 'raw'>,
  number: number | null = null,
): AdRecord => {
  if (!hasArchiveContent(Object.keys(fields))) throw shapeFault(number, differenceFrom(fields, format));
  const texts = (name: string, singular: string): unknown =>
    fields[`ad_creative_${name}`] ?? fields[`ad_creative_${singular}`];
  const given = {
    ad_id: archiveId(fields),
    page_id: fields['page_id'],
    page_name: fields['page_name'],
    started_on: fields['ad_delivery_start_time'],
    stopped_on: fields['ad_delivery_stop_time'],
    body: texts('bodies', 'body'),
    title: texts('link_titles', 'link_title'),
    link_description: texts('link_descriptions', 'link_description'),
    caption: texts('link_captions', 'link_caption'),
    platforms: fields['publisher_platforms'],
    languages: fields['languages'],
  };
  const record = adRecord(at, given, [fields], { scannedAt: ownScanTime(fields) }, DATES);
  for (const where of [...unreadArchiveMembers(fields), ...unreadArchiveContent(fields, record.ad)])
    throw shapeFault(number, `${where}; the nearest known shape is ${format}`);
  return record;
};

export const hasArchiveContent = (names: readonly string[]): boolean =>
  ARCHIVE_CONTENT.some((name) => names.includes(name));

/** Returns the id of the library, which is the longer one of `id` and `ad_id`: either may number the rows of a table. */
export const archiveId = (fields: JsonObject): string | null => {
  const own = ARCHIVE_OWN_IDS.map((name) => idText(fields[name])).find((id) => id !== null);
  const [id, adId] = [idText(fields['id']), idText(fields['ad_id'])];
  return own ?? (digitCount(adId) > digitCount(id) ? adId : (id ?? adId));
};
