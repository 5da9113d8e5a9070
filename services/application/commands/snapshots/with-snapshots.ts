import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Decider } from '#domain/decider.ts';
import { outsideTimeBudget, TimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { EventStore, LoadedState } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

export type Snapshot = {
  readonly stream: string;
  readonly version: number;
  readonly revision: bigint;
  readonly eventId: string;
  readonly state: string;
};

export type SnapshotTable = {
  /** `null` when there is none of this version, or its checksum is wrong. */
  find(stream: string, version: number): Promise<Snapshot | null>;
  store(snapshot: Snapshot): Promise<void>;
  remove(snapshot: Snapshot): Promise<void>;
};

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
const MISSING = new Set(['42P01', '3F000']);

const FIND =
  'select revision, event_id, state, checksum from commands.snapshot where stream = $1 and version = $2';
const STORE = `insert into commands.snapshot (stream, version, revision, event_id, state, checksum)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (stream) do update set version = excluded.version, revision = excluded.revision,
    event_id = excluded.event_id, state = excluded.state, checksum = excluded.checksum
  where snapshot.version <> excluded.version or snapshot.revision < excluded.revision`;
const REMOVE = 'delete from commands.snapshot where stream = $1 and event_id = $2';

type Row = {
  readonly revision: string;
  readonly event_id: string;
  readonly state: string;
  readonly checksum: string;
};

/** The first use creates the table, also after an operator dropped it. */
export const openSnapshotTable = (pool: Database): SnapshotTable => {
  const whileMissing = async <T>(query: Promise<T>, otherwise: () => Promise<T>): Promise<T> => {
    try {
      return await query;
    } catch (error) {
      if (!MISSING.has((error as { code?: string }).code ?? '')) throw error;
      return await otherwise();
    }
  };
  const install = (): Promise<void> =>
    installSchema(pool, { lock: ADVISORY_LOCKS.snapshotSchema, sql: SCHEMA });
  const write = async ({ stream, version, revision, eventId, state }: Snapshot): Promise<void> => {
    const values = [stream, version, revision.toString(), eventId, state, crc32(state)];
    await pool.query({ name: 'snapshot_store', text: STORE, values });
  };
  return {
    find: async (stream, version) => {
      const text = { name: 'snapshot_find', text: FIND, values: [stream, version] };
      const { rows } = await whileMissing(pool.query<Row>(text), async () => {
        await install();
        return { rows: [] as Row[] };
      });
      const [row] = rows;
      if (row === undefined || Number(row.checksum) !== crc32(row.state)) return null;
      return { stream, version, revision: BigInt(row.revision), eventId: row.event_id, state: row.state };
    },
    store: (snapshot) =>
      whileMissing(write(snapshot), async () => {
        await install();
        await write(snapshot);
      }),
    remove: async ({ stream, eventId }) => {
      await pool.query(REMOVE, [stream, eventId]);
    },
  };
};

/** Shorter streams have no snapshot. */
export const SNAPSHOT_EVENTS = 32;
/** Spaces out snapshots, so that large states are not written all the time. */
const BYTES_PER_EVENT = 8_192;
/** Streams with larger states are folded from their start. */
const STATE_LENGTH_MAX = 4 * 1024 * 1024;
/** Further snapshots are left to a later command. */
const WRITES_AT_ONCE = 4;
const STREAMS_MAX = 10_000;

/** Ends at once: what it writes, it writes later. */
export type StateKeeper = {
  keepState<State, E extends Event>(
    stream: string,
    decider: Decider<State, E>,
    loaded: LoadedState<State>,
  ): void;
};

type Stored = { readonly revision: bigint; readonly every: number };
const NONE: Stored = { revision: -1n, every: SNAPSHOT_EVENTS };

/** Events between two snapshots of a state of this size. */
const everyOf = (state: string): number =>
  Math.max(SNAPSHOT_EVENTS, Math.ceil(state.length / BYTES_PER_EVENT));

/** `null` when the JSON has another shape than the decider expects. */
const decodeState = <State>(decode: (json: unknown) => State, text: string): { state: State } | null => {
  try {
    return { state: decode(JSON.parse(text)) };
  } catch {
    return null;
  }
};

/**
 * `load` starts from a snapshot only when the log has its event, with the same id, at its revision; an append then
 * proves the state as without snapshots. Without the table, and after any failure, streams are folded from their start.
 */
export const withSnapshots = (
  eventStore: EventStore,
  table: SnapshotTable,
  log: Pick<Log, 'warn'>,
): EventStore & StateKeeper => {
  const storedOf = new LRUCache<string, Stored>({ max: STREAMS_MAX });
  const writing = new Set<string>();

  const ignoreFailure = <T>(work: Promise<T>, what: string, otherwise: T): Promise<T> =>
    work.catch((error: unknown) => {
      if (error instanceof TimeUsedUp) throw error;
      log.warn({ err: error }, what);
      return otherwise;
    });

  const keepState: StateKeeper['keepState'] = (stream, { snapshot: codec }, { state, revision, eventId }) => {
    if (codec === undefined || eventId === undefined) return;
    const stored = storedOf.get(stream) ?? NONE;
    if (revision - stored.revision < stored.every) return;
    if (writing.has(stream) || writing.size >= WRITES_AT_ONCE) return;
    const text = JSON.stringify(codec.encode(state));
    storedOf.set(stream, { revision, every: everyOf(text) });
    if (text.length > STATE_LENGTH_MAX) return;
    writing.add(stream);
    const snapshot: Snapshot = { stream, version: codec.version, revision, eventId, state: text };
    const storing = outsideTimeBudget(() => table.store(snapshot));
    void ignoreFailure(storing, 'snapshot not stored', undefined).finally(() => writing.delete(stream));
  };

  /** `null` when the snapshot does not belong to the log. */
  const loadFrom = async <State, E extends Event>(
    snapshot: Snapshot,
    decider: Decider<State, E>,
  ): Promise<LoadedState<State> | null> => {
    const { stream, revision } = snapshot;
    const decoded = decider.snapshot ? decodeState(decider.snapshot.decode, snapshot.state) : null;
    let isProven = false;
    // The event of the snapshot is read again only to compare: the state has it already.
    const evolve = (state: State, event: E): State => {
      const { id, revision: at } = event as unknown as RecordedEvent;
      if (at !== revision) return decider.evolve(state, event);
      isProven = id === snapshot.eventId;
      return state;
    };
    if (decoded !== null) {
      const before = { ...decoded, revision: revision - 1n, position: 0n };
      const loaded = await eventStore.load(stream, { initial: decider.initial, evolve }, before);
      if (isProven) {
        storedOf.set(stream, { revision, every: everyOf(snapshot.state) });
        return loaded;
      }
    }
    storedOf.delete(stream);
    await ignoreFailure(table.remove(snapshot), 'snapshot not removed', undefined);
    return null;
  };

  const loadStream = async <State, E extends Event>(
    stream: string,
    decider: Decider<State, E>,
    version: number,
  ): Promise<LoadedState<State>> => {
    const snapshot = await ignoreFailure(table.find(stream, version), 'snapshot not read', null);
    const loaded = snapshot && (await loadFrom(snapshot, decider));
    return loaded ?? (await eventStore.load(stream, decider));
  };

  return {
    ...eventStore,
    keepState,
    load: async <State, E extends Event>(
      stream: string,
      fold: Decider<State, E>,
      from?: LoadedState<State>,
    ): Promise<LoadedState<State>> => {
      if (fold.snapshot === undefined) return await eventStore.load(stream, fold, from);
      const loaded = from
        ? await eventStore.load(stream, fold, from)
        : await loadStream(stream, fold, fold.snapshot.version);
      keepState(stream, fold, loaded);
      return loaded;
    },
  };
};
