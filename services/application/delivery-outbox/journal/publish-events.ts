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
import { lastSettledEntry } from './committed-end.ts';

/** Entries made into events at once. */
export const ENTRIES_PER_BATCH = 2_000;
/** Streams appended to at once. */
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
  /** Of its stream, as it was when the cursor stood where it is; `null` where nothing is known of it. */
  readonly revision: string | null;
};

const iso = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * The entries behind the cursor, and up to where their streams were known when it was set: from one snapshot, since a
 * newer revision with an older cursor would let the same entries be appended once more. An entry whose delivery was
 * forgotten meanwhile has no history left to be part of.
 */
const ENTRIES = `
  select j.seq, j.delivery_id, d.workspace_id, d.alert_id, j.type, ${iso('j.at')} as at, j.attempt, j.outcome,
    j.failure, j.status_code, j.reason, j.duration_ms, ${iso('j.next_attempt_at')} as next_attempt_at,
    d.channel, d.kind, case when j.type = 'DeliveryQueued' then d.payload end as payload, s.revision
  from delivery.journal j
  join delivery.delivery d using (delivery_id)
  left join delivery.stream s on s.alert_id = d.alert_id
  where j.seq > coalesce((select seq from delivery.recorded), 0) and j.seq <= $1
  order by j.seq
  limit ${ENTRIES_PER_BATCH}`;

const eventOf = (entry: Entry): AlertDeliveryEvent => {
  const { workspace_id, alert_id, delivery_id, at } = entry;
  const named = { workspace_id, alert_id, delivery_id };
  switch (entry.type) {
    case 'DeliveryQueued': {
      const { channel, kind } = entry;
      const payload = JSON.parse(entry.payload ?? 'null');
      return { type: 'DeliveryQueued', data: { ...named, channel, kind, payload, queued_at: at } };
    }
    case 'DeliveryAttempted': {
      const { attempt, outcome, failure, status_code, reason, duration_ms, next_attempt_at } = entry;
      const data = { attempt, outcome, failure, status_code, reason, duration_ms, next_attempt_at };
      return { type: 'DeliveryAttempted', data: { ...named, attempted_at: at, ...data } };
    }
    case 'DeliveryCancelled':
      return { type: 'DeliveryCancelled', data: { ...named, reason: entry.reason ?? '', cancelled_at: at } };
    case 'DeliveryReplayed':
      return { type: 'DeliveryReplayed', data: { ...named, replayed_at: at } };
  }
};

/** The id of the event that an entry becomes, however often it does. */
const eventIdOf = (entry: Entry): string => derivedId('delivery fact', `${entry.delivery_id}|${entry.seq}`);

/**
 * Appends what entries of one stream become, after what is known to be there. Where the stream has come further,
 * somebody appended and died before saying so, or appends now: what is there already is not appended again.
 */
const appendToStream = async (
  eventStore: EventStore,
  stream: string,
  known: bigint,
  entries: readonly Entry[],
): Promise<bigint> => {
  let revision = known;
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
        const recorded = new Set<string>();
        const before = revision;
        for await (const event of eventStore.read(stream, revision)) {
          recorded.add(event.id);
          revision = event.revision;
        }
        // A conflict without new events: the known revision is of a stream that was deleted and made again.
        if (revision === before) revision = -1n;
        missing = missing.filter((entry) => !recorded.has(eventIdOf(entry)));
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
 * Makes events of the next entries of the journal, in one append for each rule's stream, and moves the cursor behind
 * them. One process does this at a time; two at once would do no harm. Answers how many entries it was.
 */
export const recordEvents = async (pool: Database, eventStore: EventStore): Promise<number> => {
  const last = await inTransaction(pool, lastSettledEntry);
  const { rows } = await pool.query<Entry>(ENTRIES, [last.toString()]);
  if (rows.length === 0) return 0;
  const streams = [...Map.groupBy(rows, ({ alert_id }) => alert_id)];
  const revisions = new Map<string, bigint>();
  const appendNext = async (): Promise<void> => {
    for (let next = streams.shift(); next !== undefined; next = streams.shift()) {
      const [alertId, entries] = next;
      const stream = alertDeliveryStream(entries[0]?.workspace_id ?? '', alertId);
      const known = BigInt(entries[0]?.revision ?? -1);
      revisions.set(alertId, await appendToStream(eventStore, stream, known, entries));
    }
  };
  await Promise.all(Array.from({ length: STREAMS_AT_ONCE }, appendNext));
  await moveCursor(pool, BigInt(rows.at(-1)?.seq ?? 0), revisions);
  return rows.length;
};
