import type { Demographics } from '../events/corpus/traffic.ts';

/** The groups in `of` together make up at least `shareMin` of a site's visitors. */
export type SegmentRule = {
  readonly of: readonly (keyof Demographics)[];
  readonly shareMin: number;
  readonly description: string;
};

const MAJORITY = 0.5001;

/** Closed list. A group without a share from the provider counts as 0. */
export const AUDIENCE_SEGMENTS = {
  'majority-female': { of: ['female'], shareMin: MAJORITY, description: 'more than half are women' },
  'majority-male': { of: ['male'], shareMin: MAJORITY, description: 'more than half are men' },
  'gen-z': { of: ['age_18_24'], shareMin: 0.25, description: 'at least a quarter are 18 to 24' },
  millennial: {
    of: ['age_25_34', 'age_35_44'],
    shareMin: 0.5,
    description: 'at least half are 25 to 44 years old',
  },
  'gen-x': { of: ['age_45_54', 'age_55_64'], shareMin: 0.35, description: 'at least 35 % are 45 to 64' },
  senior: { of: ['age_65_plus'], shareMin: 0.15, description: 'at least 15 % are 65 or older' },
  'under-35': { of: ['age_18_24', 'age_25_34'], shareMin: 0.5, description: 'at least half are 18 to 34' },
  'over-45': {
    of: ['age_45_54', 'age_55_64', 'age_65_plus'],
    shareMin: 0.5,
    description: 'at least half are 45 or older',
  },
} as const satisfies { readonly [segment: string]: SegmentRule };

export type AudienceSegment = keyof typeof AUDIENCE_SEGMENTS;

export const isAudienceSegment = (text: string): text is AudienceSegment =>
  Object.hasOwn(AUDIENCE_SEGMENTS, text);

const SHARE_DIGITS = 6;

/** In the order of the list. */
export const segmentsOf = (demographics: Demographics): readonly AudienceSegment[] =>
  (Object.keys(AUDIENCE_SEGMENTS) as AudienceSegment[]).filter((segment) => {
    const { of, shareMin }: SegmentRule = AUDIENCE_SEGMENTS[segment];
    const share = of.reduce((sum, group) => sum + (demographics[group] ?? 0), 0);
    return Number(share.toFixed(SHARE_DIGITS)) >= shareMin;
  });
