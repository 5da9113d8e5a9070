import type { AllStreamRecordedEvent, RecordedEvent as ResolvedRecordedEvent } from '@eventstore/db-client';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Event, EventMetadata, RecordedEvent } from '#contracts/events/event.ts';
import { upcast } from '#contracts/events/schema-registry.ts';
import { createWakeSignal } from '../concurrency/wake-signal.ts';
import { EventStoreSilent, toClearError, toCommandError } from './errors.ts';
import { splitMetadata } from './copy/first-recorded.ts';
import { JSON_CONTENT } from './append-stream.ts';
import { connectToNode, type NodeConnection } from './node-connection.ts';
import { allFrom, openReadCall, type ReadAnswer, readOptions, type ReadRecord } from './read-call.ts';

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

const decodeText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

const parseOr = (text: string, other: unknown): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return other;
  }
};

const parseData = ({ contentType, data }: ReadRecord): unknown => {
  if (contentType !== JSON_CONTENT) return data;
  const text = decodeText(data);
  return parseOr(text, text);
};

/** Data that is not valid JSON stays text or bytes, as in the package. */
const parseRecord = (record: ReadRecord): RecordedEvent =>
  toRecordedEvent({
    streamId: record.stream,
    revision: record.revision,
    position: { commit: record.position, prepare: record.position },
    type: record.type,
    id: record.id,
    created: new Date(record.createdMs),
    data: parseData(record),
    metadata:
      record.metadata.length === 0 ? undefined : parseOr(decodeText(record.metadata), record.metadata),
  } as AllStreamRecordedEvent);

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
  readonly isOwed?: (position: bigint | null) => Promise<boolean>;
  readonly silentMs?: number;
};

const CHECKPOINT_INTERVAL = 32;

const subscriptionTo = ({ after, prefixes }: FollowOptions): streams.ReadReq.Options => {
  const { FilterOptions, SubscriptionOptions } = streams.ReadReq.Options;
  const filter = new FilterOptions();
  filter.setStreamIdentifier(new FilterOptions.Expression().setPrefixList([...prefixes]));
  filter.setCount(new empty.Empty());
  filter.setCheckpointintervalmultiplier(CHECKPOINT_INTERVAL);
  return readOptions().setAll(allFrom(after)).setSubscription(new SubscriptionOptions()).setFilter(filter);
};

/** Each follower has a connection of its own, so that the next one survives a broken or silent one. */
export const followLog = (
  url: string,
  options: FollowOptions,
  { isOwed, silentMs = SILENT_MS }: FollowerWatch = {},
): Follower => {
  const queue: Followed[] = [];
  let bufferedBytes = 0;
  let failure: Error | undefined;
  let closed = false;
  let connection: NodeConnection | null = null;
  let call: ClientReadableStream<ReadAnswer> | null = null;
  const changed = createWakeSignal();
  const checkpoints = createCheckpointGuard(options.after);
  const push = (item: Followed): void => {
    queue.push(item);
    changed.notify();
  };
  const receive = (answer: ReadAnswer): void => {
    switch (answer.kind) {
      case 'event': {
        const event = parseRecord(answer.record);
        checkpoints.passed(event.position);
        const bytes = answer.record.data.length;
        bufferedBytes += bytes;
        push({ kind: 'event', event, bytes });
        return;
      }
      case 'checkpoint':
        // Any message tells that the server lives.
        if (checkpoints.accepts(answer)) push({ kind: 'checkpoint', position: answer.commit });
        else changed.notify();
        return;
      case 'caught_up':
        push({ kind: 'caught_up' });
        return;
      case 'other':
        changed.notify();
    }
  };
  const hasRoom = (): boolean => queue.length < options.bufferItems && bufferedBytes < BUFFER_BYTES_MAX;
  const fill = (): void => {
    while (hasRoom()) {
      const answer = call?.read() as ReadAnswer | null | undefined;
      if (!answer) return;
      receive(answer);
    }
  };
  const fail = (error: Error): void => {
    failure ??= error;
    changed.notify();
  };
  const close = (): void => {
    call?.cancel();
    connection?.client.close();
  };
  const open = async (): Promise<void> => {
    connection = await connectToNode(url);
    if (closed) return close();
    call = openReadCall(connection, subscriptionTo(options));
    call.on('readable', fill);
    call.on('error', (error: ServiceError) => fail(toCommandError(error)));
    call.on('end', () => fail(new Error('the event store ended the subscription')));
  };
  open().catch((error: unknown) => fail(toClearError(error as Error)));

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
    fail(new EventStoreSilent(silentMs));
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
      changed.notify();
      close();
    },
  };
};
