import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { AdAttributed } from '#contracts/events/corpus/ad-library-corrections.ts';
import { brandStream, type BrandEvent } from '#contracts/events/corpus/brand.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';

/** Streams that a read of a past moment is about. */

/** Streams that are read at once. */
const STREAMS_AT_ONCE = 8;

export type KnownEvent = RecordedEvent<AdLibraryEvent | BrandEvent | TrackingEvent>;

export const streamsOfBrand = (brandId: string): readonly string[] => [
  brandStream(brandId),
  adLibraryStream(brandId),
];

/** Later events about the ad are in the streams of its other brands. */
export const streamsOfMove = ({ from_brand_id, to_brand_id, ad }: AdAttributed['data']): readonly string[] =>
  [from_brand_id, to_brand_id, ...(ad.brands ?? [])].flatMap(streamsOfBrand);

/** Further streams without which the rows of the event would be others than in the whole log. */
export const streamsNamedBy = (event: KnownEvent): readonly string[] => {
  switch (event.type) {
    case 'BrandRegistered':
      return event.data.category_path.map(({ id }) => categoryStream(id));
    case 'BrandProfileChanged':
      return (event.data.changes.category_path ?? []).map(({ id }) => categoryStream(id));
    case 'AdAttributed':
      return streamsOfMove(event.data);
    default:
      return [];
  }
};

/** In milliseconds; the time of recording for an event that tells of no observation. */
export const observedAt = ({ data, recordedAt }: RecordedEvent): number => {
  const { observed_at } = data as { readonly observed_at?: unknown };
  return typeof observed_at === 'string' ? Date.parse(observed_at) : recordedAt.getTime();
};

/** Compares events. An old server tells no positions of the events of a stream. */
export const inLogOrder = (one: RecordedEvent, other: RecordedEvent): number =>
  Number(one.position - other.position) || one.recordedAt.getTime() - other.recordedAt.getTime();

/** An event without its data: all that a read tells of events whose rows it finds. */
export type EventMark = Pick<RecordedEvent, 'stream' | 'type' | 'revision' | 'position' | 'recordedAt'> & {
  /** Milliseconds. */
  readonly observedAt: number;
  /** Further streams to read. */
  readonly names: readonly string[];
};

export const markOf = (event: RecordedEvent): EventMark => {
  const { stream, type, revision, position, recordedAt } = event;
  const names = event.unreadable === undefined ? streamsNamedBy(event as KnownEvent) : [];
  return { stream, type, revision, position, recordedAt, observedAt: observedAt(event), names };
};

/** Reads streams, and then those that their events name. Events of one stream keep their order. */
export const readStreams = async (
  log: { readonly read: (stream: string) => AsyncIterable<RecordedEvent> },
  first: readonly string[],
  take: (event: RecordedEvent) => Promise<readonly string[]>,
): Promise<void> => {
  const named = new Set(first);
  const waiting = [...named];
  const readOne = async (stream: string): Promise<void> => {
    for await (const event of log.read(stream)) {
      for (const one of await take(event)) {
        if (named.has(one)) continue;
        named.add(one);
        waiting.push(one);
      }
    }
  };
  while (waiting.length > 0) {
    // Awaits all of them also after a failure, because they write to the same tables.
    const ended = await Promise.allSettled(waiting.splice(0, STREAMS_AT_ONCE).map(readOne));
    const failed = ended.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
};
