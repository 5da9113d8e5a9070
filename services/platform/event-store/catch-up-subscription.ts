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
import { EventStoreSilent, toClearError } from './errors.ts';
import { splitMetadata } from './copy/first-recorded.ts';
import { approximateBytes } from './event-size.ts';

/**
 * EventStoreDB before 24.10.5, and 25.0.0, send wrong checkpoints: 2^64 - 1, or a commit position after an event that
 * was not sent. A reader that stored one would stop, or miss an event.
 */
const POSITION_LIMIT = 2n ** 63n;

export type CheckpointGuard = {
  passed(position: bigint): void;
  /** Notes the checkpoint when it counts. */
  accepts(checkpoint: { readonly commit: bigint; readonly prepare: bigint }): boolean;
  /** `null` at the beginning of the log. */
  last(): bigint | null;
};

export const createCheckpointGuard = (after: bigint | null): CheckpointGuard => {
  let last = after;
  const reaches = (position: bigint): boolean => last === null || position >= last;
  return {
    passed: (position) => {
      if (reaches(position)) last = position;
    },
    accepts: ({ commit, prepare }) => {
      if (commit !== prepare || commit >= POSITION_LIMIT || !reaches(commit)) return false;
      last = commit;
      return true;
    },
    last: () => last,
  };
};

/** After this a subscription checks whether the log went on without it. */
export const SILENT_MS = 30_000;

/** Reading from the server pauses above this: thousands of events of usual size. */
export const BUFFER_BYTES_MAX = 16 * 1024 * 1024;

/** Upcasts data to the current schema version. `position` is 0n for a stream read from an old server. */
export const toRecordedEvent = <F extends Event>(
  event: ResolvedRecordedEvent | AllStreamRecordedEvent,
): RecordedEvent<F> => {
  const { metadata, first } = splitMetadata(event.metadata);
  return upcast({
    type: event.type,
    data: event.data,
    stream: event.streamId,
    revision: event.revision,
    position: (event as AllStreamRecordedEvent).position?.commit ?? 0n,
    ...(first && { firstPosition: BigInt(first.position) }),
    recordedAt: first ? new Date(first.at) : event.created,
    id: event.id,
    metadata: metadata as EventMetadata,
  }) as RecordedEvent<F>;
};

export type Followed =
  | {
      readonly kind: 'event';
      readonly event: RecordedEvent;
      readonly bytes: number;
    }
  /** Earlier events were delivered or filtered out. */
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caught_up' };

export type FollowOptions = {
  /** Exclusive; `null`: from the beginning. */
  readonly after: bigint | null;
  /** The only filter that every server version evaluates alike. */
  readonly prefixes: readonly string[];
  readonly bufferItems: number;
};

/** `take` throws when the connection is lost. */
export type Follower = AsyncDisposable & {
  /** Waits for an item. Returns at most `max` and `maxBytes`, or one larger event alone; `[]` once closed. */
  take(max: number, maxBytes?: number): Promise<readonly Followed[]>;
};

/** At least one item, also when it exceeds `maxBytes`. */
const fitting = (queue: readonly Followed[], max: number, maxBytes: number): number => {
  let bytes = 0;
  const end = queue.findIndex((item, index) => {
    if (index >= max) return true;
    if (item.kind === 'event') bytes += item.bytes;
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? queue.length : end;
};

export type FollowerWatch = {
  readonly onFailure?: (error: unknown) => void;
  readonly isOwed?: (position: bigint | null) => Promise<boolean>;
  readonly silentMs?: number;
  /** Returns a function that ends the callbacks. */
  readonly onReplaced?: (callback: () => void) => () => void;
};

export const followLog = (
  client: EventStoreDBClient,
  { after, prefixes, bufferItems }: FollowOptions,
  { onFailure = () => undefined, isOwed, silentMs = SILENT_MS, onReplaced }: FollowerWatch = {},
): Follower => {
  const queue: Followed[] = [];
  let bufferedBytes = 0;
  let failure: Error | undefined;
  let closed = false;
  const changed = createWakeSignal();
  const checkpoints = createCheckpointGuard(after);
  const push = (item: Followed): void => {
    queue.push(item);
    changed.notify();
  };
  const enqueue = (resolved: AllStreamResolvedEvent): void => {
    if (!resolved.event) return;
    const event = toRecordedEvent(resolved.event);
    checkpoints.passed(event.position);
    const bytes = approximateBytes(event.data);
    bufferedBytes += bytes;
    push({ kind: 'event', event, bytes });
  };
  // Buffered events precede a marker in the log, so they are read first.
  const drain = (): void => {
    for (let next = subscription.read(); next !== null; next = subscription.read()) enqueue(next);
  };
  const hasRoom = (): boolean => queue.length < bufferItems && bufferedBytes < BUFFER_BYTES_MAX;
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
        // Any message tells that the server lives.
        if (checkpoints.accepts(position)) push({ kind: 'checkpoint', position: position.commit });
        else changed.notify();
      },
    }),
  });
  subscription.on('readable', fill);
  subscription.on('caughtUp', () => {
    drain();
    push({ kind: 'caught_up' });
  });
  const fail = (error: Error): void => {
    failure ??= error;
    changed.notify();
  };
  subscription.on('error', (error: Error) => {
    fail(toClearError(error));
    onFailure(error);
  });
  subscription.on('end', () => fail(new Error('the event store ended the subscription')));
  const ignoreReplaced = onReplaced?.(() =>
    fail(new Error('the connection to the event store is made anew')),
  );

  /** Ends the subscription when the log goes on and the server does not say so. */
  const untilChanged = async (): Promise<void> => {
    const since = performance.now();
    await changed.next({ timeoutMs: silentMs });
    // A timer may end a little early.
    const isSilent = performance.now() - since >= silentMs - 1;
    if (!isSilent || !isOwed || queue.length > 0 || closed || failure) return;
    const position = checkpoints.last();
    if (!(await isOwed(position).catch(() => false))) return;
    // Items may have arrived meanwhile.
    if (queue.length > 0 || closed || failure || checkpoints.last() !== position) return;
    const error = new EventStoreSilent(silentMs);
    fail(error);
    onFailure(error);
  };
  return {
    take: async (max, maxBytes = Number.POSITIVE_INFINITY) => {
      if (queue.length === 0 && !closed) fill();
      while (queue.length === 0) {
        if (closed) return [];
        if (failure) throw failure;
        await untilChanged();
        // Events of one append arrive in one cycle of the event loop: one by one, each would cost a transaction.
        if (!closed) await new Promise(setImmediate);
      }
      const items = queue.splice(0, fitting(queue, max, maxBytes));
      for (const item of items) if (item.kind === 'event') bufferedBytes -= item.bytes;
      fill();
      return items;
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      ignoreReplaced?.();
      changed.notify();
      await subscription.unsubscribe().catch(() => undefined);
    },
  };
};
