import type { AdLibraryScanEnd, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { Source } from './parsing/open-source.ts';

export type AdCard = ObservedAd['cards'][number];
export type AdMedia = ObservedAd['media'][number];
export type CoveredPage = AdLibraryScanEnd['coverage']['pages'][number];

/** What a record, or what surrounds it, says about the scan it belongs to. `null`: nothing. */
export type ScanHints = {
  readonly brandDomain: string | null;
  readonly brandName: string | null;
  readonly scannedAt: string | null;
  readonly countries: readonly string[] | null;
};

export const NO_HINTS: ScanHints = { brandDomain: null, brandName: null, scannedAt: null, countries: null };

/** One record of a source that is an ad, or one of the rows of an ad. */
export type AdRecord = {
  readonly kind: 'ad';
  readonly line: number;
  readonly raw: string;
  readonly ad: ObservedAd;
  /** Tells the rows of one ad apart, and what this row says as a version of it. */
  readonly version: { readonly key: string | null; readonly card: AdCard };
  readonly hints: ScanHints;
};

/** A page that the source says it covered, with or without ads. */
export type PageRecord = {
  readonly kind: 'page';
  readonly line: number;
  readonly page: CoveredPage;
  readonly hints: ScanHints;
};

/** At the end: whether the source itself says that it was read to its end. Not given when it does not say. */
export type VerdictRecord = { readonly kind: 'verdict'; readonly complete: boolean };

/** A record that was not taken in. `raw` is its text as it stood, `null` when a whole file is meant. */
export type RefusedRecord = {
  readonly kind: 'refused';
  readonly line: number;
  readonly what: string;
  readonly advice: string;
  readonly raw: string | null;
  /** The ad it speaks of, where that can be told: the ad's other rows are then refused with it. */
  readonly adId: string | null;
};

export type SourceRecord = AdRecord | PageRecord | VerdictRecord | RefusedRecord;

/** A reader turns the bytes of one format into records, in one pass and with bounded memory. */
export type Reader = (source: Source) => AsyncGenerator<SourceRecord>;

/** Why one record cannot be taken in: what is wrong, and what to do about it. */
export class RecordFault extends Error {
  readonly advice: string;

  constructor(what: string, advice: string) {
    super(what);
    this.name = 'RecordFault';
    this.advice = advice;
  }
}

/** Runs what reads one record; its fault refuses that record alone. */
export const recordOrRefusal = <R extends SourceRecord>(
  at: { readonly line: number; readonly raw: string; readonly adId: string | null },
  read: () => R,
): R | RefusedRecord => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    return { kind: 'refused', ...at, what: error.message, advice: error.advice };
  }
};
