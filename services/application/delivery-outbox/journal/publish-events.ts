import { alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { isAccessDenied } from '#platform/event-store/errors.ts';
import { appendEntries, isRefusal } from './append-entries.ts';
import { lastCommittedEntry } from './committed-end.ts';
import { type Entry, readNextEntries } from './entries.ts';
import { type Refused, setAside } from './unrecorded.ts';

const STREAMS_AT_ONCE = 8;

type Appended = { readonly revision: bigint; readonly refused: readonly Refused[] };

/** When the event store refuses the entries, each is appended alone, so that only refused ones are left out. */
const appendToStream = async (
  eventStore: EventStore,
  stream: string,
  entries: readonly Entry[],
): Promise<Appended> => {
  let revision = BigInt(entries[0]?.revision ?? -1);
  try {
    return { revision: await appendEntries(eventStore, stream, revision, entries), refused: [] };
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  const refused: Refused[] = [];
  for (const entry of entries) {
    try {
      revision = await appendEntries(eventStore, stream, revision, [entry]);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.push({ entry, reason: (error as Error).message });
    }
  }
  return { revision, refused };
};

const moveCursor = (
  pool: Database,
  seq: bigint,
  revisions: ReadonlyMap<string, bigint>,
  refused: readonly Refused[],
): Promise<void> =>
  inTransaction(pool, async (client) => {
    await setAside(client, refused);
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

export type Published = {
  readonly entries: number;
  readonly refused: readonly Refused[];
  readonly isMore: boolean;
};

/**
 * One append per rule's stream, then the cursor moves. A refused entry is set aside and delays no other. The
 * transaction of the cursor proves the leader's lease; two processes at once are harmless.
 */
export const publishNextEvents = async (pool: Database, eventStore: EventStore): Promise<Published> => {
  const last = await inTransaction(pool, lastCommittedEntry);
  const { entries, isMore } = await readNextEntries(pool, last);
  if (entries.length === 0) return { entries: 0, refused: [], isMore: false };
  const { revisions, refused } = await appendAll(eventStore, entries);
  await moveCursor(pool, BigInt(entries.at(-1)?.seq ?? 0), revisions, refused);
  return { entries: entries.length, refused, isMore };
};

export const publishEvents = async (pool: Database, eventStore: EventStore): Promise<number> =>
  (await publishNextEvents(pool, eventStore)).entries;
