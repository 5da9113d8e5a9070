import {
  type AllStreamRecordedEvent,
  type EventStoreDBClient,
  type RecordedEvent as ResolvedRecordedEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { Event, EventMetadata, RecordedEvent } from '#contracts/events/event.ts';

export const toRecordedEvent = <F extends Event>(
  event: ResolvedRecordedEvent | AllStreamRecordedEvent,
): RecordedEvent<F> =>
  ({
    type: event.type,
    data: event.data,
    stream: event.streamId,
    revision: event.revision,
    position: (event as AllStreamRecordedEvent).position?.commit ?? 0n,
    recordedAt: event.created,
    id: event.id,
    metadata: event.metadata as unknown as EventMetadata,
  }) as RecordedEvent<F>;

/** What a follower meets, in order. */
export type Followed =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  /** Everything up to here was delivered, though nothing of it may have passed the filter. */
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caught_up' };

export type FollowOptions = {
  /** Exclusive; `null` from the beginning. */
  readonly after: bigint | null;
  /** Stream-name prefixes: the only filter that every server evaluates alike. */
  readonly prefixes: readonly string[];
  /** How many items may wait here before the server is held back. */
  readonly bufferItems: number;
};

/** One catch-up subscription, read in batches. Ends by throwing when the connection is lost. */
export type Follower = AsyncDisposable & {
  /** Waits for at least one item, then takes what is there, up to `max`. `[]` once closed. */
  take(max: number): Promise<readonly Followed[]>;
};

export const followLog = (
  client: EventStoreDBClient,
  { after, prefixes, bufferItems }: FollowOptions,
): Follower => {
  const queue: Followed[] = [];
  let failure: Error | undefined;
  let closed = false;
  let wake: (() => void) | undefined;
  const push = (item: Followed): void => {
    queue.push(item);
    wake?.();
  };
  // Whatever the stream buffered before a marker is read out first, so that markers keep their place.
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
    wake?.();
  });
  subscription.on('end', () => {
    failure ??= new Error('the event store ended the subscription');
    wake?.();
  });
  return {
    take: async (max) => {
      if (queue.length === 0 && !closed) drain();
      while (queue.length === 0) {
        if (closed) return [];
        if (failure) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
        // What was appended together is read within this turn of the event loop; taken one by one, each event would cost
        // whoever follows a transaction of its own.
        if (!closed) await new Promise(setImmediate);
      }
      const items = queue.splice(0, max);
      if (queue.length < bufferItems) drain();
      return items;
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      wake?.();
      await subscription.unsubscribe().catch(() => undefined);
    },
  };
};
