import {
  type AllStreamRecordedEvent,
  type AllStreamResolvedEvent,
  type EventStoreDBClient,
  type RecordedEvent as ResolvedRecordedEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import type { Event, EventMetadata, RecordedEvent } from '#contracts/events/event.ts';
import { upcast } from '#contracts/events/schema-registry.ts';
import { createWakeSignal } from '../concurrency/wake-signal.ts';
import { approximateBytes } from './event-size.ts';

/** Maximum bytes of events buffered here before reading from the server pauses: thousands of events of usual size. */
export const BUFFER_BYTES_MAX = 16 * 1024 * 1024;

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
  | {
      readonly kind: 'event';
      readonly event: RecordedEvent;
      /** Estimated size of its data, for limits of batches. */
      readonly bytes: number;
    }
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
  /**
   * Waits for at least one item, then returns up to `max` buffered items, whose events have at most `maxBytes` together.
   * A single larger event is returned alone. Returns `[]` once closed.
   */
  take(max: number, maxBytes?: number): Promise<readonly Followed[]>;
};

/** Returns how many items to take: at most `max`, with at most `maxBytes` of events, but at least one item. */
const fitting = (queue: readonly Followed[], max: number, maxBytes: number): number => {
  let bytes = 0;
  const end = queue.findIndex((item, index) => {
    if (index >= max) return true;
    if (item.kind === 'event') bytes += item.bytes;
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? queue.length : end;
};

/** Opens a catch-up subscription to `$all`, filtered on the server. `onFailure` is called with the error that ends it. */
export const followLog = (
  client: EventStoreDBClient,
  { after, prefixes, bufferItems }: FollowOptions,
  onFailure: (error: unknown) => void = () => undefined,
): Follower => {
  const queue: Followed[] = [];
  let bufferedBytes = 0;
  let failure: Error | undefined;
  let closed = false;
  const changed = createWakeSignal();
  const push = (item: Followed): void => {
    queue.push(item);
    changed.notify();
  };
  const enqueue = (resolved: AllStreamResolvedEvent): void => {
    if (!resolved.event) return;
    const event = toRecordedEvent(resolved.event);
    const bytes = approximateBytes(event.data);
    bufferedBytes += bytes;
    push({ kind: 'event', event, bytes });
  };
  // Events that were buffered before a marker are read first, so that the order of the log is kept.
  const drain = (): void => {
    for (let next = subscription.read(); next !== null; next = subscription.read()) enqueue(next);
  };
  const hasRoom = (): boolean => queue.length < bufferItems && bufferedBytes < BUFFER_BYTES_MAX;
  /** Reads buffered events while there is room for them. */
  const fill = (): void => {
    while (hasRoom()) {
      const next = subscription.read();
      if (next === null) return;
      enqueue(next);
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
  subscription.on('readable', fill);
  subscription.on('caughtUp', () => {
    drain();
    push({ kind: 'caught_up' });
  });
  subscription.on('error', (error: Error) => {
    failure ??= error;
    onFailure(error);
    changed.notify();
  });
  subscription.on('end', () => {
    failure ??= new Error('the event store ended the subscription');
    changed.notify();
  });
  return {
    take: async (max, maxBytes = Number.POSITIVE_INFINITY) => {
      if (queue.length === 0 && !closed) fill();
      while (queue.length === 0) {
        if (closed) return [];
        if (failure) throw failure;
        await changed.next();
        // Events of one append arrive within one cycle of the event loop. Returned one by one, each would cost the
        // subscriber a transaction.
        if (!closed) await new Promise(setImmediate);
      }
      const items = queue.splice(0, fitting(queue, max, maxBytes));
      for (const item of items) if (item.kind === 'event') bufferedBytes -= item.bytes;
      fill();
      return items;
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      changed.notify();
      await subscription.unsubscribe().catch(() => undefined);
    },
  };
};
