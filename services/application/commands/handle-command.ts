import { Refusal } from '#contracts/errors.ts';
import type { CommandMetadata, Event } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import {
  type EventStore,
  type LoadedState,
  type Recorded,
  StreamMoved,
} from '#platform/event-store/event-store.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import type { Decider } from '#domain/decider.ts';

export type ConflictPolicy = {
  readonly retries: number;
  /** Before the nth repetition, from 1. Random, so that writers do not collide again. */
  readonly delayMs: (conflict: number) => number;
  readonly exhausted: (conflict: StreamMoved) => Error;
};

const refuse = (): Refusal => new Refusal('changed_meanwhile', 'Too many concurrent changes. Try again.');

/** Sixty tries within about two seconds, then a refusal. */
export const CALLER_CONFLICTS: ConflictPolicy = {
  retries: 60,
  delayMs: (conflict) => Math.random() * Math.min(50, 2 * conflict),
  exhausted: refuse,
};

/**
 * Each try rereads the brand's working tables. Rethrows the last conflict: a refused scan is dead-lettered, a failed
 * one is redelivered.
 */
export const SCAN_CONFLICTS: ConflictPolicy = {
  retries: 20,
  delayMs: (conflict) => Math.random() * 20 * conflict,
  exhausted: (conflict) => conflict,
};

/** A stream is one such store; the working tables of an ad library, with the brand's stream, are another. */
export type StateStore<State, E extends Event> = {
  load(conflicts: number): Promise<State>;
  /** In order. May gather events until `commit`. Throws `StreamMoved` on a conflict. */
  append(events: readonly E[]): Promise<void>;
  commit(): Promise<Recorded | null>;
};

export type Decide<State, E extends Event> = (state: State) => readonly E[] | AsyncIterable<readonly E[]>;

/**
 * Starts again by the policy when another writer appended first. Throws the policy's error, or the decision's refusal.
 */
export const handleCommand = async <State, E extends Event>(command: {
  readonly store: StateStore<State, E>;
  readonly decide: Decide<State, E>;
  readonly conflicts: ConflictPolicy;
}): Promise<Recorded | null> => {
  const { store, decide, conflicts: policy } = command;
  for (let conflicts = 0; ; ) {
    try {
      const state = await store.load(conflicts);
      const decided = decide(state);
      if (Symbol.asyncIterator in decided) for await (const events of decided) await store.append(events);
      else await store.append(decided);
      return await store.commit();
    } catch (error) {
      if (!(error instanceof StreamMoved)) throw error;
      conflicts += 1;
      if (conflicts > policy.retries) throw policy.exhausted(error);
      await pause(policy.delayMs(conflicts));
    }
  }
};

export type CommandResult<State, E extends Event> = LoadedState<State> & {
  /** Empty when the state was already as the command asks for. */
  readonly events: readonly E[];
};

/** The state is the fold of the stream; events are appended at its revision. */
export type StreamStore<State, E extends Event> = StateStore<State, E> & {
  result(): CommandResult<State, E>;
};

/** `from`: a state loaded before; only later events are read. Repetitions read on from the attempt before. */
export const createStreamStore = <State, E extends Event>(
  eventStore: Pick<EventStore, 'load' | 'append'>,
  command: {
    readonly stream: string;
    readonly decider: Decider<State, E>;
    readonly metadata: CommandMetadata;
    readonly commandId: string;
    readonly from?: LoadedState<State> | undefined;
  },
): StreamStore<State, E> => {
  const { stream, decider, metadata, commandId } = command;
  let loaded = command.from;
  let result: CommandResult<State, E> | undefined;
  return {
    load: async () => {
      loaded = await eventStore.load(stream, decider, loaded);
      result = { ...loaded, events: [] };
      return loaded.state;
    },
    append: async (events) => {
      if (events.length === 0 || !loaded) return;
      const recorded = await eventStore.append(stream, loaded.revision, events, metadata, commandId);
      const eventId = eventIdOf(commandId, events.length - 1);
      result = { state: events.reduce(decider.evolve, loaded.state), events, ...recorded, eventId };
    },
    commit: async () => (result && result.events.length > 0 ? result : null),
    result: () => {
      if (!result) throw new Error('a command has no result before its state is loaded');
      return result;
    },
  };
};
