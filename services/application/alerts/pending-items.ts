import type { AlertCadence } from '#contracts/values/alerts.ts';
import { type AlertItem, PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import type { DeliveryContent } from '#domain/workspace/alert/payload.ts';

/** Items that wait for the end of a scan, day or week. */

/**
 * `item` is null beyond the payload limit: it only counts. `source` names an occurrence that a correction may withdraw;
 * null for other items.
 */
export type PendingItem = { readonly item: AlertItem | null; readonly source: string | null };

/** `key`: the brand id of a scan, or the first day of a period. */
export type EntryKey = { readonly alert_id: string; readonly cadence: AlertCadence; readonly key: string };

/** Items of one rule that wait for the end of a scan or period. Only those of this batch are in memory. */
export type PendingEntry = EntryKey & {
  /** Items in the table; null when none is known. Fewer than there are while the entry is not loaded. */
  stored: number | null;
  as_of: string;
  fresh: PendingItem[];
};

export type EndedScan = PendingEntry & {
  /** Corrections of this batch withdrew these before the scan ended; later ones do not change it. */
  readonly withdrawn: ReadonlySet<string>;
};

/** Stored items without withdrawn ones. `left` also counts those beyond the payload limit. */
export type StoredItems = { readonly items: readonly AlertItem[]; readonly left: number };

export const NOTHING_STORED: StoredItems = { items: [], left: 0 };

/** Joins items of the table and of the batch. */
export const contentOf = (
  stored: StoredItems,
  fresh: readonly PendingItem[],
  as_of: string,
): DeliveryContent => {
  const items = [...stored.items, ...fresh.flatMap(({ item }) => item ?? [])];
  const items_total = stored.left + fresh.length;
  const newest = items.reduce((time, { observed_at }) => (observed_at > time ? observed_at : time), '');
  // Items beyond the limit of a payload may be newer than all listed ones.
  return { items, items_total, as_of: items_total > items.length ? as_of : newest };
};

/** Items beyond those that a payload lists are only counted. */
export const addItem = (entry: PendingEntry, item: AlertItem, source: string | null): void => {
  const place = (entry.stored ?? 0) + entry.fresh.length;
  entry.fresh.push({ item: place < PAYLOAD_ITEMS_MAX ? item : null, source });
  if (item.observed_at > entry.as_of) entry.as_of = item.observed_at;
};

/** Adds the items of an alert that is not sent itself. */
export const addContent = (entry: PendingEntry, { items, items_total, as_of }: DeliveryContent): void => {
  for (let n = 0; n < items_total; n += 1) {
    const item = items[n];
    if (item) addItem(entry, item, null);
    else entry.fresh.push({ item: null, source: null });
  }
  if (as_of > entry.as_of) entry.as_of = as_of;
};

/** Content of an ended scan without the items that were withdrawn before. */
export const contentOfScan = (
  { fresh, withdrawn, as_of }: EndedScan,
  stored: StoredItems = NOTHING_STORED,
): DeliveryContent =>
  contentOf(
    stored,
    fresh.filter(({ source }) => source === null || !withdrawn.has(source)),
    as_of,
  );
