import { isoTimeSql } from '#contracts/values/time.ts';
import {
  type AlertDeliveryEvent,
  alertDeliveryStream,
  type DeliveryAttempted,
} from '#contracts/events/workspace/alert-delivery.ts';
import type { AlertChannel, DeliveryKind } from '#contracts/values/alerts.ts';
import { derivedId } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { eventMetadata, serviceActor } from '../../commands/event-metadata.ts';
import { handleCommand, UNBOUNDED_CONFLICTS } from '../../commands/handle-command.ts';
import { lastCommittedEntry } from './committed-end.ts';

/** Maximum journal entries published per call. */
export const ENTRIES_PER_BATCH = 2_000;
/** Maximum concurrent appends. */
const STREAMS_AT_ONCE = 8;

type Entry = {
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
  /** Revision of the rule's stream when the cursor was last moved; `null` when it was never stored. */
  readonly revision: string | null;
};

/**
 * Selects the entries after the cursor, with the stored revisions of their streams. Both must come from one snapshot:
 * a newer revision with an older cursor would append the same entries twice. Entries of deleted deliveries are left
 * out by the join.
 */
const ENTRIES = `
  select j.seq, j.delivery_id, d.workspace_id, d.alert_id, j.type, ${isoTimeSql('j.at')} as at, j.attempt, j.outcome,
    j.failure, j.status_code, j.reason, j.duration_ms, ${isoTimeSql('j.next_attempt_at')} as next_attempt_at,
    d.channel, d.kind, case when j.type = 'DeliveryQueued' then d.payload end as payload, s.revision
  from delivery.journal j
  join delivery.delivery d using (delivery_id)
  left join delivery.stream s on s.alert_id = d.alert_id
  where j.seq > coalesce((select seq from delivery.recorded), 0) and j.seq <= $1
  order by j.seq
  limit ${ENTRIES_PER_BATCH}`;

const eventOf = (entry: Entry): AlertDeliveryEvent => {
  const { workspace_id, alert_id, delivery_id, at } = entry;
  const ids = { workspace_id, alert_id, delivery_id };
  switch (entry.type) {
    case 'DeliveryQueued': {
      const { channel, kind } = entry;
      const payload = JSON.parse(entry.payload ?? 'null');
      return { type: 'DeliveryQueued', data: { ...ids, channel, kind, payload, queued_at: at } };
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

/** Returns the event id of an entry: derived, so publishing an entry again produces the same id. */
const eventIdOf = (entry: Entry): string => derivedId('delivery fact', `${entry.delivery_id}|${entry.seq}`);

/**
 * Appends the events of one stream's entries at the expected revision. On a conflict, another process appended them
 * and crashed before it moved the cursor, or appends them now. The stream is then read from the stored revision, and
 * only missing events are appended.
 *
 * @returns the revision of the stream afterwards.
 */
const appendToStream = async (
  eventStore: EventStore,
  stream: string,
  storedRevision: bigint,
  entries: readonly Entry[],
): Promise<bigint> => {
  let revision = storedRevision;
  let missing = entries;
  const first = entries[0];
  if (!first) return revision;
  const metadata = eventMetadata({
    actor: serviceActor('delivery'),
    correlationId: first.alert_id,
    causationId: first.delivery_id,
    requestId: derivedId('delivery facts', `${first.alert_id}|${first.seq}`),
    workspaceId: first.workspace_id,
  });
  await handleCommand<readonly Entry[], AlertDeliveryEvent>({
    store: {
      load: async (conflicts) => {
        if (conflicts === 0) return missing;
        const existingIds = new Set<string>();
        const before = revision;
        for await (const event of eventStore.read(stream, revision)) {
          existingIds.add(event.id);
          revision = event.revision;
        }
        // A conflict without newer events: the stream was deleted and created again, so the stored revision is invalid.
        if (revision === before) revision = -1n;
        missing = missing.filter((entry) => !existingIds.has(eventIdOf(entry)));
        return missing;
      },
      append: async (events) => {
        if (events.length === 0) return;
        const ids = new Map(
          events.map((event, index) => [event as object, eventIdOf(missing[index] ?? first)]),
        );
        ({ revision } = await eventStore.append(
          stream,
          revision,
          events,
          metadata,
          (event) => ids.get(event) ?? '',
        ));
      },
      commit: async () => null,
    },
    decide: (entriesToAppend) => entriesToAppend.map(eventOf),
    conflicts: UNBOUNDED_CONFLICTS,
  });
  return revision;
};

const moveCursor = (pool: Database, seq: bigint, revisions: ReadonlyMap<string, bigint>): Promise<void> =>
  inTransaction(pool, async (client) => {
    await client.query(
      `insert into delivery.stream (alert_id, revision) select * from unnest($1::uuid[], $2::bigint[])
       on conflict (alert_id) do update set revision = greatest(stream.revision, excluded.revision)`,
      [[...revisions.keys()], [...revisions.values()].map(String)],
    );
    await client.query(
      `insert into delivery.recorded (seq) values ($1)
       on conflict (single_row) do update set seq = greatest(recorded.seq, excluded.seq)`,
      [seq.toString()],
    );
  });

/**
 * Journal relay: publishes the next journal entries as events, with one append per rule's stream, then moves the
 * cursor. Only the leader runs it; two processes at once would be harmless, and the transaction that moves the cursor
 * proves the lease. Returns the number of entries.
 */
export const publishEvents = async (pool: Database, eventStore: EventStore): Promise<number> => {
  const last = await inTransaction(pool, lastCommittedEntry);
  const { rows } = await pool.query<Entry>(ENTRIES, [last.toString()]);
  if (rows.length === 0) return 0;
  const streams = [...Map.groupBy(rows, ({ alert_id }) => alert_id)];
  const revisions = new Map<string, bigint>();
  const appendNext = async (): Promise<void> => {
    for (let next = streams.shift(); next !== undefined; next = streams.shift()) {
      const [alertId, entries] = next;
      const stream = alertDeliveryStream(entries[0]?.workspace_id ?? '', alertId);
      const storedRevision = BigInt(entries[0]?.revision ?? -1);
      revisions.set(alertId, await appendToStream(eventStore, stream, storedRevision, entries));
    }
  };
  await Promise.all(Array.from({ length: STREAMS_AT_ONCE }, appendNext));
  await moveCursor(pool, BigInt(rows.at(-1)?.seq ?? 0), revisions);
  return rows.length;
};
