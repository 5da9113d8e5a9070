import { requireReadable } from '#contracts/events/schema-registry.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Projection } from '#projections/define-projection.ts';
import { encoding, PoisonEvent } from './failures.ts';
import { type Group, groupChanges } from './group-changes.ts';

const changesOf = function* (projection: Projection, events: readonly RecordedEvent[]) {
  for (const event of events) {
    try {
      yield { stream: event.stream, changes: projection.project(requireReadable(event)) };
    } catch (error) {
      throw new PoisonEvent(event, error);
    }
  }
};

/** Throws `PoisonEvent` for one event that fails, `UnwritableChanges` for changes that cannot be grouped. */
export const projectEvents = (projection: Projection, events: readonly RecordedEvent[]): Group[] =>
  encoding(() => groupChanges(projection, changesOf(projection, events)));
