/**
 * 32-bit integer arithmetic, the same on every machine. Numbers name each stream, and draws from one do not change
 * another, so no state is stored.
 */
export class Random {
  #state: number;

  constructor(seed: number, ...path: readonly number[]) {
    let hash = mix(seed);
    for (const part of path) hash = mix(hash ^ Math.imul(part + 1, 0x9e3779b1));
    this.#state = hash;
  }

  /** At least 0 and below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Both inclusive. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

/** Finalizer of MurmurHash3: every input bit affects every output bit. */
const mix = (value: number): number => {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
};

/** The purpose of the draws is the first part of a stream's name. */
export const FOR = {
  brand: 1,
  page: 2,
  life: 3,
  concept: 4,
  copy: 5,
  scan: 6,
  blank: 7,
  link: 8,
  shared: 9,
  launch: 10,
  landingPage: 41,
  creative: 42,
  traffic: 21,
  site: 31,
  storefront: 32,
  operator: 51,
  partner: 52,
  pulse: 61,
  library: 71,
} as const;
