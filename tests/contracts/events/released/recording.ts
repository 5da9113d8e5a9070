import type { Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';

export type StreamEvent = { readonly stream: string; readonly event: Event };

/** Runs decisions on a stream. Throws when one records nothing, because a sample would then be missing. */
export const record = <State, E extends Event>(
  stream: string,
  decider: Decider<State, E>,
  ...decisions: readonly ((state: State) => readonly E[])[]
): readonly StreamEvent[] => {
  let state = decider.initial;
  return decisions.flatMap((decide, index) => {
    const events = decide(state);
    if (events.length === 0) throw new Error(`Decision ${index} on ${stream} recorded nothing.`);
    state = events.reduce(decider.evolve, state);
    return events.map((event) => ({ stream, event }));
  });
};
