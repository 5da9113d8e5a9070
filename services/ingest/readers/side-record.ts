import type { Observation } from '#contracts/observations/index.ts';
import { RecordFault, refusal, type RefusedRecord, type Remark } from './record.ts';
import type { Source } from './parsing/open-source.ts';
import { ownScanTime, type ScanTimes, scanTimeOf } from './scan-key.ts';

/** Options of the caller for a side file. */
export type SideContext = {
  readonly brandDomain: string | null;
  readonly times: ScanTimes;
  /** True when the caller declares that the file is complete, for example that it has all products of a shop. */
  readonly complete: boolean;
};

/** A header line that the rejects file needs above the records. */
export type SideHeader = { readonly kind: 'header'; readonly raw: string };

/** A record as an observation. The caller validates it, so a reader need not. */
export type SideObservation = {
  readonly kind: 'observation';
  readonly line: number;
  /** Verbatim text of the record. */
  readonly raw: string;
  /** Number of the record in the file, from 1. Absent when the line identifies the record. */
  readonly number?: number;
  readonly observation: Observation;
  /** Short constant reasons why a part of the record is unknown. A reader of long observations emits remarks instead. */
  readonly notes?: readonly string[];
};

export type SideRecord = SideHeader | SideObservation | Remark | RefusedRecord;

/** Converts a side file into observations, in one pass and with bounded memory. */
export type SideReader = (source: Source, context: SideContext) => AsyncGenerator<SideRecord>;

/** Options that a side format requires: `brand` is --brand. */
export type SideNeeds = { readonly brand: boolean };

/** Returns the scan time of a record, or a refusal of the record when it has no valid one. */
export const timeOrRefusal = (
  { times }: SideContext,
  at: Pick<RefusedRecord, 'line' | 'raw' | 'number'>,
  fields: { readonly [name: string]: unknown },
): string | RefusedRecord => {
  try {
    return scanTimeOf(times, ownScanTime(fields));
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    return refusal(at, error.message, error.advice);
  }
};
