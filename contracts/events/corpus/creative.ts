import type { AnalysisDepth, CreativeFieldValues, MediaKind } from '#contracts/values/media/creatives.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `creative-<creativeKey>`: properties of one file, and the ads that use it. */
export const CREATIVE = 'creative';
export const creativeStream = (creativeKey: string): string => `${CREATIVE}-${creativeKey}`;

/** `null`: never measured. */
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
  /** Absent, as below, for collectors that do not measure it and in older events. */
  readonly perceptual_hash?: string | null | undefined;
  readonly thumb_object_key?: string | null | undefined;
  readonly poster_object_key?: string | null | undefined;
};

/** `null`: never analysed. */
export type CreativeReading = {
  readonly depth: AnalysisDepth;
  readonly transcript: string | null;
  readonly language: string | null;
  readonly corrections: readonly { readonly heard: string; readonly meant: string }[] | null;
  readonly shown_texts: readonly string[] | null;
  readonly read_frame_times_seconds: readonly number[] | null;
  readonly fields: Partial<CreativeFieldValues> | null;
};

type CreativeSighting = { readonly creative_key: string; readonly observed_at: string };

export type CreativeStored = Event<
  'CreativeStored',
  CreativeSighting & { readonly media: CreativeMedia; readonly ad_ids: readonly string[] }
>;

/**
 * `changes` holds the changed fields; a `null` key was removed from the object store, maybe before the file was stored.
 * `confirmed`: stated unchanged at a later time; absent: none.
 */
export type CreativeMeasured = Event<
  'CreativeMeasured',
  CreativeSighting & {
    readonly changes: Partial<CreativeMedia>;
    readonly confirmed?: readonly (keyof CreativeMedia)[];
  }
>;

/** Further ads with the file, or ads that used it earlier than known. */
export type CreativeCarried = Event<
  'CreativeCarried',
  CreativeSighting & { readonly ad_ids: readonly string[] }
>;

/** `changes`: changed fields, also inside `fields`. `confirmed`: stated unchanged later, such as `fields.hook`. */
export type CreativeAnalysed = Event<
  'CreativeAnalysed',
  CreativeSighting & { readonly changes: Partial<CreativeReading>; readonly confirmed?: readonly string[] }
>;

export type CreativeEvent = CreativeStored | CreativeMeasured | CreativeCarried | CreativeAnalysed;

export const creativeVersions: EventVersions<CreativeEvent> = {
  CreativeStored: [],
  CreativeMeasured: [],
  CreativeCarried: [],
  CreativeAnalysed: [],
};
