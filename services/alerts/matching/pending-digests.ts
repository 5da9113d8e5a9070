import { DAY_MS } from '#contracts/values/time.ts';
import type { AlertCadence } from '#contracts/values/alerts.ts';
import { type AlertItem, PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import type { DeliveryContent } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/**
 * An item that waits. `item` is null beyond the limit of a payload: such an item only counts. `source` names the
 * occurrence of an ad that a correction may withdraw; null for items that no correction names.
 */
type PendingItem = { readonly item: AlertItem | null; readonly source: string | null };

/** Pending items of one rule. They wait for the end of a scan (`key`: brand id) or of a period (`key`: first day). */
export type PendingDigest = {
  readonly alert_id: string;
  readonly cadence: AlertCadence;
  readonly key: string;
  items_total: number;
  as_of: string;
  /** Number of items already in the table. */
  stored: number;
  /** Items not yet in the table. */
  readonly fresh: PendingItem[];
  /** Number of withdrawals that came before the entry was closed; later ones do not change it. */
  withdrawals: number;
};

/** Retention of withdrawals in milliseconds: more than a week, the longest period of a digest. */
const WITHDRAWN_RETENTION_MS = 8 * DAY_MS;

const entryName = (alertId: string, cadence: AlertCadence, key: string): string =>
  `${alertId} ${cadence} ${key}`;

/**
 * Pending digests and instant alerts. Items move to the table at the end of each batch; memory then holds only
 * counts.
 */
export type PendingDigests = {
  add(alertId: string, cadence: AlertCadence, key: string, item: AlertItem, source?: string | null): void;
  /** Leaves the items of this source out of the entries that are not yet closed. `at` is the log time. */
  withdraw(source: string, at: string): void;
  /** Removes and returns the entries for which `fits` is true, oldest first. */
  close(fits: (collected: PendingDigest) => boolean): readonly PendingDigest[];
  /** Returns the items of an entry that `close` removed, without withdrawn ones. */
  read(collected: PendingDigest): Promise<DeliveryContent>;
  /** Writes the changes of the batch. */
  save(client: Transaction): Promise<void>;
};

type Row = { alert_id: string; cadence: AlertCadence; key: string; items_total: number; as_of: string };

export const openPendingDigests = async (database: Database): Promise<PendingDigests> => {
  const { rows } = await database.query<Row>(
    'select alert_id, cadence, key, items_total, as_of from alerting.collected order by alert_id, cadence, key',
  );
  const withdrawn = new Map<string, number>();
  const recorded = await database.query<{ source: string }>(
    'select source from alerting.withdrawn order by at',
  );
  for (const { source } of recorded.rows) withdrawn.set(source, 0);
  let withdrawals = 0;
  const added = new Map<string, string>();
  const waiting = new Map<string, PendingDigest>(
    rows.map((row) => [
      entryName(row.alert_id, row.cadence, row.key),
      { ...row, stored: row.items_total, fresh: [], withdrawals: 0 },
    ]),
  );
  const changed = new Set<PendingDigest>();
  const removed = new Set<PendingDigest>();
  return {
    add: (alert_id, cadence, key, item, source = null) => {
      const name = entryName(alert_id, cadence, key);
      const one = waiting.get(name) ?? {
        alert_id,
        cadence,
        key,
        items_total: 0,
        as_of: '',
        stored: 0,
        fresh: [],
        withdrawals: 0,
      };
      waiting.set(name, one);
      changed.add(one);
      one.fresh.push({ item: one.items_total < PAYLOAD_ITEMS_MAX ? item : null, source });
      one.items_total += 1;
      if (item.observed_at > one.as_of) one.as_of = item.observed_at;
    },
    withdraw: (source, at) => {
      if (withdrawn.has(source)) return;
      withdrawals += 1;
      withdrawn.set(source, withdrawals);
      added.set(source, at);
    },
    close: (fits) => {
      const closed: PendingDigest[] = [];
      for (const [name, one] of waiting) {
        if (!fits(one)) continue;
        waiting.delete(name);
        one.withdrawals = withdrawals;
        changed.delete(one);
        if (one.stored > 0) removed.add(one);
        closed.push(one);
      }
      return closed;
    },
    read: async ({ alert_id, cadence, key, items_total, as_of, stored, fresh, withdrawals: until }) => {
      const before =
        stored === 0
          ? []
          : (
              await database.query<PendingItem>(
                `select item, source from alerting.collected_item
                 where alert_id = $1 and cadence = $2 and key = $3 order by place`,
                [alert_id, cadence, key],
              )
            ).rows;
      const all = [...before, ...fresh];
      const isWithdrawn = ({ source }: PendingItem): boolean =>
        source !== null && (withdrawn.get(source) ?? Infinity) <= until;
      const remaining = all.filter((one) => !isWithdrawn(one));
      const items = remaining.flatMap(({ item }) => item ?? []);
      const left = items_total - (all.length - remaining.length);
      const newest = items.reduce((time, { observed_at }) => (observed_at > time ? observed_at : time), '');
      // Items beyond the limit of a payload may be newer than all listed ones.
      return { items, items_total: left, as_of: left > items.length ? as_of : newest };
    },
    save: async (client) => {
      await remove(client, [...removed]);
      await write(client, [...changed]);
      await saveWithdrawn(client, added);
      added.clear();
      removed.clear();
      for (const one of changed) {
        one.stored += one.fresh.length;
        one.fresh.length = 0;
      }
      changed.clear();
    },
  };
};

/** Writes new withdrawals, and deletes those that no open period can hold any more. */
const saveWithdrawn = async (client: Transaction, added: ReadonlyMap<string, string>): Promise<void> => {
  if (added.size === 0) return;
  await client.query(
    'insert into alerting.withdrawn (source, at) select * from unnest($1::text[], $2::text[]) on conflict do nothing',
    [[...added.keys()], [...added.values()]],
  );
  const newest = [...added.values()].reduce((one, other) => (other > one ? other : one));
  await client.query('delete from alerting.withdrawn where at < $1', [
    new Date(Date.parse(newest) - WITHDRAWN_RETENTION_MS).toISOString(),
  ]);
};

const remove = async (client: Transaction, closed: readonly PendingDigest[]): Promise<void> => {
  if (closed.length === 0) return;
  const keys = [
    closed.map((one) => one.alert_id),
    closed.map((one) => one.cadence),
    closed.map((one) => one.key),
  ];
  for (const table of ['collected', 'collected_item']) {
    await client.query(
      `delete from alerting.${table} using unnest($1::uuid[], $2::text[], $3::text[]) as gone (alert_id, cadence, key)
       where ${table}.alert_id = gone.alert_id and ${table}.cadence = gone.cadence and ${table}.key = gone.key`,
      keys,
    );
  }
};

const write = async (client: Transaction, changed: readonly PendingDigest[]): Promise<void> => {
  if (changed.length === 0) return;
  await client.query(
    `insert into alerting.collected (alert_id, cadence, key, items_total, as_of)
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::text[])
     on conflict (alert_id, cadence, key) do update set items_total = excluded.items_total, as_of = excluded.as_of`,
    [
      changed.map((one) => one.alert_id),
      changed.map((one) => one.cadence),
      changed.map((one) => one.key),
      changed.map((one) => one.items_total),
      changed.map((one) => one.as_of),
    ],
  );
  const items = changed.flatMap((one) =>
    one.fresh.map(({ item, source }, place) => ({
      ...one,
      place: one.stored + place,
      item: item && JSON.stringify(item),
      source,
    })),
  );
  if (items.length === 0) return;
  await client.query(
    `insert into alerting.collected_item (alert_id, cadence, key, place, item, source)
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::jsonb[], $6::text[])
     on conflict do nothing`,
    [
      items.map((one) => one.alert_id),
      items.map((one) => one.cadence),
      items.map((one) => one.key),
      items.map((one) => one.place),
      items.map((one) => one.item),
      items.map((one) => one.source),
    ],
  );
};
