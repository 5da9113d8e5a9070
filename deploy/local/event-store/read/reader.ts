import type { StoredEvent } from '../model.ts';
import type { Page, Pages } from '../storage/event-pages.ts';
import { TOMBSTONE_REVISION } from '../wire/protobuf.ts';
import type { ReadOptions } from '../wire/read-codec.ts';
import { firstVisibleRevision } from '../storage/stream-metadata.ts';
import type { StreamStates } from '../storage/stream-states.ts';

/** A page of ordinary events stays small enough that the next one is fetched while it is sent. */
const MAX_PAGE_EVENTS = 500;
/** Most reads are of short streams, and events may be large. */
const FIRST_PAGE_EVENTS = 64;
const LARGE_PAGE_BYTES = 1024 * 1024;

/** Derives the next page's events from the last page's size, because a page of large events must stay small. */
export class PageSize {
  #events = FIRST_PAGE_EVENTS;
  #isLarge = false;

  get events(): number {
    return this.#events;
  }

  /** A reader should not hold two pages of this size. */
  get isLarge(): boolean {
    return this.#isLarge;
  }

  learn(page: readonly StoredEvent[]): void {
    let bytes = 0;
    for (const event of page) bytes += event.data.length + event.metadata.length;
    this.#isLarge = bytes >= LARGE_PAGE_BYTES / 4;
    if (bytes > LARGE_PAGE_BYTES) this.#events = Math.max(1, Math.min(page.length, this.#events >>> 1));
    else if (bytes < LARGE_PAGE_BYTES / 4) this.#events = Math.min(MAX_PAGE_EVENTS, this.#events * 2);
  }
}

export class StreamDeleted extends Error {}
export class StreamNotFound extends Error {}

export class Reader {
  readonly #pages: Pages;
  readonly #states: StreamStates;

  constructor(pages: Pages, states: StreamStates) {
    this.#pages = pages;
    this.#states = states;
  }

  read(options: ReadOptions, maxCount: number): AsyncGenerator<readonly StoredEvent[]> {
    if (options.stream === null) return readAhead(this.#allPages(options), maxCount);
    return this.#readStream(options.stream, options, maxCount);
  }

  #allPages(options: ReadOptions): NextPage {
    const { from, backwards } = options;
    if (backwards) {
      const start = from === 'end' ? Number.MAX_SAFE_INTEGER : from === 'start' ? 0 : from;
      return (last, limit) => this.#pages.allBackwards(last?.position ?? start, limit);
    }
    if (from === 'end') return () => Promise.resolve(NOTHING);
    const start = from === 'start' ? 0 : from - 1;
    return (last, limit) => this.#pages.allForwards(last?.position ?? start, limit);
  }

  async *#readStream(stream: string, options: ReadOptions, maxCount: number) {
    if (this.#states.isTombstoned(stream)) throw new StreamDeleted();
    if (this.#states.isSoftDeleted(stream)) throw new StreamNotFound();
    const lowest = await this.firstVisible(stream);
    let isEmpty = true;
    for await (const page of readAhead(this.#streamPages(stream, options, lowest), maxCount)) {
      isEmpty = false;
      const visible = this.#withoutExpired(stream, page);
      if (visible.length > 0) yield visible;
    }
    if (isEmpty && (await this.lastRevision(stream)) < 0) throw new StreamNotFound();
  }

  #streamPages(stream: string, { from, backwards }: ReadOptions, lowest: number): NextPage {
    // Reads end before the tombstone, which is not an event of the stream.
    const highest = TOMBSTONE_REVISION - 1;
    if (backwards) {
      const start = from === 'end' ? highest : from === 'start' ? 0 : Math.min(from, highest);
      return (last, limit) => {
        const top = last === undefined ? start : last.revision - 1;
        return this.#pages.ofStream(stream, { lowest, highest: top, backwards, limit });
      };
    }
    if (from === 'end') return () => Promise.resolve(NOTHING);
    const start = Math.max(lowest, from === 'start' ? 0 : from);
    return (last, limit) => {
      const bottom = last === undefined ? start : last.revision + 1;
      return this.#pages.ofStream(stream, { lowest: bottom, highest, backwards, limit });
    };
  }

  async firstVisible(stream: string): Promise<number> {
    const metadata = this.#states.metadata(stream);
    const isLimited = metadata?.maxCount != null || stream.startsWith('$$');
    return firstVisibleRevision(stream, metadata, isLimited ? await this.lastRevision(stream) : -1);
  }

  async lastRevision(stream: string): Promise<number> {
    const known = this.#states.head(stream);
    if (known !== undefined) return known;
    const range = { lowest: 0, highest: TOMBSTONE_REVISION - 1, backwards: true, limit: 1 };
    const { events } = await this.#pages.ofStream(stream, range);
    return events[0]?.revision ?? -1;
  }

  #withoutExpired(stream: string, page: readonly StoredEvent[]): readonly StoredEvent[] {
    const maxAgeMs = this.#states.metadata(stream)?.maxAgeMs ?? null;
    if (maxAgeMs === null) return page;
    const oldestMs = Date.now() - maxAgeMs;
    return page.filter((event) => event.createdMs >= oldestMs);
  }
}

type NextPage = (last: StoredEvent | undefined, limit: number) => Promise<Page>;

const NOTHING: Page = { events: [], isLast: true };

/** Fetches ahead unless pages are large: slow readers would hold two each. */
async function* readAhead(nextPage: NextPage, maxCount: number): AsyncGenerator<readonly StoredEvent[]> {
  const size = new PageSize();
  let left = maxCount;
  let upcoming = left > 0 ? nextPage(undefined, Math.min(left, size.events)) : null;
  while (upcoming !== null) {
    const { events, isLast }: Page = await upcoming;
    left -= events.length;
    size.learn(events);
    const limit = Math.min(left, size.events);
    const fetchNext = () => (isLast || limit <= 0 ? null : nextPage(events.at(-1), limit));
    const isAhead = !size.isLarge;
    upcoming = isAhead ? fetchNext() : null;
    // A reader that ends early never awaits this page; a failure of it must not end the process.
    upcoming?.catch(() => undefined);
    if (events.length > 0) yield events;
    if (!isAhead) upcoming = fetchNext();
  }
}
