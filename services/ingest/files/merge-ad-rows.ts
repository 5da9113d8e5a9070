import { hash } from 'node:crypto';
import { type ObservedAd, UncutAd } from '#contracts/observations/ad-library-scan.ts';
import { type Shortened, shortenAd } from '#contracts/observations/shorten-ad.ts';
import { checkedAd } from '../readers/fields/ad-fields.ts';
import { mergeAds } from '../ad-library/merge-ads.ts';
import { type AdRecord, RecordFault, refusal, type RefusedRecord } from '../readers/record.ts';
import type { ScanKey } from '../readers/scan-key.ts';

export const WINDOW_ADS_MAX = 1_000;
const WINDOW_CHARACTERS_MAX = 8 * 1024 * 1024;
/** Bounds the memory of rows that wait for the last row of their ad. */
const FAR_CHARACTERS_MAX = 16 * 1024 * 1024;

const TOO_FAR = {
  what: 'belongs to an ad whose rows are too far apart in the file to be merged',
  advice: 'sort the file by the id of the ad and import it again',
} as const;
const OTHER_ROW = {
  what: 'belongs to an ad with another refused row',
  advice: 'fix that row and import both again',
} as const;

export type FarAds = ReadonlyMap<string, number>;

export type WholeAd = {
  readonly kind: 'whole_ad';
  readonly scan: ScanKey;
  readonly ad: ObservedAd;
  readonly shortened: Readonly<Shortened>;
  readonly rows: readonly AdRecord[];
  readonly position: number;
};

type Group = {
  readonly scan: ScanKey;
  readonly adId: string;
  readonly rows: AdRecord[];
  characters: number;
  position: number;
};

const keyOf = (scan: ScanKey, adId: string): string => `${adId}|${scan.id}`;

/**
 * Finds ads whose rows are too far apart for the window. Keeps a hash per ad; collisions change only the order of ads.
 */
export class FarAdFinder {
  readonly far = new Map<string, number>();
  #hashes = new Float64Array(1_024);
  #size = 0;

  add({ scan, ad, position }: WholeAd): void {
    const key = keyOf(scan, ad.ad_id);
    if (!this.#addHash(hash('sha256', key, 'buffer').readUIntBE(0, 6) + 1)) this.far.set(key, position);
  }

  #addHash(value: number): boolean {
    if (2 * this.#size >= this.#hashes.length) {
      const old = this.#hashes;
      this.#hashes = new Float64Array(2 * old.length);
      for (const one of old) if (one !== 0) this.#hashes[this.#slotOf(one)] = one;
    }
    const slot = this.#slotOf(value);
    if (this.#hashes[slot] === value) return false;
    this.#hashes[slot] = value;
    this.#size += 1;
    return true;
  }

  #slotOf(value: number): number {
    const { length } = this.#hashes;
    let slot = value % length;
    while (this.#hashes[slot] !== 0 && this.#hashes[slot] !== value) slot = (slot + 1) % length;
    return slot;
  }
}

/**
 * Merges the rows of each ad, and emits the oldest ad when full. Ads with far rows wait outside for their last row. A
 * refused row refuses all rows of its ad, so no ad is recorded in part.
 */
export class AdWindow {
  readonly #groups = new Map<string, Group>();
  readonly #faulty = new Set<string>();
  readonly #far: FarAds;
  readonly #farCharactersMax: number;
  readonly #waiting = new Map<string, Group>();
  readonly #tooFar = new Set<string>();
  #characters = 0;
  #farCharacters = 0;
  #position = 0;

  constructor(far: FarAds = new Map(), farCharactersMax = FAR_CHARACTERS_MAX) {
    this.#far = far;
    this.#farCharactersMax = farCharactersMax;
  }

  *add(scan: ScanKey, record: AdRecord): Generator<WholeAd | RefusedRecord> {
    const key = keyOf(scan, record.ad.ad_id);
    this.#position += 1;
    const last = this.#far.get(key);
    if (last !== undefined) {
      yield* this.#addFar(key, last, scan, record);
      return;
    }
    this.#push(this.#groups, key, scan, record);
    this.#characters += record.raw.length;
    while (this.#groups.size > WINDOW_ADS_MAX || this.#characters > WINDOW_CHARACTERS_MAX)
      yield* this.#emitOldest();
  }

  /** Remembers the last `WINDOW_ADS_MAX` refused ads. */
  refuse(adId: string): void {
    this.#faulty.add(adId);
    if (this.#faulty.size <= WINDOW_ADS_MAX) return;
    for (const oldest of this.#faulty) {
      this.#faulty.delete(oldest);
      return;
    }
  }

  *end(): Generator<WholeAd | RefusedRecord> {
    while (this.#groups.size > 0) yield* this.#emitOldest();
    for (const group of this.#waiting.values()) yield* this.#emit(group);
    this.#waiting.clear();
  }

  #push(groups: Map<string, Group>, key: string, scan: ScanKey, record: AdRecord): Group {
    let group = groups.get(key);
    if (group === undefined) {
      group = { scan, adId: record.ad.ad_id, rows: [], characters: 0, position: 0 };
      groups.set(key, group);
    }
    group.rows.push(record);
    group.characters += record.raw.length;
    group.position = this.#position;
    return group;
  }

  *#addFar(key: string, last: number, scan: ScanKey, record: AdRecord): Generator<WholeAd | RefusedRecord> {
    if (this.#tooFar.has(key)) {
      yield* refusedRows([record], TOO_FAR.what, TOO_FAR.advice);
      return;
    }
    const group = this.#push(this.#waiting, key, scan, record);
    this.#farCharacters += record.raw.length;
    const isWhole = this.#position >= last;
    if (!isWhole && this.#farCharacters <= this.#farCharactersMax) return;
    this.#waiting.delete(key);
    this.#farCharacters -= group.characters;
    if (isWhole) {
      yield* this.#emit(group);
      return;
    }
    this.#tooFar.add(key);
    yield* refusedRows(group.rows, TOO_FAR.what, TOO_FAR.advice);
  }

  *#emitOldest(): Generator<WholeAd | RefusedRecord> {
    for (const [key, group] of this.#groups) {
      this.#groups.delete(key);
      this.#characters -= group.characters;
      yield* this.#emit(group);
      return;
    }
  }

  *#emit(group: Group): Generator<WholeAd | RefusedRecord> {
    if (this.#faulty.has(group.adId)) yield* refusedRows(group.rows, OTHER_ROW.what, OTHER_ROW.advice);
    else yield* wholeAd(group);
  }
}

function* wholeAd(group: Group): Generator<WholeAd | RefusedRecord> {
  const { scan, rows, position } = group;
  try {
    yield { kind: 'whole_ad', scan, ...shortenAd(mergeRows(rows)), rows, position };
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    yield* refusedRows(rows, error.message, error.advice);
  }
}

export function* refusedRows(
  rows: readonly AdRecord[],
  what: string,
  advice: string,
): Generator<RefusedRecord> {
  for (const { line, raw, ad } of rows) yield refusal({ line, raw, adId: ad.ad_id }, what, advice);
}

const mergeRows = (rows: readonly AdRecord[]): ObservedAd => {
  const [first, ...others] = rows as [AdRecord, ...AdRecord[]];
  return others.length === 0 ? first.ad : checkedAd(UncutAd.safeParse(mergeAds([first, ...others])));
};
