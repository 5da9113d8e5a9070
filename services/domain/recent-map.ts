import { PersistentMap, type PersistentMapJson } from './persistent-map.ts';

/** A map of the newest entries as JSON. */
export type RecentMapJson = { readonly newer: PersistentMapJson; readonly older: PersistentMapJson };

/**
 * Immutable map of the newest entries, for decider states that may not grow with their stream. It holds at least `kept`
 * entries and at most twice as many: when `kept` new ones have come, those before them are forgotten together. An entry
 * costs the same however many came before it.
 */
export class RecentMap<Value> implements Iterable<readonly [string, Value]> {
  readonly kept: number;
  readonly #newer: PersistentMap<Value>;
  readonly #older: PersistentMap<Value>;

  private constructor(kept: number, newer: PersistentMap<Value>, older: PersistentMap<Value>) {
    this.kept = kept;
    this.#newer = newer;
    this.#older = older;
  }

  static empty<Value>(kept: number): RecentMap<Value> {
    return new RecentMap<Value>(kept, PersistentMap.empty(), PersistentMap.empty());
  }

  static fromJson<Value>(kept: number, { newer, older }: RecentMapJson): RecentMap<Value> {
    return new RecentMap<Value>(kept, PersistentMap.fromJson(newer), PersistentMap.fromJson(older));
  }

  /** Returns the map as JSON. Values must consist of JSON values. */
  toJson(): RecentMapJson {
    return { newer: this.#newer.toJson(), older: this.#older.toJson() };
  }

  get size(): number {
    return this.#newer.size + this.#older.size;
  }

  get(key: string): Value | undefined {
    return this.#newer.has(key) ? this.#newer.get(key) : this.#older.get(key);
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  /** Returns the map with the entry as its newest. */
  with(key: string, value: Value): RecentMap<Value> {
    const [newer, older] = [this.#newer.with(key, value), this.#older.without(key)];
    return newer.size < this.kept
      ? new RecentMap(this.kept, newer, older)
      : new RecentMap(this.kept, PersistentMap.empty(), newer);
  }

  without(key: string): RecentMap<Value> {
    return new RecentMap(this.kept, this.#newer.without(key), this.#older.without(key));
  }

  *[Symbol.iterator](): Generator<readonly [string, Value]> {
    yield* this.#newer;
    yield* this.#older;
  }
}
