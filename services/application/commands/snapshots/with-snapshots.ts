import { LRUCache } from 'lru-cache';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import type { EventStore, LoadedState } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { outsideTimeBudget, TimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { Snapshot, SnapshotTable } from './snapshot-table.ts';

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
