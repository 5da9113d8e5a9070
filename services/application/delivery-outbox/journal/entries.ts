import { hash } from 'node:crypto';
import { isoTimeSql } from '#contracts/values/time.ts';
import type { AlertDeliveryEvent, DeliveryAttempted } from '#contracts/events/workspace/alert-delivery.ts';
import type { AlertChannel, DeliveryKind } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { derivedId } from '#domain/ids.ts';
import type { Database } from '#platform/postgres/pool.ts';

export const ENTRIES_PER_BATCH = 2_000;
/** Limits payloads in the table, which compresses them to a fifth or less. */
const PAYLOADS_MAX_BYTES = 4 * 1024 ** 2;
/** The event store takes 1 MiB per append. A larger payload is recorded without items, with hash and length. */
const EVENT_PAYLOAD_MAX_BYTES = 800_000;

export type Entry = {
  readonly seq: string;
  readonly delivery_id: string;
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly type: AlertDeliveryEvent['type'];
  readonly at: string;
  readonly attempt: number;
  readonly outcome: DeliveryAttempted['data']['outcome'];
  readonly failure: DeliveryAttempted['data']['failure'];
  readonly status_code: number | null;
  readonly reason: string | null;
  readonly duration_ms: number;
  readonly next_attempt_at: string | null;
  readonly channel: AlertChannel;
  readonly kind: DeliveryKind;
  readonly payload: string | null;
  /** At the last move of the cursor; `null` when never stored. */
  readonly revision: string | null;
};

const COLUMNS = `j.seq, j.delivery_id, d.workspace_id, d.alert_id, j.type, ${isoTimeSql('j.at')} as at, j.attempt,
    j.outcome, j.failure, j.status_code, j.reason, j.duration_ms,
    ${isoTimeSql('j.next_attempt_at')} as next_attempt_at, d.channel, d.kind,
    case when j.type = 'DeliveryQueued' then d.payload end as payload, s.revision`;
const TABLES = `delivery.journal j
  join delivery.delivery d using (delivery_id)
  left join delivery.stream s on s.alert_id = d.alert_id`;

/**
 * Entries after the cursor, with revisions of one snapshot: a newer revision with an older cursor would append entries
 * twice. `is_more`: payloads beyond the limit were left.
 */
const NEXT_ENTRIES = `
  with found as (
    select j.seq, case when j.type = 'DeliveryQueued' then pg_column_size(d.payload) else 0 end as bytes
    from delivery.journal j join delivery.delivery d using (delivery_id)
    where j.seq > coalesce((select seq from delivery.recorded), 0) and j.seq <= $1
    order by j.seq
    limit ${ENTRIES_PER_BATCH}
  ), sized as (
    select seq, coalesce(sum(bytes) over (order by seq rows between unbounded preceding and 1 preceding), 0) as before
    from found
  ), fitting as (
    select seq from sized where before < ${PAYLOADS_MAX_BYTES}
  )
  select ${COLUMNS}, (select count(*) from fitting) < (select count(*) from found) as is_more
  from fitting f join delivery.journal j using (seq)
  join delivery.delivery d using (delivery_id)
  left join delivery.stream s on s.alert_id = d.alert_id
  order by j.seq`;

export type NextEntries = { readonly entries: readonly Entry[]; readonly isMore: boolean };

/** Reads as many as fit into memory, by number and bytes of payload. */
export const readNextEntries = async (pool: Database, upTo: bigint): Promise<NextEntries> => {
  const { rows } = await pool.query<Entry & { is_more: boolean }>(NEXT_ENTRIES, [upTo.toString()]);
  return { entries: rows, isMore: rows.length >= ENTRIES_PER_BATCH || rows[0]?.is_more === true };
};

export const readEntries = async (pool: Database, seqs: readonly string[]): Promise<readonly Entry[]> => {
  const text = `select ${COLUMNS} from ${TABLES} where j.seq = any($1::bigint[]) order by j.seq`;
  return (await pool.query<Entry>(text, [seqs])).rows;
};

/** Whole, or without its items. */
const payloadFields = (text: string) => {
  const payload = JSON.parse(text) as AlertPayload;
  if (text.length <= EVENT_PAYLOAD_MAX_BYTES) return { payload };
  const payload_sha256 = hash('sha256', text, 'hex');
  return { payload: { ...payload, items: [] }, payload_sha256, payload_bytes: text.length };
};

export const eventOf = (entry: Entry): AlertDeliveryEvent => {
  const { workspace_id, alert_id, delivery_id, at } = entry;
  const ids = { workspace_id, alert_id, delivery_id };
  switch (entry.type) {
    case 'DeliveryQueued': {
      const { channel, kind } = entry;
      const fields = payloadFields(entry.payload ?? 'null');
      return { type: 'DeliveryQueued', data: { ...ids, channel, kind, ...fields, queued_at: at } };
    }
    case 'DeliveryAttempted': {
      const { attempt, outcome, failure, status_code, reason, duration_ms, next_attempt_at } = entry;
      const data = { attempt, outcome, failure, status_code, reason, duration_ms, next_attempt_at };
      return { type: 'DeliveryAttempted', data: { ...ids, attempted_at: at, ...data } };
    }
    case 'DeliveryCancelled':
      return { type: 'DeliveryCancelled', data: { ...ids, reason: entry.reason ?? '', cancelled_at: at } };
    case 'DeliveryReplayed':
      return { type: 'DeliveryReplayed', data: { ...ids, replayed_at: at } };
  }
};

export const eventIdOf = (entry: Entry): string =>
  derivedId('delivery fact', `${entry.delivery_id}|${entry.seq}`);
