import type { AlertCadence } from '#contracts/values/alerts.ts';
import type { DeliveryContent } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import type { MatchingState } from '#application/alerts/match-events.ts';
import {
  addContent,
  addItem,
  contentOfScan,
  type EndedScan,
  type EntryKey,
  type PendingEntry,
} from '#application/alerts/pending-items.ts';
import { EVERY_RULE, type RuleRange } from './active-rules.ts';
import { readStoredItems, removeEntries, saveWithdrawn, writeEntries } from './stored-items.ts';

/** Each ad of a brand with thousands of rules adds an item to each, so the batch is committed at this number. */
const FRESH_ITEMS_MAX = 20_000;

/** Items move to the table at the end of each batch. Of instant alerts that wait, memory knows the keys. */
export type PendingDigests = MatchingState['pendingDigests'] & {
  /**
   * Loads instant alerts that wait for scans of these brands, before `endScan`. False, with nothing loaded, when there
   * are more than `entriesMax`.
   */
  load(brandIds: readonly string[], range?: RuleRange, entriesMax?: number | null): Promise<boolean>;
  /** Moves an alert that is not sent itself to the digest of a day. */
  addContent(alertId: string, day: string, content: DeliveryContent): void;
  alertIdsOf(brandIds: readonly string[]): readonly string[];
  /** Omits withdrawn items. */
  read(ended: EndedScan): Promise<DeliveryContent>;
  drop(alertId: string): void;
  /** True when the batch must be committed before more is added. */
  isFull(): boolean;
  save(client: Transaction): Promise<void>;
  forget(): void;
  /** Counts what is in memory after `save`. */
  size(): number;
};

const NO_SOURCES: ReadonlySet<string> = new Set();

export const openPendingDigests = (database: Database): PendingDigests => {
  const digests = new Map<string, PendingEntry>();
  /** Instant alerts, by brand and rule. */
  const scans = new Map<string, Map<string, PendingEntry>>();
  const loadedBrands = new Set<string>();
  const changed = new Set<PendingEntry>();
  const removed: PendingEntry[] = [];
  const droppedRules = new Set<string>();
  const withdrawn = new Map<string, string>();
  let freshItems = 0;

  const entryOf = (alert_id: string, cadence: AlertCadence, key: string): PendingEntry => {
    const isScan = cadence === 'instant';
    const group = isScan ? (scans.get(key) ?? new Map<string, PendingEntry>()) : digests;
    if (isScan) scans.set(key, group);
    const name = isScan ? alert_id : `${alert_id} ${cadence} ${key}`;
    const entry = group.get(name) ?? { alert_id, cadence, key, stored: null, as_of: '', fresh: [] };
    group.set(name, entry);
    return entry;
  };

  return {
    add: (alertId, cadence, key, item, source = null) => {
      const entry = entryOf(alertId, cadence, key);
      addItem(entry, item, source);
      changed.add(entry);
      freshItems += 1;
    },
    addContent: (alertId, day, content) => {
      const entry = entryOf(alertId, 'daily', day);
      addContent(entry, content);
      changed.add(entry);
      freshItems += content.items_total;
    },
    withdraw: (source, at) => {
      if (!withdrawn.has(source)) withdrawn.set(source, at);
    },
    load: async (brandIds, { after, upTo } = EVERY_RULE, entriesMax = null) => {
      const unknown = brandIds.filter((brandId) => !loadedBrands.has(brandId));
      if (unknown.length === 0) return true;
      const { rows } = await database.query<EntryKey & { items_total: number; as_of: string }>({
        name: 'instant alerts of brands',
        text: `select alert_id, cadence, key, items_total, as_of from alerting.collected
               where cadence = 'instant' and key = any($1::text[]) and alert_id > $2 and alert_id <= $3
               order by key, alert_id limit $4`,
        values: [unknown, after, upTo, entriesMax === null ? null : entriesMax + 1],
      });
      if (entriesMax !== null && rows.length > entriesMax) return false;
      for (const { alert_id, cadence, key, items_total, as_of } of rows) {
        const entry = entryOf(alert_id, cadence, key);
        entry.stored = items_total;
        if (as_of > entry.as_of) entry.as_of = as_of;
      }
      for (const brandId of unknown) loadedBrands.add(brandId);
      return true;
    },
    alertIdsOf: (brandIds) => brandIds.flatMap((brandId) => [...(scans.get(brandId)?.keys() ?? [])]),
    endScan: (brandId) => {
      const ended = [...(scans.get(brandId)?.values() ?? [])];
      scans.delete(brandId);
      const until = ended.length === 0 ? NO_SOURCES : new Set(withdrawn.keys());
      return ended.map((entry) => {
        changed.delete(entry);
        if (entry.stored !== null) removed.push(entry);
        return { ...entry, withdrawn: until };
      });
    },
    read: async (ended) => {
      const [stored] = ended.stored === null ? [] : await readStoredItems(database, [ended], ended.withdrawn);
      return contentOfScan(ended, stored);
    },
    drop: (alertId) => {
      for (const group of [digests, ...scans.values()]) {
        for (const [name, entry] of group) {
          if (entry.alert_id !== alertId) continue;
          group.delete(name);
          changed.delete(entry);
        }
      }
      droppedRules.add(alertId);
    },
    isFull: () => freshItems >= FRESH_ITEMS_MAX,
    save: async (client) => {
      await Promise.all([
        removeEntries(client, removed, [...droppedRules]),
        writeEntries(client, [...changed]),
        saveWithdrawn(client, withdrawn),
      ]);
      removed.length = 0;
      droppedRules.clear();
      withdrawn.clear();
      changed.clear();
      digests.clear();
      freshItems = 0;
    },
    forget: () => {
      scans.clear();
      loadedBrands.clear();
    },
    size: () => [...scans.values()].reduce((sum, { size }) => sum + size, loadedBrands.size),
  };
};
