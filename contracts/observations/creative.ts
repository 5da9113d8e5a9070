import { z } from 'zod';
import {
  ANALYSIS_DEPTHS,
  CREATIVE_FIELDS,
  CREATIVE_KEY,
  MEDIA_KINDS,
  PERCEPTUAL_HASH,
} from '../values/media/creatives.ts';
import { LibraryId, Timestamp } from '../values/primitives.ts';
import {
  boundedKeyText,
  boundedWebAddress,
  CUT_MARK,
  cutList,
  cutObservedText,
  cutTrimmedText,
} from '../values/text.ts';

export const CREATIVE_BYTES_MAX = 10_000_000_000;
export const CREATIVE_PIXELS_MAX = 100_000;
export const CREATIVE_DURATION_MAX_SECONDS = 86_400;
export const CREATIVE_FRAMES_MAX = 500;
const URL_MAX_CHARACTERS = 2_048;
export const OBJECT_KEY_MAX_CHARACTERS = 1_024;
/** More than an hour of fast speech. A longer transcript is cut. */
export const TRANSCRIPT_MAX_CHARACTERS = 100_000;
export const CORRECTIONS_MAX = 500;
const CORRECTION_MAX_CHARACTERS = 500;
export const SHOWN_TEXTS_MAX = 200;
const SHOWN_TEXT_MAX_CHARACTERS = 1_000;
/** 4 bytes for each character, so that only unusual texts are cut. */
const TRANSCRIPT_MAX_BYTES = 4 * TRANSCRIPT_MAX_CHARACTERS;
/** With the transcript, an analysis fits into one append of the event store. */
const LIST_MAX_BYTES = 200_000;

const CreativeKey = z
  .string()
  .regex(CREATIVE_KEY, 'the SHA-256 of the file: 64 hexadecimal digits in lower case');
const StoredUrl = boundedWebAddress(URL_MAX_CHARACTERS);
const isAscending = (times: readonly number[]): boolean =>
  times.every((time, index) => index === 0 || time > (times[index - 1] as number));
const FrameTimes = z
  .array(z.number().min(0).max(CREATIVE_DURATION_MAX_SECONDS))
  .overwrite((times) => times.slice(0, CREATIVE_FRAMES_MAX))
  .refine(isAscending, 'times of frames ascend');

export const CreativeFile = z
  .strictObject({
    type: z.literal('creative.file'),
    creative_key: CreativeKey,
    observed_at: Timestamp,
    /** Ads add up over observations: an ad that is not listed is not removed. */
    ad_ids: z.array(LibraryId).min(1),
    media_kind: z.enum(MEDIA_KINDS),
    content_type: z
      .string()
      .max(100)
      .regex(/^(image|video)\/[a-z0-9.+-]+$/, 'a type such as video/mp4')
      .nullable(),
    bytes: z.int().min(1).max(CREATIVE_BYTES_MAX).nullable(),
    width: z.int().min(1).max(CREATIVE_PIXELS_MAX).nullable(),
    height: z.int().min(1).max(CREATIVE_PIXELS_MAX).nullable(),
    duration_seconds: z.number().min(0).max(CREATIVE_DURATION_MAX_SECONDS).nullable(),
    frame_times_seconds: FrameTimes.nullable(),
    /** `object_key`: key in the object store; `null` above its limit, as for a URL. */
    media_url: StoredUrl.nullable(),
    object_key: boundedKeyText(OBJECT_KEY_MAX_CHARACTERS).nullable(),
    poster_url: StoredUrl.nullable(),
    /** For a video, its poster's: 64 bits as 16 hexadecimal digits in lower case. */
    perceptual_hash: z
      .string()
      .regex(PERCEPTUAL_HASH, 'a perceptual hash: 16 hexadecimal digits in lower case')
      .nullable()
      .optional(),
    /** The poster is a file of its own. */
    thumb_object_key: boundedKeyText(OBJECT_KEY_MAX_CHARACTERS).nullable().optional(),
    poster_object_key: boundedKeyText(OBJECT_KEY_MAX_CHARACTERS).nullable().optional(),
    /** Its keys in the object store name nothing any more. Its measurements stay. */
    removed: z.literal(true).optional(),
  })
  .refine(({ media_kind, duration_seconds }) => media_kind === 'video' || duration_seconds === null, {
    path: ['duration_seconds'],
    message: 'an image has no duration',
  });
export type CreativeFile = z.infer<typeof CreativeFile>;

export const TranscriptCorrection = z.strictObject({
  heard: cutTrimmedText(CORRECTION_MAX_CHARACTERS),
  meant: cutTrimmedText(CORRECTION_MAX_CHARACTERS),
});

export const CreativeFieldValues = z.strictObject({
  hook: z.enum(CREATIVE_FIELDS.hook).nullable(),
  style: z.enum(CREATIVE_FIELDS.style).nullable(),
  presenter: z.enum(CREATIVE_FIELDS.presenter).nullable(),
  setting: z.enum(CREATIVE_FIELDS.setting).nullable(),
  tone: z.enum(CREATIVE_FIELDS.tone).nullable(),
  offer: z.enum(CREATIVE_FIELDS.offer).nullable(),
  audio: z.enum(CREATIVE_FIELDS.audio).nullable(),
});

/** `null` means "not analysed" and overwrites nothing. */
export const CreativeAnalysis = z
  .strictObject({
    type: z.literal('creative.analysis'),
    creative_key: CreativeKey,
    observed_at: Timestamp,
    depth: z.enum(ANALYSIS_DEPTHS),
    transcript: cutObservedText(TRANSCRIPT_MAX_CHARACTERS, TRANSCRIPT_MAX_BYTES).nullable(),
    language: z
      .string()
      .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'a language tag such as en-US')
      .nullable(),
    corrections: z
      .array(TranscriptCorrection)
      .overwrite((corrections) =>
        cutList(corrections, {
          maxItems: CORRECTIONS_MAX,
          maxBytes: LIST_MAX_BYTES,
          mark: { heard: CUT_MARK, meant: CUT_MARK },
        }),
      )
      .nullable(),
    /** In the order of first appearance. */
    shown_texts: z
      .array(cutTrimmedText(SHOWN_TEXT_MAX_CHARACTERS))
      .overwrite((texts) =>
        cutList(texts, { maxItems: SHOWN_TEXTS_MAX, maxBytes: LIST_MAX_BYTES, mark: CUT_MARK }),
      )
      .nullable(),
    /** Times of the frames that were analysed. */
    read_frame_times_seconds: FrameTimes.nullable(),
    fields: CreativeFieldValues.nullable(),
  })
  .refine(({ depth, fields }) => depth === 'described' || fields === null, {
    path: ['fields'],
    message: 'only a file of depth `described` has closed fields',
  });
export type CreativeAnalysis = z.infer<typeof CreativeAnalysis>;
