import type { AlertCadence } from '#contracts/values/alerts.ts';
import { type AlertItem, PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import type { DeliveryContent } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

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
  readonly fresh: AlertItem[];
};

const entryName = (alertId: string, cadence: AlertCadence, key: string): string =>
  `${alertId} ${cadence} ${key}`;

/**
 * Pending digests and instant alerts. Items move to the table at the end of each batch; memory then holds only
 * counts.
 */
export type PendingDigests = {
  add(alertId: string, cadence: AlertCadence, key: string, item: AlertItem): void;
  /** Removes and returns the entries for which `fits` is true, oldest first. */
  close(fits: (collected: PendingDigest) => boolean): readonly PendingDigest[];
  /** Returns all items of an entry that `close` removed. */
  read(collected: PendingDigest): Promise<DeliveryContent>;
  /** Writes the changes of the batch. */
  save(client: Transaction): Promise<void>;
};

type Row = { alert_id: string; cadence: AlertCadence; key: string; items_total: number; as_of: string };

export const openPendingDigests = async (database: Database): Promise<PendingDigests> => {
  const { rows } = await database.query<Row>(
    'select alert_id, cadence, key, items_total, as_of from alerting.collected',
  );
  const waiting = new Map<string, PendingDigest>(
    rows.map((row) => [
      entryName(row.alert_id, row.cadence, row.key),
      { ...row, stored: Math.min(row.items_total, PAYLOAD_ITEMS_MAX), fresh: [] },
    ]),
  );
  const changed = new Set<PendingDigest>();
  const removed = new Set<PendingDigest>();
  return {
    add: (alert_id, cadence, key, item) => {
      const name = entryName(alert_id, cadence, key);
      const one = waiting.get(name) ?? {
        alert_id,
        cadence,
        key,
        items_total: 0,
        as_of: '',
        stored: 0,
        fresh: [],
      };
      waiting.set(name, one);
      changed.add(one);
      if (one.items_total < PAYLOAD_ITEMS_MAX) one.fresh.push(item);
      one.items_total += 1;
      if (item.observed_at > one.as_of) one.as_of = item.observed_at;
    },
    close: (fits) => {
      const closed: PendingDigest[] = [];
      for (const [name, one] of waiting) {
        if (!fits(one)) continue;
        waiting.delete(name);
        changed.delete(one);
        if (one.stored > 0) removed.add(one);
        closed.push(one);
      }
      return closed;
    },
    read: async ({ alert_id, cadence, key, items_total, as_of, stored, fresh }) => {
      const before =
        stored === 0
          ? []
          : (
              await database.query<{ item: AlertItem }>(
                `select item from alerting.collected_item
                 where alert_id = $1 and cadence = $2 and key = $3 order by place`,
                [alert_id, cadence, key],
              )
            ).rows;
      return { items: [...before.map(({ item }) => item), ...fresh], items_total, as_of };
    },
    save: async (client) => {
      await remove(client, [...removed]);
      await write(client, [...changed]);
      removed.clear();
      for (const one of changed) {
        one.stored += one.fresh.length;
        one.fresh.length = 0;
      }
      changed.clear();
    },
  };
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
    one.fresh.map((item, place) => ({ ...one, place: one.stored + place, item: JSON.stringify(item) })),
  );
  if (items.length === 0) return;
  await client.query(
    `insert into alerting.collected_item (alert_id, cadence, key, place, item)
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::jsonb[])
     on conflict do nothing`,
    [
      items.map((one) => one.alert_id),
      items.map((one) => one.cadence),
      items.map((one) => one.key),
      items.map((one) => one.place),
      items.map((one) => one.item),
    ],
  );
};
