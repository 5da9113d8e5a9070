import { derivedId } from '../derived-id.ts';

/** SHA-256 of the file in lower-case hexadecimal. */
export const CREATIVE_KEY = /^[0-9a-f]{64}$/;
export const CREATIVE_KEY_PREFIX_MIN_LENGTH = 10;

/** 64 bits in lower-case hexadecimal. */
export const PERCEPTUAL_HASH = /^[0-9a-f]{16}$/;
/** Re-encoding changed up to 5 bits; other pictures differ by 16. */
export const SAME_PICTURE_MAX_BITS = 10;
export const NEAR_HASHES_MAX = 100;
/** A usual picture sets half of the bits; plain areas of all pictures have equal hashes. */
export const PERCEPTUAL_HASH_SET_BITS_MIN = 16;

export const creativeIdOf = (adId: string, creativeKey: string): string =>
  derivedId('creative', `${adId}|${creativeKey}`);

export const MEDIA_KINDS = ['image', 'video'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** Each depth includes those before: media properties, then speech, then the closed fields. */
export const ANALYSIS_DEPTHS = ['measured', 'transcribed', 'described'] as const;
export type AnalysisDepth = (typeof ANALYSIS_DEPTHS)[number];

/** Automated classification can be wrong. `null`: not classified; `none`: classified as absent. */
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
