import type { Observation } from '#contracts/observations/index.ts';
import type { RefusedRecord } from './record.ts';
import type { Source } from './parsing/open-source.ts';

/** Options of the caller for a side file. */
export type SideContext = {
  readonly brandDomain: string | null;
  /** ISO 8601 in UTC. */
  readonly observedAt: string | null;
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
  readonly observation: Observation;
};

/** A valid record without an observation. It is emitted so that the totals count every record. */
export type SideNothing = { readonly kind: 'nothing' };

export type SideRecord = SideHeader | SideObservation | SideNothing | RefusedRecord;

/** Converts a side file into observations, in one pass and with bounded memory. */
export type SideReader = (source: Source, context: SideContext) => AsyncGenerator<SideRecord>;

/** Options that a side format requires: `brand` is --brand, `time` is --scanned-at. */
export type SideNeeds = { readonly brand: boolean; readonly time: boolean };
