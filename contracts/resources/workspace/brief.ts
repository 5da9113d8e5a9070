import { z } from 'zod';
import { CalendarDate, Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference } from '../corpus/brand.ts';
import { RadarItem } from './radar.ts';

/** Specification, part "Endpoints". */

export const BRIEF_NOTABLE_MAX = 10;

export const BriefFeedback = z
  .enum(['useful', 'already_known', 'wrong'])
  .meta({ id: 'BriefFeedback', description: "The workspace's verdict on a brief." });
export type BriefFeedback = z.infer<typeof BriefFeedback>;

export const RadarChangeCounts = z
  .strictObject({
    ads_started: Count.meta({ description: 'Ads seen for the first time that are news.' }),
    ads_stopped: Count.meta({ description: 'Ads confirmed inactive.' }),
    destinations_changed: Count.meta({ description: 'Changes of the link of an ad.' }),
  })
  .meta({ id: 'RadarChangeCounts', description: 'Radar items of a week, by type.' });

const briefShape = {
  id: Uuid.meta({ description: 'Stable id of the brief, `{briefId}` in paths.' }),
  week: z
    .string()
    .regex(/^[0-9]{4}-W[0-9]{2}$/)
    .meta({ description: 'ISO 8601 week, as in `2026-W47`.' }),
  from: CalendarDate.meta({ description: 'Monday, in UTC.' }),
  to: CalendarDate.meta({ description: 'Sunday, in UTC, included.' }),
  brands: Count.meta({ description: 'Brands that were tracked.' }),
  changes: RadarChangeCounts.meta({ description: 'Radar items at all of these brands.' }),
  feedback: BriefFeedback.nullable().meta({
    description: "The workspace's verdict; null when there is none, or it was cleared.",
  }),
  created_at: Timestamp.meta({ description: 'When the brief was prepared; its figures are as of then.' }),
} as const;

export const BriefSummary = z
  .strictObject(briefShape)
  .meta({ id: 'BriefSummary', description: 'What a week brought at tracked brands, in counts.' });
export type BriefSummary = z.infer<typeof BriefSummary>;

export const Brief = z
  .strictObject({
    ...briefShape,
    changes_by_brand: z
      .array(z.strictObject({ brand: BrandReference, changes: RadarChangeCounts }))
      .meta({ description: 'All brands tracked at that time, most changes first.' }),
    notable_items: z.array(RadarItem).max(BRIEF_NOTABLE_MAX).meta({
      description:
        'Items as of that time, newest first within each group: destinations changed by ads that ran for 60 days or more, stops of such ads, launches, other changed destinations, other stops.',
    }),
  })
  .meta({ id: 'Brief', description: 'What a week brought, by brand and with notable items.' });

export const GiveBriefFeedback = z
  .strictObject({
    feedback: BriefFeedback.nullable().meta({ description: 'The verdict; null clears an earlier one.' }),
  })
  .meta({ id: 'GiveBriefFeedback', description: "The workspace's verdict on a brief." });
