import type { AnalysisDepth, CreativeFieldValues, MediaKind } from '#contracts/values/creatives.ts';
import type { Event } from '../event.ts';

/** Stream `creative-<creativeKey>`: what is known of one file, and which ads carry it. */
export const CREATIVE = 'creative';
export const creativeStream = (creativeKey: string): string => `${CREATIVE}-${creativeKey}`;

/** Media properties of a file. `null`: never measured. */
export type CreativeMedia = {
  readonly media_kind: MediaKind;
  readonly content_type: string | null;
  readonly bytes: number | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly duration_seconds: number | null;
  readonly frame_times_seconds: readonly number[] | null;
  readonly media_url: string | null;
  readonly object_key: string | null;
  readonly poster_url: string | null;
};

/** Everything read of a file. `null`: never read. */
export type CreativeReading = {
  readonly depth: AnalysisDepth;
  readonly transcript: string | null;
  readonly language: string | null;
  readonly corrections: readonly { readonly heard: string; readonly meant: string }[] | null;
  readonly shown_texts: readonly string[] | null;
  readonly read_frame_times_seconds: readonly number[] | null;
  readonly fields: Partial<CreativeFieldValues> | null;
};

type OfCreative = { readonly creative_key: string; readonly observed_at: string };

export type CreativeStored = Event<
  'CreativeStored',
  OfCreative & { readonly media: CreativeMedia; readonly ad_ids: readonly string[] }
>;

/** Measured or stored with something new: only the fields that changed. */
export type CreativeMeasured = Event<
  'CreativeMeasured',
  OfCreative & { readonly changes: Partial<CreativeMedia> }
>;

/** Ads that were not known to carry the file. */
export type CreativeCarried = Event<'CreativeCarried', OfCreative & { readonly ad_ids: readonly string[] }>;

/** Read, or read with something new: only what changed; of the closed fields likewise. */
export type CreativeAnalysed = Event<
  'CreativeAnalysed',
  OfCreative & { readonly changes: Partial<CreativeReading> }
>;

export type CreativeEvent = CreativeStored | CreativeMeasured | CreativeCarried | CreativeAnalysed;
