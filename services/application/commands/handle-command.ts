import { Refusal } from '#contracts/errors.ts';
import type { Event } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import { type Recorded, StreamMoved } from '#platform/event-store/event-store.ts';

/** Policy for appends that lose to another writer: how often to decide again, and after which delay. */
export type ConflictPolicy = {
  /** Maximum repetitions; `Number.POSITIVE_INFINITY` where the command must not be refused. */
  readonly retries: number;
  /** Milliseconds to wait before the nth repetition, counted from 1. Random, so that writers do not collide again. */
  readonly delayMs: (conflict: number) => number;
  /** The error to throw when the repetitions are used up. */
  readonly exhausted: (conflict: StreamMoved) => Error;
};

const refuse = (): Refusal => new Refusal('changed_meanwhile', 'Too many concurrent changes. Try again.');

/** Policy for commands of callers: sixty tries within about two seconds, then a refusal. */
export const CALLER_CONFLICTS: ConflictPolicy = {
  retries: 60,
  delayMs: (conflict) => Math.random() * Math.min(50, 2 * conflict),
  exhausted: refuse,
};

/**
 * Policy for scans: few processes record for one brand, and each try reads the brand's working tables again. The last
 * conflict is rethrown, not refused: a refused scan is dead-lettered, a failed one is redelivered.
 */
export const SCAN_CONFLICTS: ConflictPolicy = {
  retries: 20,
  delayMs: (conflict) => Math.random() * 20 * conflict,
  exhausted: (conflict) => conflict,
};

/** Policy for events that must reach the log and do not depend on its content: repeats until the append succeeds. */
export const UNBOUNDED_CONFLICTS: ConflictPolicy = {
  retries: Number.POSITIVE_INFINITY,
  delayMs: (conflict) => Math.random() * Math.min(50, 2 * conflict),
  exhausted: (conflict) => conflict,
};

/**
 * Port of a command handler: loads the state for a decision, and appends the events of the decision. A stream is one
 * such store; the working tables of an ad library, with the brand's stream, are another.
 */
export type StateStore<State, E extends Event> = {
  /** Loads the state. `conflicts` counts the appends of this command that lost to another writer. */
  load(conflicts: number): Promise<State>;
  /** Takes events of the decision, in order. May gather them until `commit`. Throws `StreamMoved` on a conflict. */
  append(events: readonly E[]): Promise<void>;
  /** Appends what was gathered. Returns where the last event stands; `null` when there was none. */
  commit(): Promise<Recorded | null>;
};

/** A decision: events for a state, at once or in parts. */
export type Decide<State, E extends Event> = (state: State) => readonly E[] | AsyncIterable<readonly E[]>;

/**
 * Loads the state, decides, appends; starts again by the policy when another writer appended first. Throws the
 * policy's error when its repetitions are used up, and any refusal of the decision.
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
