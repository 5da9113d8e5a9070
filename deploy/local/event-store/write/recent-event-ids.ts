/** Ids that an append without an exact revision is compared with. Best effort, as on the real server. */
const IDS_PER_GENERATION = 25_000;

/** How many of the newest events are read back at a start. */
export const REMEMBERED_IDS = IDS_PER_GENERATION;

/** Sixteen one-byte characters: the smallest form in which a Map compares by value. */
export function idKey(id: Buffer): string {
  return id.toString('latin1');
}

/**
 * The positions of recently committed event ids. Two generations instead of one list with evictions: forgetting is
 * dropping a whole map, so that a full cache costs nothing per append.
 */
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

  /** Where an event with this id was written, if that was not long ago. */
  positionOf(key: string): number | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  forgetAll(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
