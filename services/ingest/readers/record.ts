import type { AdLibraryScanEnd, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { CheckedIds } from './fields/ad-ids.ts';
import type { Source } from './parsing/open-source.ts';

export type AdCard = ObservedAd['cards'][number];
export type AdMedia = ObservedAd['media'][number];
export type CoveredPage = AdLibraryScanEnd['coverage']['pages'][number];

export type ScanHints = {
  readonly brandDomain: string | null;
  readonly brandName: string | null;
  readonly scannedAt: string | null;
  readonly countries: readonly string[] | null;
};

export const NO_HINTS: ScanHints = { brandDomain: null, brandName: null, scannedAt: null, countries: null };

export type AdRecord = {
  readonly kind: 'ad';
  readonly line: number;
  readonly raw: string;
  readonly ad: ObservedAd;
  /** Rows with the same key are one version; without a key, the content is compared. */
  readonly version: { readonly key: string | null; readonly card: AdCard };
  readonly hints: ScanHints;
  /** Constant reasons why a part is unknown, such as `page_id is not an id`. */
  readonly notes?: readonly string[];
  readonly checked?: CheckedIds;
  /** The record does not say whether the ad stopped or was last seen on that day. */
  readonly mayBeLastSeen?: boolean;
};

/**
 * Counted by `reason`, a constant text. `left_out`: valid but deliberately not read, such as a draft. `name`: the
 * subject, such as `ad 7100000000000014`; `null` to count only.
 */
export type Remark<Kind extends 'noted' | 'left_out' = 'noted' | 'left_out'> = {
  readonly kind: Kind;
  readonly line: number;
  readonly reason: string;
  readonly name: string | null;
};

export type PageRecord = {
  readonly kind: 'page';
  readonly line: number;
  readonly page: CoveredPage;
  readonly hints: ScanHints;
};

export type VerdictRecord = {
  readonly kind: 'verdict';
  readonly by: string | null;
  /** Why ads are missing. No one can overrule it. */
  readonly incomplete: string | null;
  readonly doubt: string | null;
  /** Rows of ads if the claim is true, one for each ad. `null` when it counts none. */
  readonly rows: number | null;
};

/** `raw`: verbatim text; `null` when the refusal concerns the whole file. */
export type RefusedRecord = {
  readonly kind: 'refused';
  readonly line: number;
  readonly what: string;
  readonly advice: string;
  readonly raw: string | null;
  /** The ad's other rows are refused too. `null` when unknown. */
  readonly adId: string | null;
  readonly number?: number;
};

export type SourceRecord = AdRecord | PageRecord | VerdictRecord | RefusedRecord | Remark<'left_out'>;

export type Reader = (source: Source) => AsyncGenerator<SourceRecord>;

type RecordAt = Pick<RefusedRecord, 'line' | 'raw' | 'number'> & { readonly adId?: string | null };

export const refusal = (
  { line, raw, number, adId = null }: RecordAt,
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

/** Refuses one record. `message`: what is wrong; `advice`: what to do. */
export class RecordFault extends Error {
  readonly advice: string;

  constructor(what: string, advice: string) {
    super(what);
    this.name = 'RecordFault';
    this.advice = advice;
  }
}

export const recordOrRefusal = <Read>(at: RecordAt, read: () => Read): Read | RefusedRecord => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    return refusal(at, error.message, error.advice);
  }
};
