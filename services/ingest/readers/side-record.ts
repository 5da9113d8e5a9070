import type { Observation } from '#contracts/observations/index.ts';
import type { RefusedRecord, Remark } from './record.ts';
import type { Source } from './parsing/open-source.ts';
import type { ScanTimes } from './scan-key.ts';

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
