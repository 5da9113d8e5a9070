import { type ObservedAd, UncutAd } from '#contracts/observations/ad-library-scan.ts';
import { type Shortened, shortenAd } from '#contracts/observations/shorten-ad.ts';
import { checkedAd } from '../readers/ad-fields.ts';
import {
  type AdCard,
  type AdMedia,
  type AdRecord,
  RecordFault,
  type RefusedRecord,
} from '../readers/record.ts';
import type { ScanKey } from '../readers/scan-key.ts';

/** Maximum ads in the window: rows of one ad that are further apart are not merged. */
export const WINDOW_ADS_MAX = 1_000;
/** Maximum characters of source text in the window. Bounds the memory. */
const WINDOW_CHARACTERS_MAX = 8 * 1024 * 1024;

/** One ad of a scan, merged from all its rows. */
export type WholeAd = {
  readonly kind: 'whole_ad';
  readonly scan: ScanKey;
  readonly ad: ObservedAd;
  /** Changes that brought the ad within its limits. */
  readonly shortened: Readonly<Shortened>;
  readonly rows: readonly AdRecord[];
};

type Group = { readonly scan: ScanKey; readonly adId: string; readonly rows: AdRecord[]; characters: number };

/**
 * Merges the rows of each ad in a bounded window. When the window is full, it emits the oldest ad. If one row of an ad
 * is refused, all rows of the ad are refused, so that no ad is recorded in part.
 */
export class AdWindow {
  readonly #groups = new Map<string, Group>();
  readonly #faulty = new Set<string>();
  #characters = 0;

  *add(scan: ScanKey, record: AdRecord): Generator<WholeAd | RefusedRecord> {
    const adId = record.ad.ad_id;
    const key = `${adId}|${scan.id}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { scan, adId, rows: [], characters: 0 };
      this.#groups.set(key, group);
    }
    group.rows.push(record);
    group.characters += record.raw.length;
    this.#characters += record.raw.length;
    while (this.#groups.size > WINDOW_ADS_MAX || this.#characters > WINDOW_CHARACTERS_MAX)
      yield* this.#emitOldest();
  }

  /** Marks an ad as refused, because one of its rows was. Remembers the last `WINDOW_ADS_MAX` such ads. */
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
  }

  *#emitOldest(): Generator<WholeAd | RefusedRecord> {
    for (const [key, group] of this.#groups) {
      this.#groups.delete(key);
      this.#characters -= group.characters;
      if (this.#faulty.has(group.adId)) {
        yield* refusedRows(
          group.rows,
          'belongs to an ad with another refused row',
          'fix that row and import both again',
        );
      } else {
        yield* wholeAd(group);
      }
      return;
    }
  }
}

function* wholeAd(group: Group): Generator<WholeAd | RefusedRecord> {
  const { scan, rows } = group;
  try {
    yield { kind: 'whole_ad', scan, ...shortenAd(mergeRows(rows)), rows };
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
  for (const { line, raw, ad } of rows) yield { kind: 'refused', line, raw, what, advice, adId: ad.ad_id };
}

/**
 * Merges several rows into one ad. For each field the first non-empty value counts. Media are collected from all rows,
 * and rows with different versions become the ad's list of versions.
 */
const mergeRows = (rows: readonly AdRecord[]): ObservedAd => {
  const first = rows[0] as AdRecord;
  if (rows.length === 1) return first.ad;
  const ad: { [field: string]: unknown } = { ...first.ad };
  const media = new Map<string, AdMedia>();
  const versions = new Map<string, AdCard>();
  for (const row of rows) {
    for (const [field, value] of Object.entries(row.ad)) {
      const current = ad[field];
      if (current === null || (Array.isArray(current) && current.length === 0)) ad[field] = value;
    }
    for (const medium of row.ad.media) media.set(`${medium.kind}|${medium.url}|${medium.poster_url}`, medium);
    versions.set(row.version.key ?? JSON.stringify(row.version.card), row.version.card);
  }
  ad['media'] = [...media.values()];
  if (versions.size > 1 && first.ad.versions.length === 0) ad['versions'] = [...versions.values()];
  return checkedAd(UncutAd.safeParse(ad));
};
