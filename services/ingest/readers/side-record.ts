import type { Observation } from '#contracts/observations/index.ts';
import type { RefusedRecord } from './record.ts';
import type { Source } from './parsing/open-source.ts';

/** What the caller says of a file whose records are observations by themselves. */
export type SideContext = {
  readonly brandDomain: string | null;
  /** ISO 8601 in UTC. */
  readonly observedAt: string | null;
  /** The caller vouches that the file holds all there is of what it is about. */
  readonly complete: boolean;
};

/** The line that the file of refused records needs above them, where there is one. */
export type SideHeader = { readonly kind: 'header'; readonly raw: string };

/** One record as an observation. It is held against its contract afterwards, so a reader need not. */
export type SideObservation = {
  readonly kind: 'observation';
  readonly line: number;
  /** The record as it stood. */
  readonly raw: string;
  readonly observation: Observation;
};

/** Read, and nothing to hand in: counted, so that the totals account for every record. */
export type SideNothing = { readonly kind: 'nothing' };

export type SideRecord = SideHeader | SideObservation | SideNothing | RefusedRecord;

/** A reader of files that hold no library scan, in one pass and with bounded memory. */
export type SideReader = (source: Source, context: SideContext) => AsyncGenerator<SideRecord>;

/** What has to be said of a file beside its content; `time` is when it was fetched. */
export type SideNeeds = { readonly brand: boolean; readonly time: boolean };
