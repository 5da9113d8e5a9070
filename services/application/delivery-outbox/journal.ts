import { hash } from 'node:crypto';
import type { QueryResult } from 'pg';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import {
  type AlertDeliveryEvent,
  alertDeliveryStream,
  type DeliveryAttempted,
} from '#contracts/events/workspace/alert-delivery.ts';
import type { AlertChannel, DeliveryKind } from '#contracts/values/alerts.ts';
import type { Actor } from '#contracts/events/event.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { derivedId } from '#domain/ids.ts';
import { isAccessDenied } from '#platform/event-store/errors.ts';
import { type EventStore, StreamMoved } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { eventMetadata, serviceActor } from '../commands/command-handler.ts';

/** Entries of the journal as events in the log: each once, and in the order of the journal within a rule. */

const ENTRIES_PER_BATCH = 2_000;
/** Limits payloads in the table, which compresses them to a fifth or less. */
const PAYLOADS_MAX_BYTES = 4 * 1024 ** 2;
/** The event store takes 1 MiB per append. A larger payload is recorded without items, with hash and length. */
const EVENT_PAYLOAD_MAX_BYTES = 800_000;
const STREAMS_AT_ONCE = 8;
/** A waiting exclusive request blocks new writers, so it gives up behind a slow one, and the relay tries again. */
const LOCK_TIMEOUT_MS = 1_000;
const REASON_MAX = 1_000;

/** Request of a member that caused an entry. */
export type Cause = { readonly actor: Actor; readonly request_id: string; readonly command_id: string };

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
  readonly cause: Cause | null;
  /** At the last move of the cursor; `null` when never stored. */
  readonly revision: string | null;
};

/** The event store refuses the entry, or no event can be made of it. */
export type Refused = { readonly entry: Entry; readonly reason: string };

const COLUMNS = `j.seq, j.delivery_id, d.workspace_id, d.alert_id, j.type, ${isoTimeSql('j.at')} as at, j.attempt,
    j.outcome, j.failure, j.status_code, j.reason, j.duration_ms,
    ${isoTimeSql('j.next_attempt_at')} as next_attempt_at, d.channel, d.kind,
    case when j.type = 'DeliveryQueued' then d.payload end as payload, j.cause, s.revision`;
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
  from fitting join ${TABLES.replace('delivery.journal j', 'delivery.journal j using (seq)')}
  order by j.seq`;

/**
 * All entries up to this one are visible; `null` when none follows the cursor. The statements are one transaction and one
 * round trip, so that the lock ends at once. Throws when it is not granted.
 */
const lastCommittedEntry = async (pool: Database): Promise<string | null> => {
  const results: unknown = await pool.query(
    `set local lock_timeout = ${LOCK_TIMEOUT_MS};
     select pg_advisory_xact_lock(${ADVISORY_LOCKS.deliveryJournal});
     select max(seq) as seq from delivery.journal where seq > coalesce((select seq from delivery.recorded), 0)`,
  );
  return (results as readonly QueryResult<{ seq: string | null }>[]).at(-1)?.rows[0]?.seq ?? null;
};

/** The payload whole, or without its items. */
const payloadFields = (text: string) => {
  const payload = JSON.parse(text) as AlertPayload;
  if (text.length <= EVENT_PAYLOAD_MAX_BYTES) return { payload };
  const payload_sha256 = hash('sha256', text, 'hex');
  return { payload: { ...payload, items: [] }, payload_sha256, payload_bytes: text.length };
};

const toEvent = (entry: Entry): AlertDeliveryEvent => {
  const { type, workspace_id, alert_id, delivery_id, at } = entry;
  const ids = { workspace_id, alert_id, delivery_id };
  switch (type) {
    case 'DeliveryQueued': {
      const { channel, kind } = entry;
      const fields = payloadFields(entry.payload ?? 'null');
      return { type, data: { ...ids, channel, kind, ...fields, queued_at: at } };
    }
    case 'DeliveryAttempted': {
      const { attempt, outcome, failure, status_code, reason, duration_ms, next_attempt_at } = entry;
      const data = { attempt, outcome, failure, status_code, reason, duration_ms, next_attempt_at };
      return { type, data: { ...ids, attempted_at: at, ...data } };
    }
    case 'DeliveryCancelled':
      return { type, data: { ...ids, reason: entry.reason ?? '', cancelled_at: at } };
    case 'DeliveryReplayed':
      return { type, data: { ...ids, replayed_at: at } };
    default:
      throw new UnusableEntry(`There is no event of the type ${type as string}.`);
  }
};

class UnusableEntry extends Error {
  override readonly name = 'UnusableEntry';
}

const requireEvent = (entry: Entry): AlertDeliveryEvent => {
  try {
    return toEvent(entry);
  } catch (error) {
    throw new UnusableEntry((error as Error).message, { cause: error });
  }
};

const eventId = ({ delivery_id, seq }: Entry): string => derivedId('delivery fact', `${delivery_id}|${seq}`);

/** The first entries of one cause: an append has one set of metadata. */
const firstRun = (entries: readonly Entry[]): readonly Entry[] => {
  const cause = entries[0]?.cause?.command_id;
  const end = entries.findIndex((entry) => entry.cause?.command_id !== cause);
  return end === -1 ? entries : entries.slice(0, end);
};

/** Returns the revision afterwards. `entries`: at least one, of one cause. */
const appendRun = async (
  eventStore: EventStore,
  stream: string,
  expected: bigint,
  entries: readonly [Entry, ...Entry[]],
): Promise<bigint> => {
  const [{ workspace_id, alert_id, delivery_id, seq, cause }] = entries;
  const metadata = eventMetadata({
    actor: cause?.actor ?? serviceActor('delivery'),
    correlationId: cause?.request_id ?? alert_id,
    causationId: cause?.command_id ?? delivery_id,
    requestId: cause?.request_id ?? derivedId('delivery facts', `${alert_id}|${seq}`),
    workspaceId: workspace_id,
  });
  const ids = new Map<object, string>();
  const events = entries.map((entry) => {
    const event = requireEvent(entry);
    ids.set(event, eventId(entry));
    return event;
  });
  const { revision } = await eventStore.append(
    stream,
    expected,
    events,
    metadata,
    (event) => ids.get(event) ?? '',
  );
  return revision;
};

/** gRPC status of a request that the server refuses for its content. */
const GRPC_INVALID_ARGUMENT = 3;
const REFUSED_TYPES: ReadonlySet<unknown> = new Set(['maximum-append-size-exceeded', 'stream-deleted']);
/**
 * Repetition would fail again. Errors that code throws, such as for an unreadable answer, say nothing about the entry.
 */
const isRefusal = (error: unknown): boolean => {
  if (error instanceof UnusableEntry) return true;
  const { type, code } = (error ?? {}) as { readonly type?: unknown; readonly code?: unknown };
  return REFUSED_TYPES.has(type) || code === GRPC_INVALID_ARGUMENT;
};

type Appended = { readonly revision: bigint; readonly refused: readonly Refused[] };

/**
 * Another process may have appended the same, so a conflict appends only what is missing. When the event store refuses
 * a run, each entry is appended alone from there on, so that only refused ones are left out.
 */
const appendToStream = async (
  eventStore: EventStore,
  stream: string,
  entries: readonly Entry[],
): Promise<Appended> => {
  let revision = BigInt(entries[0]?.revision ?? -1);
  let missing = entries;
  let runMax = entries.length;
  const refused: Refused[] = [];
  for (let first = missing[0]; first !== undefined; first = missing[0]) {
    const [, ...others] = firstRun(missing).slice(0, runMax);
    try {
      revision = await appendRun(eventStore, stream, revision, [first, ...others]);
      missing = missing.slice(1 + others.length);
    } catch (error) {
      if (error instanceof StreamMoved) {
        const existing = new Set<string>();
        const before = revision;
        for await (const event of eventStore.read(stream, revision)) {
          existing.add(event.id);
          revision = event.revision;
        }
        // A conflict without newer events: the stream was created again, so the stored revision is invalid.
        if (revision === before) revision = -1n;
        missing = missing.filter((entry) => !existing.has(eventId(entry)));
      } else if (!isRefusal(error)) throw error;
      else if (others.length > 0) runMax = 1;
      else {
        refused.push({ entry: first, reason: (error as Error).message });
        missing = missing.slice(1);
      }
    }
  }
  return { revision, refused };
};

/** The event store lets nothing be appended. `begun`: appends that had begun by then. */
type Denied = { readonly entries: readonly Entry[]; readonly error: Error; readonly begun: number };

/**
 * A denied stream is set aside if a later append to another succeeds. Otherwise the login may be wrong: this throws.
 */
const appendAll = async (eventStore: EventStore, entries: readonly Entry[]) => {
  const streams = [...Map.groupBy(entries, ({ alert_id }) => alert_id)];
  const revisions = new Map<string, bigint>();
  const refused: Refused[] = [];
  const denied: Denied[] = [];
  let begun = 0;
  let lastSucceeded = 0;
  const appendNext = async (): Promise<void> => {
    for (let next = streams.shift(); next !== undefined; next = streams.shift()) {
      const [alertId, ofStream] = next;
      const stream = alertDeliveryStream(ofStream[0]?.workspace_id ?? '', alertId);
      begun += 1;
      const number = begun;
      try {
        const appended = await appendToStream(eventStore, stream, ofStream);
        revisions.set(alertId, appended.revision);
        refused.push(...appended.refused);
        if (appended.refused.length < ofStream.length) lastSucceeded = Math.max(lastSucceeded, number);
      } catch (error) {
        if (!isAccessDenied(error)) throw error;
        denied.push({ entries: ofStream, error: error as Error, begun });
      }
    }
  };
  await Promise.all(Array.from({ length: STREAMS_AT_ONCE }, appendNext));
  for (const one of denied) {
    if (one.begun >= lastSucceeded) throw one.error;
    refused.push(...one.entries.map((entry) => ({ entry, reason: one.error.message })));
  }
  return { revisions, refused };
};

const moveCursor = (
  pool: Database,
  seq: string,
  revisions: ReadonlyMap<string, bigint>,
  refused: readonly Refused[],
): Promise<void> =>
  inTransaction(pool, async (client) => {
    if (refused.length > 0) {
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
    }
    await client.query({
      name: 'move the cursor of the journal',
      text: `with moved as (
          insert into delivery.stream (alert_id, revision) select * from unnest($1::uuid[], $2::bigint[])
          on conflict (alert_id) do update set revision = greatest(stream.revision, excluded.revision)
        )
        insert into delivery.recorded (seq) values ($3)
        on conflict (single_row) do update set seq = greatest(recorded.seq, excluded.seq)`,
      values: [[...revisions.keys()], [...revisions.values()].map(String), seq],
    });
  });

export type Published = {
  readonly entries: number;
  readonly refused: readonly Refused[];
  readonly isMore: boolean;
};

/**
 * One append per rule's stream, then the cursor moves. A refused entry is set aside and delays no other. The
 * transaction of the cursor proves the leader's lease; two processes at once are harmless.
 */
export const publishEvents = async (pool: Database, eventStore: EventStore): Promise<Published> => {
  const last = await lastCommittedEntry(pool);
  if (last === null) return { entries: 0, refused: [], isMore: false };
  const { rows: entries } = await pool.query<Entry & { is_more: boolean }>({
    name: 'next entries of the journal',
    text: NEXT_ENTRIES,
    values: [last],
  });
  const end = entries.at(-1)?.seq;
  if (end === undefined) return { entries: 0, refused: [], isMore: false };
  const { revisions, refused } = await appendAll(eventStore, entries);
  await moveCursor(pool, end, revisions, refused);
  const isMore = entries.length >= ENTRIES_PER_BATCH || entries[0]?.is_more === true;
  return { entries: entries.length, refused, isMore };
};

/** Publishes a batch and logs what the event store refused. Returns whether there is more. */
export const publishBatch = async (
  pool: Database,
  eventStore: EventStore,
  log: Pick<Log, 'error'>,
): Promise<boolean> => {
  const { isMore, refused } = await publishEvents(pool, eventStore);
  for (const { entry, reason } of refused)
    log.error({ delivery_id: entry.delivery_id, type: entry.type, reason }, 'delivery event set aside');
  return isMore;
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
  const found = await pool.query<Entry>(
    `select ${COLUMNS} from ${TABLES} where j.seq = any($1::bigint[]) order by j.seq`,
    [seqs],
  );
  const entries = new Map(found.rows.map((entry) => [entry.seq, entry]));
  let recorded = 0;
  for (const seq of seqs) {
    const entry = entries.get(seq);
    if (entry !== undefined) {
      const stream = alertDeliveryStream(entry.workspace_id, entry.alert_id);
      const [refused] = (await appendToStream(eventStore, stream, [entry])).refused;
      if (refused) throw new Error(refused.reason);
      recorded += 1;
    }
    await pool.query('delete from delivery.unrecorded where seq = $1', [seq]);
  }
  return recorded;
};
