import { AD_VERSIONS_MAX, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { checkedAd } from '../readers/ad-fields.ts';
import {
  type AdCard,
  type AdMedia,
  type AdRecord,
  RecordFault,
  type RefusedRecord,
} from '../readers/record.ts';
import type { ScanKey } from '../readers/scan-key.ts';

/** So many ads may lie between two rows of one ad. */
export const WINDOW_ADS_MAX = 1_000;
/** And so much of their text, which bounds the memory. */
const WINDOW_CHARACTERS_MAX = 8 * 1024 * 1024;
/** Of a character of the source written as JSON: an escaped control character. Spares measuring short ads. */
const BYTES_PER_CHARACTER_MAX = 6;
/** What an observation needs around its ads. */
export const OBSERVATION_FRAME_BYTES = 1_000;

/** All rows of one ad in one scan, as one ad. */
export type WholeAd = {
  readonly kind: 'whole_ad';
  readonly scan: ScanKey;
  readonly ad: ObservedAd;
  readonly rows: readonly AdRecord[];
};

type Group = { readonly scan: ScanKey; readonly adId: string; readonly rows: AdRecord[]; characters: number };

/**
 * Brings the rows of one ad together. It holds a bounded number of ads and gives the oldest up when it is
 * full; an ad with a row that was refused is refused whole, so that nothing is taken in by halves.
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
      yield* this.#giveOldest();
  }

  /** One row of this ad was refused: its other rows must not be taken in without it. */
  refuse(adId: string): void {
    this.#faulty.add(adId);
    if (this.#faulty.size <= WINDOW_ADS_MAX) return;
    for (const oldest of this.#faulty) {
      this.#faulty.delete(oldest);
      return;
    }
  }

  *end(): Generator<WholeAd | RefusedRecord> {
    while (this.#groups.size > 0) yield* this.#giveOldest();
  }

  *#giveOldest(): Generator<WholeAd | RefusedRecord> {
    for (const [key, group] of this.#groups) {
      this.#groups.delete(key);
      this.#characters -= group.characters;
      if (this.#faulty.has(group.adId)) {
        yield* refusedRows(
          group.rows,
          'belongs to an ad of which another row was refused',
          'mend that row and feed both again',
        );
      } else {
        yield* whole(group);
      }
      return;
    }
  }
}

function* whole(group: Group): Generator<WholeAd | RefusedRecord> {
  const { scan, rows } = group;
  try {
    const ad = merged(rows);
    const longest = rows.reduce((sum, { raw }) => sum + raw.length, 0) * BYTES_PER_CHARACTER_MAX;
    const bytes = longest > OBSERVATION_MAX_BYTES / 2 ? Buffer.byteLength(JSON.stringify(ad)) : 0;
    if (bytes > OBSERVATION_MAX_BYTES - OBSERVATION_FRAME_BYTES) {
      throw new RecordFault(
        `is an ad of ${bytes} bytes, more than an observation holds`,
        'shorten its texts',
      );
    }
    yield { kind: 'whole_ad', scan, ad, rows };
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

/** One ad of several rows: the first row that says something counts, pictures add up, versions are listed. */
const merged = (rows: readonly AdRecord[]): ObservedAd => {
  const first = rows[0] as AdRecord;
  if (rows.length === 1) return first.ad;
  const ad: { [field: string]: unknown } = { ...first.ad };
  const media = new Map<string, AdMedia>();
  const versions = new Map<string, AdCard>();
  for (const row of rows) {
    for (const [field, said] of Object.entries(row.ad)) {
      const known = ad[field];
      if (known === null || (Array.isArray(known) && known.length === 0)) ad[field] = said;
    }
    for (const medium of row.ad.media) media.set(`${medium.kind}|${medium.url}|${medium.poster_url}`, medium);
    versions.set(row.version.key ?? JSON.stringify(row.version.card), row.version.card);
  }
  if (versions.size > AD_VERSIONS_MAX) {
    throw new RecordFault(
      `is an ad of ${versions.size} versions, more than ${AD_VERSIONS_MAX}`,
      'take rows of it out',
    );
  }
  ad['media'] = [...media.values()];
  if (versions.size > 1 && first.ad.versions.length === 0) ad['versions'] = [...versions.values()];
  return checkedAd(ObservedAd.safeParse(ad));
};
