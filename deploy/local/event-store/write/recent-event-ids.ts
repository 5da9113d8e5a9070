/** Best effort, as on the real server, for appends without an exact revision. */
const IDS_PER_GENERATION = 25_000;

export const REMEMBERED_IDS = IDS_PER_GENERATION;

/** Sixteen one-byte characters: the smallest key that a Map compares by value. */
export function idKey(id: Buffer): string {
  return id.toString('latin1');
}

/** Two generations of recent ids: eviction drops a whole map, so a full cache adds no cost per append. */
export class RecentIds {
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  remember(key: string, position: number): void {
    if (this.#young.size >= IDS_PER_GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, position);
  }

  /** Undefined unless the event was written recently. */
  positionOf(key: string): number | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  forgetAll(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
