import { Refusal } from '#contracts/errors.ts';
import type { Event } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import { type Recorded, StreamMoved } from '#platform/event-store/event-store.ts';

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

/** For events that must reach the log and do not depend on its content. */
export const UNBOUNDED_CONFLICTS: ConflictPolicy = {
  retries: Number.POSITIVE_INFINITY,
  delayMs: (conflict) => Math.random() * Math.min(50, 2 * conflict),
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
