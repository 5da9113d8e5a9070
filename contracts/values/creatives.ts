import { derivedId } from './derived-id.ts';

/** What the service says of creative files: how they are named, how deep they were looked at, what is read of them. */

/** A file is named by the SHA-256 of its bytes, in lower-case hex. */
export const CREATIVE_KEY = /^[0-9a-f]{64}$/;
export const CREATIVE_KEY_PREFIX_MIN_LENGTH = 10;

/** One file as one ad carries it. */
export const creativeIdOf = (adId: string, creativeKey: string): string =>
  derivedId('creative', `${adId}|${creativeKey}`);

export const MEDIA_KINDS = ['image', 'video'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/**
 * How deep a file was looked at, each depth beyond the one before: its media properties measured; what is said in it
 * transcribed; its closed fields described.
 */
export const ANALYSIS_DEPTHS = ['measured', 'transcribed', 'described'] as const;
export type AnalysisDepth = (typeof ANALYSIS_DEPTHS)[number];

/**
 * What is read of a described file: each field has one value of a closed list. They are automated
 * classification and can be wrong. `null`: not read; `none`: read, and there is none.
 */
export const CREATIVE_FIELDS = {
  hook: ['question', 'problem', 'claim', 'demonstration', 'testimonial', 'offer', 'story', 'none'],
  style: ['creator', 'studio', 'lifestyle', 'product_only', 'animation', 'screen_recording', 'text_only'],
  presenter: ['creator', 'customer', 'founder', 'expert', 'actor', 'voice_over', 'none'],
  setting: ['home', 'outdoors', 'studio', 'store', 'workplace', 'vehicle', 'none'],
  tone: ['humorous', 'urgent', 'emotional', 'informative', 'inspirational', 'neutral'],
  offer: ['discount', 'bundle', 'gift', 'free_shipping', 'trial', 'guarantee', 'none'],
  audio: ['speech', 'music', 'speech_and_music', 'effects', 'silent'],
} as const;
export type CreativeField = keyof typeof CREATIVE_FIELDS;
export const CREATIVE_FIELD_NAMES = Object.keys(CREATIVE_FIELDS) as readonly CreativeField[];

export type CreativeFieldValues = {
  readonly [Field in CreativeField]: (typeof CREATIVE_FIELDS)[Field][number] | null;
};
