import { withBelievableDates } from '#contracts/observations/ad-dates.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import type { AdRecord } from '../record.ts';

/** Days before a scan on which the library may have seen an ad last that still runs: it gives the day in its own zone. */
const LAST_SEEN_DAYS = 2;

/**
 * Returns a record whose dates can be true at the time of its scan, with a note for each that cannot. The end date of a web
 * ad that does not say whether it runs is a stop date only if it is older than the day of the scan (rules 1, 7).
 */
export const withDatesAt = (record: AdRecord, scannedAt: string): AdRecord => {
  const { ad, notes } = withBelievableDates(record.ad, scannedAt);
  const lastSeen = utcDateOfMs(Date.parse(scannedAt) - LAST_SEEN_DAYS * DAY_MS);
  const isSeen = record.mayBeLastSeen === true && ad.stopped_on !== null && ad.stopped_on > lastSeen;
  if (notes.length === 0 && !isSeen) return record;
  return {
    ...record,
    ad: isSeen ? { ...ad, stopped_on: null } : ad,
    notes: [...(record.notes ?? []), ...notes],
  };
};
