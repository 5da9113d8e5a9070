import { z } from 'zod';
import { CREATIVE_FIELDS } from '#contracts/values/media/creatives.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { MediaKindName } from '#contracts/resources/corpus/ads/creative.ts';
import { AnalysisDepthName } from '#contracts/resources/corpus/ads/creative-record.ts';
import { pageQuery, searchText, wholeNumber } from '../endpoint/parameters.ts';

const WORDS_MAX_LENGTH = 200;
/** Larger than any value of a file, and within the range of every column. */
const WHOLE_MAX = 10_000_000_000;
const PIXELS_MAX = 1_000_000;
const SECONDS_MAX = 86_400;
const DECIMAL = /^[0-9]{1,5}(\.[0-9]{1,3})?$/;

const decimal = (schema: z.ZodNumber) =>
  z.preprocess(
    (text: unknown) => (typeof text === 'string' && DECIMAL.test(text) ? Number(text) : text),
    schema.optional(),
  );
const whole = (max: number, description: string) =>
  wholeNumber(z.int().min(0).max(max).optional().meta({ description }));
const seconds = (description: string) => decimal(z.number().min(0).max(SECONDS_MAX).meta({ description }));
const field = <Field extends keyof typeof CREATIVE_FIELDS>(name: Field, description: string) =>
  z.enum(CREATIVE_FIELDS[name]).optional().meta({ description });

const RANGES = ['duration_seconds', 'bytes', 'width', 'height', 'active_ads'] as const;

export const recordQuery = z
  .strictObject({
    ...pageQuery,
    brand_id: Uuid.optional().meta({ description: "Files that the brand's attributed ads carry." }),
    depth: AnalysisDepthName.optional().meta({ description: 'Exact analysis depth.' }),
    media_kind: MediaKindName.optional().meta({ description: 'Image or video.' }),
    hook: field('hook', 'How the creative begins.'),
    style: field('style', 'How it is made.'),
    presenter: field('presenter', 'Who speaks or is shown.'),
    setting: field('setting', 'Where it plays.'),
    tone: field('tone', 'Its tone.'),
    offer: field('offer', 'What kind of offer it makes.'),
    audio: field('audio', 'What is to be heard.'),
    said: searchText(WORDS_MAX_LENGTH)
      .optional()
      .meta({ description: 'Spoken words; all of them must occur.' }),
    shown: searchText(WORDS_MAX_LENGTH)
      .optional()
      .meta({ description: 'Words shown on screen; all of them must occur.' }),
    min_duration_seconds: seconds('Videos at least so long.'),
    max_duration_seconds: seconds('Videos at most so long.'),
    min_bytes: whole(WHOLE_MAX, 'Files at least so large.'),
    max_bytes: whole(WHOLE_MAX, 'Files at most so large.'),
    min_width: whole(PIXELS_MAX, 'At least so many pixels wide.'),
    max_width: whole(PIXELS_MAX, 'At most so many pixels wide.'),
    min_height: whole(PIXELS_MAX, 'At least so many pixels high.'),
    max_height: whole(PIXELS_MAX, 'At most so many pixels high.'),
    min_active_ads: whole(WHOLE_MAX, 'Carried by at least so many live ads.'),
    max_active_ads: whole(WHOLE_MAX, 'Carried by at most so many live ads.'),
  })
  .superRefine((query, context) => {
    for (const name of RANGES) {
      const [min, max] = [query[`min_${name}`], query[`max_${name}`]];
      if (min === undefined || max === undefined || min <= max) continue;
      context.addIssue({
        code: 'custom',
        path: [`max_${name}`],
        message: `must not be below \`min_${name}\``,
      });
    }
  });
export type RecordQuery = z.infer<typeof recordQuery>;
