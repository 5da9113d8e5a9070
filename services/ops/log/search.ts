import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { categoryOf, type RecordedEvent } from '#contracts/events/event.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { Moment } from '../validate-query.ts';

/** Reading the log as operators do: all of it, by what they know of an event. */

export const FOUND_MAX = 1_000;
const FOUND_DEFAULT = 50;
export const LOG_TEXT_MAX_LENGTH = 300;
const TAKEN_TOGETHER = 500;
/** Categories begin with a small letter; what the event store keeps of its own, with a `$`. */
const EVERY_CATEGORY = 'abcdefghijklmnopqrstuvwxyz'.split('');

const Text = z.string().min(1).max(LOG_TEXT_MAX_LENGTH).optional();
/** What narrows events down that are yet to come, from the command line. */
export const TailQuery = z.strictObject({
  /** Events of one stream, which is read alone. */
  stream: Text,
  category: Text,
  type: Text,
  /** As the answer to a request said it, in `x-request-id`. */
  correlation: Text,
});
/** The same of those there are, from the command line or from HTTP. */
export const LogQuery = TailQuery.extend({
  since: Moment.optional(),
  until: Moment.optional(),
  limit: z.coerce.number().int().min(1).max(FOUND_MAX).default(FOUND_DEFAULT),
});
export type LogFilter = Partial<Omit<z.infer<typeof LogQuery>, 'limit'>>;

/** An event as JSON can say it. Names and addresses of members stand in it as they do in the log: encrypted. */
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

/** Told every so many events: how many were looked at. */
export type Looked = (events: number) => void;

/**
 * Events in the order of the log, from its beginning to its end of now; those of one stream from that alone. Nothing
 * but streams and positions is indexed there, so the rest is looked through.
 */
export const findEvents = async function* (
  eventStore: EventStore,
  filter: LogFilter,
  signal: AbortSignal,
  onLooked: Looked = () => undefined,
): AsyncGenerator<RecordedEvent> {
  if (filter.stream !== undefined) {
    for await (const event of eventStore.read(filter.stream)) {
      if (signal.aborted) return;
      if (matches(filter, event)) yield event;
    }
    return;
  }
  yield* follow(eventStore, filter, null, true, signal, onLooked);
};

/** Events as they are recorded from now on, until the signal. */
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
  onLooked: Looked,
): AsyncGenerator<RecordedEvent> {
  await using follower = eventStore.follow({
    after,
    prefixes: prefixesOf(filter),
    bufferItems: TAKEN_TOGETHER * 2,
  });
  const stop = (): void => void follower[Symbol.asyncDispose]();
  signal.addEventListener('abort', stop, { once: true });
  let looked = 0;
  try {
    for (;;) {
      const items = await follower.take(TAKEN_TOGETHER);
      if (items.length === 0) return;
      for (const item of items) {
        if (item.kind === 'caught_up' && endsWhenCaughtUp) return;
        if (item.kind === 'event' && matches(filter, item.event)) yield item.event;
      }
      looked += items.length;
      onLooked(looked);
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** One event, by its stream and revision; without a revision, the stream's last. */
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
  throw new Refusal('not_found', `The log has no such event of ${stream}.`);
};
