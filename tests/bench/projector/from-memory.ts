import type { Followed, Follower } from '#platform/event-store/catch-up-subscription.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { rebuildProjection } from '#services/projector/rebuild/rebuild-projection.ts';
import { createSharedReader } from '#services/projector/rebuild/shared-read.ts';
import { rebuildingIn } from '#tests/stack/verify-read-models.ts';

const READ_AT_ONCE = 5_000;

export type FollowedEvent = Extract<Followed, { readonly kind: 'event' }>;

/** All events of the log whose streams have one of the prefixes. */
export async function readEvents(
  eventStore: EventStore,
  prefixes: readonly string[],
): Promise<readonly FollowedEvent[]> {
  await using follower = eventStore.follow({ after: null, prefixes, bufferItems: READ_AT_ONCE * 2 });
  const events: FollowedEvent[] = [];
  for (let caughtUp = false; !caughtUp; ) {
    const items = await follower.take(READ_AT_ONCE);
    if (items.length === 0) throw new Error('The event store ended the subscription.');
    for (const item of items) {
      if (item.kind === 'event') events.push(item);
      else if (item.kind === 'caught_up') caughtUp = true;
    }
  }
  return events;
}

/** A rebuild without the cost of an event store. Leaves the tables in the schema of the next version. */
export async function rebuildFromMemory(
  database: Database,
  projection: Projection,
  events: readonly FollowedEvent[],
): Promise<void> {
  let next = 0;
  const follow = (): Follower => ({
    take: async (max, maxBytes = Number.POSITIVE_INFINITY) => {
      const taken: Followed[] = [];
      for (let bytes = 0; taken.length < max && bytes < maxBytes && next < events.length; next += 1) {
        const item = events[next] as FollowedEvent;
        bytes += item.bytes;
        taken.push(item);
      }
      return next < events.length ? taken : [...taken, { kind: 'caught_up' }];
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  await rebuildProjection(rebuildingIn(database), createSharedReader({ follow }), projection);
}
