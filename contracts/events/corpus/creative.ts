import type { AnalysisDepth, CreativeFieldValues, MediaKind } from '#contracts/values/media/creatives.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `creative-<creativeKey>`: properties of one file, and the ads that use it. */
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
  /** Absent in files of collectors that do not measure it, and in events before it existed. The same holds below. */
  readonly perceptual_hash?: string | null | undefined;
  readonly thumb_object_key?: string | null | undefined;
  readonly poster_object_key?: string | null | undefined;
};

/** Results of analysing a file. `null`: never analysed. */
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
 * The file was measured or stored again, with other values, later than before, or earlier than ever. `changes` holds
 * only the changed fields. A key of the object store that is `null` was removed from it, maybe before the file was
 * stored. `confirmed`: fields that are stated as they were, later than before; absent in events of earlier
 * releases.
 */
export type CreativeMeasured = Event<
  'CreativeMeasured',
  CreativeSighting & {
    readonly changes: Partial<CreativeMedia>;
    readonly confirmed?: readonly (keyof CreativeMedia)[];
  }
>;

/** Further ads that use the file, or ads that used it earlier than known before. */
export type CreativeCarried = Event<
  'CreativeCarried',
  CreativeSighting & { readonly ad_ids: readonly string[] }
>;

/**
 * The file was analysed for the first time, with new results, or later than before. `changes` holds only the changed
 * fields; the same holds inside `fields`. `confirmed`: fields that are stated as they were, later than before, such as
 * `transcript` or `fields.hook`; absent in events of earlier releases.
 */
export type CreativeAnalysed = Event<
  'CreativeAnalysed',
  CreativeSighting & { readonly changes: Partial<CreativeReading>; readonly confirmed?: readonly string[] }
>;

export type CreativeEvent = CreativeStored | CreativeMeasured | CreativeCarried | CreativeAnalysed;

/** Schema versions: each type's upcasters, from version 1 on. */
export const creativeVersions: EventVersions<CreativeEvent> = {
  CreativeStored: [],
  CreativeMeasured: [],
  CreativeCarried: [],
  CreativeAnalysed: [],
};
