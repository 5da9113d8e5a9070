import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { categoryOf, type RecordedEvent } from '#contracts/events/event.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { Moment } from '../validate-query.ts';

export const FOUND_MAX = 1_000;
const FOUND_DEFAULT = 50;
export const LOG_TEXT_MAX_LENGTH = 300;
/** Maximum events per read of the subscription. */
const TAKEN_TOGETHER = 500;
/** Matches every category but no system stream: those start with `$`. */
const EVERY_CATEGORY = 'abcdefghijklmnopqrstuvwxyz'.split('');

const Text = z.string().min(1).max(LOG_TEXT_MAX_LENGTH).optional();
export const TailQuery = z.strictObject({
  /** Exact stream name; only this stream is read. */
  stream: Text,
  category: Text,
  type: Text,
  correlation: Text,
});
export const LogQuery = TailQuery.extend({
  since: Moment.optional(),
  until: Moment.optional(),
  limit: z.coerce.number().int().min(1).max(FOUND_MAX).default(FOUND_DEFAULT),
});
export type LogFilter = Partial<Omit<z.infer<typeof LogQuery>, 'limit'>>;

/** Names and addresses of members stay encrypted. */
export const eventFields = ({
  type,
  stream,
  revision,
  position,
  recordedAt,
  id,
  metadata,
  data,
}: RecordedEvent) => ({
  type,
  stream,
  revision: String(revision),
  position: String(position),
  recorded_at: recordedAt.toISOString(),
  id,
  metadata,
  data,
});

const matches = (filter: LogFilter, { type, stream, recordedAt, metadata }: RecordedEvent): boolean =>
  (filter.type === undefined || filter.type === type) &&
  (filter.category === undefined || filter.category === categoryOf(stream)) &&
  (filter.stream === undefined || filter.stream === stream) &&
  (filter.since === undefined || recordedAt >= filter.since) &&
  (filter.until === undefined || recordedAt < filter.until) &&
  (filter.correlation === undefined ||
    filter.correlation === metadata.$correlationId ||
    filter.correlation === metadata.request_id);

const prefixesOf = ({ stream, category }: LogFilter): readonly string[] =>
  stream !== undefined ? [stream] : category !== undefined ? [`${category}-`] : EVERY_CATEGORY;

export type OnRead = (events: number) => void;

/** Finds events in log order. The log has indexes on streams and positions only; other filters scan. */
export const findEvents = async function* (
  eventStore: EventStore,
  filter: LogFilter,
  signal: AbortSignal,
  onRead: OnRead = () => undefined,
): AsyncGenerator<RecordedEvent> {
  if (filter.stream !== undefined) {
    for await (const event of eventStore.read(filter.stream)) {
      if (signal.aborted) return;
      if (matches(filter, event)) yield event;
    }
    return;
  }
  yield* follow(eventStore, filter, null, true, signal, onRead);
};

export const tailLog = async function* (
  eventStore: EventStore,
  filter: LogFilter,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent> {
  const head = await eventStore.head();
  yield* follow(eventStore, filter, head === 0n ? null : head, false, signal, () => undefined);
};

const follow = async function* (
  eventStore: EventStore,
  filter: LogFilter,
  after: bigint | null,
  endsWhenCaughtUp: boolean,
  signal: AbortSignal,
  onRead: OnRead,
): AsyncGenerator<RecordedEvent> {
  await using follower = eventStore.follow({
    after,
    prefixes: prefixesOf(filter),
    bufferItems: TAKEN_TOGETHER * 2,
  });
  const stop = (): void => void follower[Symbol.asyncDispose]();
  signal.addEventListener('abort', stop, { once: true });
  let count = 0;
  try {
    for (;;) {
      const items = await follower.take(TAKEN_TOGETHER);
      if (items.length === 0) return;
      for (const item of items) {
        if (item.kind === 'caught_up' && endsWhenCaughtUp) return;
        if (item.kind === 'event' && matches(filter, item.event)) yield item.event;
      }
      count += items.length;
      onRead(count);
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** Returns one event; the last of the stream when `revision` is `null`. Throws `not_found`. */
export const showEvent = async (
  eventStore: EventStore,
  stream: string,
  revision: bigint | null,
): Promise<RecordedEvent> => {
  if (revision === null) {
    const last = await eventStore.last(stream);
    if (last) return last;
  } else {
    for await (const event of eventStore.read(stream, revision - 1n)) {
      if (event.revision === revision) return event;
      break;
    }
  }
  throw new Refusal('not_found', `Event not found in stream ${stream}.`);
};
