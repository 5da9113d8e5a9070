import type { AdLibraryScanEnd, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { CheckedIds } from './fields/ad-ids.ts';
import type { Source } from './parsing/open-source.ts';

export type AdCard = ObservedAd['cards'][number];
export type AdMedia = ObservedAd['media'][number];
export type CoveredPage = AdLibraryScanEnd['coverage']['pages'][number];

/** Fields of the scan that a record belongs to, read from the record or its envelope. `null` when absent. */
export type ScanHints = {
  readonly brandDomain: string | null;
  readonly brandName: string | null;
  readonly scannedAt: string | null;
  readonly countries: readonly string[] | null;
};

export const NO_HINTS: ScanHints = { brandDomain: null, brandName: null, scannedAt: null, countries: null };

/** A record that is an ad, or one of several rows of an ad. */
export type AdRecord = {
  readonly kind: 'ad';
  readonly line: number;
  readonly raw: string;
  readonly ad: ObservedAd;
  /** The row as a version of the ad. Rows with the same key are one version; without a key, the content is compared. */
  readonly version: { readonly key: string | null; readonly card: AdCard };
  readonly hints: ScanHints;
  /** Short constant reasons why a part of the record is unknown, such as `page_id is not an id`. */
  readonly notes?: readonly string[];
  /** Ids that an address in the record confirms. */
  readonly checked?: CheckedIds;
  /** True when the stop date may be the day on which an active ad was last seen, because the record does not say. */
  readonly mayBeLastSeen?: boolean;
};

/**
 * A remark about one record, which the totals count by its `reason`, a short constant text. `left_out`: a valid record
 * that is deliberately not read, such as a draft. `noted`: a part of the record is unknown. `name`: what the record is
 * about, such as `ad 7100000000000014`; `null` when the totals only count it.
 */
export type Remark<Kind extends 'noted' | 'left_out' = 'noted' | 'left_out'> = {
  readonly kind: Kind;
  readonly line: number;
  readonly reason: string;
  readonly name: string | null;
};

/** A social page that the source lists as covered, with or without ads. */
export type PageRecord = {
  readonly kind: 'page';
  readonly line: number;
  readonly page: CoveredPage;
  readonly hints: ScanHints;
};

/** Words of the source about its own completeness. Emitted after all other records. */
export type VerdictRecord = {
  readonly kind: 'verdict';
  /** Member that claims completeness. `null` without a claim. */
  readonly by: string | null;
  /** Reason why ads are missing, which no one can overrule. */
  readonly incomplete: string | null;
  /** Reason not to believe the claim. */
  readonly doubt: string | null;
  /** Number of rows that are all ads if the claim is true: one row for each ad. `null` when it counts no ads. */
  readonly rows: number | null;
};

/** A refused record. `raw` is its verbatim text; `null` when the refusal concerns the whole file. */
export type RefusedRecord = {
  readonly kind: 'refused';
  readonly line: number;
  readonly what: string;
  readonly advice: string;
  readonly raw: string | null;
  /** The id of the record's ad, so that the ad's other rows are refused too. `null` when unknown. */
  readonly adId: string | null;
  /** Number of the record in the file, from 1. Absent when the line identifies the record. */
  readonly number?: number;
};

export type SourceRecord = AdRecord | PageRecord | VerdictRecord | RefusedRecord | Remark<'left_out'>;

/** Converts a source of one format into records, in one pass and with bounded memory. */
export type Reader = (source: Source) => AsyncGenerator<SourceRecord>;

/** Returns the refusal of a record. `at`: its place, and the id of its ad if it has one. */
export const refusal = (
  {
    line,
    raw,
    number,
    adId = null,
  }: Pick<RefusedRecord, 'line' | 'raw' | 'number'> & { readonly adId?: string | null },
  what: string,
  advice: string,
): RefusedRecord => ({
  kind: 'refused',
  line,
  what,
  advice,
  raw,
  adId,
  ...(number !== undefined && { number }),
});

/** Error that refuses one record. `message` is what is wrong; `advice` is what to do. */
export class RecordFault extends Error {
  readonly advice: string;

  constructor(what: string, advice: string) {
    super(what);
    this.name = 'RecordFault';
    this.advice = advice;
  }
}

/** Returns the result of `read`, or a refusal of this record when `read` throws `RecordFault`. */
export const recordOrRefusal = <R extends SourceRecord>(
  at: { readonly line: number; readonly raw: string; readonly adId: string | null },
  read: () => R,
): R | RefusedRecord => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    return refusal(at, error.message, error.advice);
  }
};
