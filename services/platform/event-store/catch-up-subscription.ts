import {
  type AllStreamRecordedEvent,
  type EventStoreDBClient,
  type RecordedEvent as ResolvedRecordedEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { Event, EventMetadata, RecordedEvent } from '#contracts/events/event.ts';
import { upcast } from '#contracts/events/schema-registry.ts';
import { createWakeSignal } from '../concurrency/wake-signal.ts';

/** Translates an event of the client, with its data in the current schema version. `position` is 0n for an event that was read from a stream by an old server. */
export const toRecordedEvent = <F extends Event>(
  event: ResolvedRecordedEvent | AllStreamRecordedEvent,
): RecordedEvent<F> =>
  upcast({
    type: event.type,
    data: event.data,
    stream: event.streamId,
    revision: event.revision,
    position: (event as AllStreamRecordedEvent).position?.commit ?? 0n,
    recordedAt: event.created,
    id: event.id,
    metadata: event.metadata as unknown as EventMetadata,
  }) as RecordedEvent<F>;

/** An item of a subscription, in the order of the log. */
export type Followed =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  /** All events up to this position were delivered or filtered out. */
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caught_up' };

export type FollowOptions = {
  /** Commit position to start after; `null` to start from the beginning. */
  readonly after: bigint | null;
  /** Prefixes of stream names: the only filter that every server version evaluates alike. */
  readonly prefixes: readonly string[];
  /** Maximum items buffered here before reading from the server pauses. */
  readonly bufferItems: number;
};

/** A catch-up subscription that is read in batches. `take` throws when the connection is lost. */
export type Follower = AsyncDisposable & {
  /** Waits for at least one item, then returns up to `max` buffered items. Returns `[]` once closed. */
  take(max: number): Promise<readonly Followed[]>;
};

/** Opens a catch-up subscription to `$all`, filtered on the server. */
export const followLog = (
  client: EventStoreDBClient,
  { after, prefixes, bufferItems }: FollowOptions,
): Follower => {
  const queue: Followed[] = [];
  let failure: Error | undefined;
  let closed = false;
  const changed = createWakeSignal();
  const push = (item: Followed): void => {
    queue.push(item);
    changed.notify();
  };
  // Events that were buffered before a marker are read first, so that the order of the log is kept.
  const drain = (): void => {
    for (let next = subscription.read(); next !== null; next = subscription.read()) {
      if (next.event) push({ kind: 'event', event: toRecordedEvent(next.event) });
    }
  };
  const subscription = client.subscribeToAll({
    fromPosition: after === null ? START : { commit: after, prepare: after },
    filter: streamNameFilter({
      prefixes: [...prefixes],
      checkpointInterval: 32,
      checkpointReached: async (_, position) => {
        drain();
        push({ kind: 'checkpoint', position: position.commit });
      },
    }),
  });
  subscription.on('readable', () => {
    if (queue.length < bufferItems) drain();
  });
  subscription.on('caughtUp', () => {
    drain();
    push({ kind: 'caught_up' });
  });
  subscription.on('error', (error: Error) => {
    failure ??= error;
    changed.notify();
  });
  subscription.on('end', () => {
    failure ??= new Error('the event store ended the subscription');
    changed.notify();
  });
  return {
    take: async (max) => {
      if (queue.length === 0 && !closed) drain();
      while (queue.length === 0) {
        if (closed) return [];
        if (failure) throw failure;
        await changed.next();
        // Events of one append arrive within one cycle of the event loop. Returned one by one, each would cost the
        // subscriber a transaction.
        if (!closed) await new Promise(setImmediate);
      }
      const items = queue.splice(0, max);
      if (queue.length < bufferItems) drain();
      return items;
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      changed.notify();
      await subscription.unsubscribe().catch(() => undefined);
    },
  };
};
