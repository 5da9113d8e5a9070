/**
 * Seeded randomness in 32-bit integer arithmetic, the same on every machine. A stream is named by numbers: what
 * happens to one ad is drawn from that ad's own stream, so nothing has to be remembered and no draw moves another.
 */
export class Random {
  #state: number;

  constructor(seed: number, ...path: readonly number[]) {
    let hash = mix(seed);
    for (const part of path) hash = mix(hash ^ Math.imul(part + 1, 0x9e3779b1));
    this.#state = hash;
  }

  /** At least 0, below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0, below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** A whole number from `low` to `high`, both included. */
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

/** The finishing step of MurmurHash3: every bit of the input moves every bit of the answer. */
const mix = (value: number): number => {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
};

/** The first part of a stream's name: what it is drawn for. */
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
} as const;
