import type { StoredEvent } from '../model.ts';

const MAX_EVENTS = 16_000;
const MAX_BYTES = 48 * 1024 * 1024;
/** A slow subscriber holds a slice, also when its events are evicted. */
const MAX_SLICE_BYTES = 1024 * 1024;
/** Evicts in slices, so that the array is not shifted for every event. */
const SLACK_EVENTS = 4_000;
const TRIMMED_BYTES = 36 * 1024 * 1024;

/**
 * Serves live subscribers without the database. Covers everything after `#floor` up to the last commit without a hole.
 */
export class RecentEvents {
  #events: StoredEvent[] = [];
  #bytes = 0;
  #floor = 0;
  readonly #listeners = new Set<() => void>();

  /** Evicts everything: events up to this position must be read from the database. */
  reset(lastPosition: number): void {
    this.#events = [];
    this.#bytes = 0;
    this.#floor = lastPosition;
    this.#wake();
  }

  publish(events: readonly StoredEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += weight(event);
    }
    this.#trim();
    this.#wake();
  }

  get lastPosition(): number {
    return this.#events.at(-1)?.position ?? this.#floor;
  }

  /** `null` when some of the next events were evicted. */
  after(position: number, limit: number): readonly StoredEvent[] | null {
    if (position < this.#floor) return null;
    const start = this.#indexAfter(position);
    let end = start;
    for (
      let bytes = 0;
      end < this.#events.length && end - start < limit && bytes < MAX_SLICE_BYTES;
      end += 1
    ) {
      bytes += weight(this.#events[end] as StoredEvent);
    }
    return this.#events.slice(start, end);
  }

  /** Calls back on publication and eviction, until the returned function is called. */
  listen(callback: () => void): () => void {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  #wake(): void {
    for (const callback of this.#listeners) callback();
  }

  #trim(): void {
    if (this.#events.length <= MAX_EVENTS + SLACK_EVENTS && this.#bytes <= MAX_BYTES) return;
    let drop = 0;
    let bytes = this.#bytes;
    while (this.#events.length - drop > MAX_EVENTS || bytes > TRIMMED_BYTES) {
      bytes -= weight(this.#events[drop] as StoredEvent);
      drop += 1;
    }
    this.#floor = (this.#events[drop - 1] as StoredEvent).position;
    this.#events = this.#events.slice(drop);
    this.#bytes = bytes;
  }

  #indexAfter(position: number): number {
    let low = 0;
    let high = this.#events.length;
    // Fast path without a search: most subscribers have read every event.
    if (high === 0 || (this.#events[high - 1] as StoredEvent).position <= position) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle] as StoredEvent).position <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Estimates payload, encoded reply and object overhead. */
function weight(event: StoredEvent): number {
  return 2 * (event.data.length + event.metadata.length) + 512;
}
