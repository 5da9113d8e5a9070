import { z } from 'zod';
import {
  ANALYSIS_DEPTHS,
  CREATIVE_FIELD_NAMES,
  CREATIVE_FIELDS,
  type CreativeField,
} from '#contracts/values/media/creatives.ts';
import { Count, Timestamp } from '#contracts/values/primitives.ts';
import { BrandId, BrandReference } from '../brand.ts';
import { AdId, CreativeId, mediaShape } from './creative.ts';

export const AnalysisDepthName = z.enum(ANALYSIS_DEPTHS).meta({
  id: 'AnalysisDepth',
  description:
    '`measured`: media facts are known; `transcribed`: also what is said; `described`: also the closed fields.',
});

const closedField = <Name extends CreativeField>(name: Name, id: string, description: string) =>
  z.enum(CREATIVE_FIELDS[name]).meta({ id, description });
export const CLOSED_FIELDS = {
  hook: closedField('hook', 'CreativeHook', 'How the creative begins.'),
  style: closedField('style', 'CreativeStyle', 'How it is made.'),
  presenter: closedField('presenter', 'CreativePresenter', 'Who speaks or is shown.'),
  setting: closedField('setting', 'CreativeSetting', 'Place at which it plays.'),
  tone: closedField('tone', 'CreativeTone', 'The mood that it speaks in.'),
  offer: closedField('offer', 'CreativeOffer', 'Kind of offer that it makes.'),
  audio: closedField('audio', 'CreativeAudio', 'Sounds that are heard.'),
} as const;
const orNotAnalysed = <Field extends z.ZodType>(field: Field) =>
  field.nullable().meta({ description: `${field.description} Null: not analysed.` });

export const CreativeFields = z
  .strictObject({
    hook: orNotAnalysed(CLOSED_FIELDS.hook),
    style: orNotAnalysed(CLOSED_FIELDS.style),
    presenter: orNotAnalysed(CLOSED_FIELDS.presenter),
    setting: orNotAnalysed(CLOSED_FIELDS.setting),
    tone: orNotAnalysed(CLOSED_FIELDS.tone),
    offer: orNotAnalysed(CLOSED_FIELDS.offer),
    audio: orNotAnalysed(CLOSED_FIELDS.audio),
  })
  .meta({
    id: 'CreativeFields',
    description:
      'Automated classification into closed lists; it can be wrong. `none`: analysed, nothing found.',
  });

const summaryShape = {
  ...mediaShape,
  depth: AnalysisDepthName,
  fields: CreativeFields,
  transcript_excerpt: z
    .string()
    .nullable()
    .meta({ description: 'First 300 characters of the transcript; null: not transcribed.' }),
  active_ads: Count.meta({
    description:
      'Ads not confirmed inactive that carry the file, or a file with the same picture by its perceptual hash; never spend.',
  }),
  total_ads: Count.meta({ description: 'Ads ever seen to carry the file or one with the same picture.' }),
  stored_at: Timestamp.meta({ description: 'When the file was first observed.' }),
  as_of: Timestamp.meta({ description: 'When a measurement or analysis last found something new.' }),
  url: z.url().meta({ description: 'Address of the record in this API.' }),
} as const;

export const CreativeRecordSummary = z
  .strictObject(summaryShape)
  .meta({ id: 'CreativeRecordSummary', description: 'One creative file, whichever ads carry it.' });

const FrameTimes = z.array(z.number().min(0)).nullable();

export const CreativeRecord = z
  .strictObject({
    ...summaryShape,
    frame_times_seconds: FrameTimes.meta({
      description: 'Times of the frames extracted from a video; null: none were extracted.',
    }),
    read_frame_times_seconds: FrameTimes.meta({
      description: 'Times of the frames that were analysed; null: not analysed.',
    }),
    transcript: z
      .strictObject({
        text: z.string().meta({ description: 'Text before corrections; empty when there is no speech.' }),
        language: z
          .string()
          .nullable()
          .meta({ description: 'Language tag, such as `en-US`; null: not recognised.' }),
        corrections: z
          .array(
            z.strictObject({
              heard: z.string().meta({ description: 'Passage as it stands in `text`.' }),
              meant: z.string().meta({ description: 'Passage to read in its place.' }),
            }),
          )
          .nullable()
          .meta({ description: 'Corrected passages; null: not checked.' }),
      })
      .nullable()
      .meta({ description: 'The words that are spoken; null: not read.' }),
    shown_texts: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Words shown on screen, in order; null: not analysed.' }),
    brands: z
      .array(
        z.strictObject({
          brand: BrandReference,
          active_ads: Count.meta({ description: 'Its ads among them that are not confirmed inactive.' }),
          total_ads: Count.meta({ description: 'Its ads among them, inactive ones included.' }),
        }),
      )
      .meta({ description: 'Brands whose ads carry the file or its picture, most ads first, at most 20.' }),
    ads: z
      .array(
        z.strictObject({
          id: AdId,
          brand_id: BrandId,
          active: z.boolean().meta({ description: 'Whether the ad is not confirmed inactive.' }),
          creative_id: CreativeId,
          url: z.url().meta({ description: 'Address of the ad in this API.' }),
        }),
      )
      .meta({
        description:
          'Ads that carry the file or its picture, active ones and then newest first, at most 100.',
      }),
  })
  .meta({ id: 'CreativeRecord', description: 'One creative file with all that was read of it.' });

export const CreativeCoverage = z
  .strictObject({
    brand: BrandReference.nullable().meta({
      description: 'The brand that is counted; null: the files of all public brands are.',
    }),
    measured_files: Count.meta({
      description: 'Files whose media facts are known; all counts below are of these.',
    }),
    images: Count.meta({ description: 'Measured files that are images.' }),
    videos: Count.meta({ description: 'Measured files that are videos.' }),
    transcribed_files: Count.meta({ description: 'Measured files that were transcribed or described.' }),
    described_files: Count.meta({ description: 'Measured files whose closed fields were classified.' }),
    fields: z
      .array(
        z.strictObject({
          field: z
            .enum(CREATIVE_FIELD_NAMES as [string, ...string[]])
            .meta({ description: 'Name of the closed field, as in `CreativeFields`.' }),
          values: z
            .array(
              z.strictObject({
                value: z.string().meta({ description: 'One of the values of the field.' }),
                files: Count.meta({ description: 'Described files that have it.' }),
              }),
            )
            .nullable()
            .meta({ description: 'Its values, most files first; null when no file has been described.' }),
          not_read: Count.nullable().meta({
            description:
              'Described files without a value for the field; null when no file has been described.',
          }),
        }),
      )
      .meta({ description: 'Values of each closed field, counted over described files.' }),
  })
  .meta({
    id: 'CreativeCoverage',
    description: 'How far creative files were processed, and what was found.',
  });
