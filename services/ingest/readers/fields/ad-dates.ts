import { withBelievableDates } from '#contracts/observations/ad-dates.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import type { AdRecord } from '../record.ts';

/** The library gives the last day on which it saw a running ad in its own zone. */
const LAST_SEEN_DAYS = 2;

/**
 * Drops dates that cannot be true at the scan. The end date of an ad that may run is a stop date only before the scan's
 * day (rules 1, 7).
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
