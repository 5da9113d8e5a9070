import type { Observation } from '#contracts/observations/index.ts';
import { RecordFault, refusal, type RefusedRecord, type Remark } from './record.ts';
import type { Source } from './parsing/open-source.ts';
import { ownScanTime, type ScanTimes, scanTimeOf } from './scan-key.ts';

export type SideContext = {
  readonly brandDomain: string | null;
  readonly times: ScanTimes;
  readonly complete: boolean;
};

export type SideHeader = { readonly kind: 'header'; readonly raw: string };

export type SideObservation = {
  readonly kind: 'observation';
  readonly line: number;
  readonly raw: string;
  readonly number?: number;
  readonly observation: Observation;
  /** Constant reasons. A reader of long observations emits remarks instead. */
  readonly notes?: readonly string[];
};

export type SideRecord = SideHeader | SideObservation | Remark | RefusedRecord;

export type SideReader = (source: Source, context: SideContext) => AsyncGenerator<SideRecord>;

export type SideNeeds = { readonly brand: boolean };

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
