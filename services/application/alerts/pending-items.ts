import type { AlertCadence } from '#contracts/values/alerts.ts';
import type { AlertItem } from '#contracts/webhooks/alert-payload.ts';
import type { DeliveryContent } from '#domain/workspace/alert/payload.ts';

/** Items that wait for the end of a scan, day or week. */

/**
 * `item` is null beyond the payload limit: it only counts. `source` names an occurrence that a correction may withdraw;
 * null for other items.
 */
export type PendingItem = { readonly item: AlertItem | null; readonly source: string | null };

/** `key`: the brand id of a scan, or the first day of a period. */
export type EntryKey = {
  readonly alert_id: string;
  readonly cadence: AlertCadence;
  readonly key: string;
};

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
