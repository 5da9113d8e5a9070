import { isoTimeSql } from '#contracts/values/time.ts';
import { alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { appendEntries } from './append-entries.ts';
import { type Entry, readEntries } from './entries.ts';

const REASON_MAX = 1_000;

export type Refused = { readonly entry: Entry; readonly reason: string };

/** In the transaction that moves the cursor past the entries. */
export const setAside = async (client: Transaction, refused: readonly Refused[]): Promise<void> => {
  if (refused.length === 0) return;
  await client.query(
    `insert into delivery.unrecorded (seq, delivery_id, type, reason, at)
     select *, now() from unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[]) on conflict do nothing`,
    [
      refused.map(({ entry }) => entry.seq),
      refused.map(({ entry }) => entry.delivery_id),
      refused.map(({ entry }) => entry.type),
      refused.map(({ reason }) => reason.slice(0, REASON_MAX)),
    ],
  );
};

export type Unrecorded = {
  readonly seq: string;
  readonly delivery_id: string;
  readonly type: string;
  readonly reason: string;
  readonly at: string;
};

export const listUnrecorded = async (pool: Database, limit: number): Promise<readonly Unrecorded[]> => {
  const { rows } = await pool.query<Unrecorded>(
    `select seq, delivery_id, type, reason, ${isoTimeSql('at')} as at from delivery.unrecorded u
     order by u.seq limit $1`,
    [limit],
  );
  return rows;
};

/**
 * Appends at the end of the streams, since later events are recorded. Forgets entries of deleted deliveries. Returns
 * how many are recorded. Throws when the event store still refuses one.
 */
export const recordAgain = async (
  pool: Database,
  eventStore: EventStore,
  seqs: readonly string[],
): Promise<number> => {
  let recorded = 0;
  const entries = new Map((await readEntries(pool, seqs)).map((entry) => [entry.seq, entry]));
  for (const seq of seqs) {
    const entry = entries.get(seq);
    if (entry !== undefined) {
      const stream = alertDeliveryStream(entry.workspace_id, entry.alert_id);
      await appendEntries(eventStore, stream, BigInt(entry.revision ?? -1), [entry]);
      recorded += 1;
    }
    await pool.query('delete from delivery.unrecorded where seq = $1', [seq]);
  }
  return recorded;
};
