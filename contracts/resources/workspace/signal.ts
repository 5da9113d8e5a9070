import { z } from 'zod';
import { CalendarDate, Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { SIGNAL_NAMES_MAX, SIGNAL_THRESHOLDS, SignalKind } from '#contracts/values/signals.ts';
import { AdFormatName, AdId, AdPage } from '../corpus/ads/creative.ts';
import { BrandReference } from '../corpus/brand.ts';
import { PageRoleName } from '../corpus/social-page.ts';
import { RadarCorrection } from './radar.ts';

const Share = z.number().min(0).max(1);

export const EvidenceResource = z
  .enum(['radar', 'ad', 'ads', 'daily_activity', 'social_pages', 'store'])
  .meta({ description: 'Kind of record behind `url`.' });

export const Evidence = z
  .strictObject({
    resource: EvidenceResource,
    url: z.url().meta({ description: 'Address in this API, readable with the same key.' }),
  })
  .meta({ id: 'Evidence', description: 'Link to the full evidence of a signal.' });

export const Signal = z
  .strictObject({
    id: Uuid.meta({ description: 'Stable id: derived from brand, day and kind.' }),
    kind: SignalKind,
    date: CalendarDate.meta({ description: 'Day of observation, in UTC.' }),
    observed_at: Timestamp.meta({ description: 'When the newest of its changes was observed.' }),
    brand: BrandReference,
    summary: z.string().meta({ description: 'A sentence: what changed, never why.' }),
    counts: z
      .strictObject({
        items: Count.meta({
          description:
            'Ads started, ads stopped, links changed, pages, ads refreshed, ads with sale copy; of a ramp, drop or shift, active ads that day.',
        }),
        before: Count.nullable().meta({
          description:
            'Active ads on `compared_with`; of a shift, those in `format`; null for kinds that compare no days.',
        }),
        after: Count.nullable().meta({
          description:
            'Active ads on `date`; of a shift, those in `format`; null for kinds that compare no days.',
        }),
        share_before: Share.nullable().meta({
          description: 'Of a shift: share of `format` among active ads on `compared_with`; otherwise null.',
        }),
        share_after: Share.nullable().meta({
          description: 'Of a shift: share of `format` among active ads on `date`; otherwise null.',
        }),
        cheaper_share: Share.nullable().meta({
          description:
            'Of a sale: share of the catalogue that was listed at a lower price; null below one tenth.',
        }),
        usual: z
          .number()
          .min(0)
          .nullable()
          .meta({
            description: `Of a launch burst: mean of ads started on the reliable days of the ${SIGNAL_THRESHOLDS.launch_burst.windowDays} days before; otherwise null.`,
          }),
        uncovered: Count.nullable().meta({
          description:
            'Of a ramp or shift: ads taken off first, since they came into view since `compared_with` without having started then, or were counted under another format by another source; otherwise null.',
        }),
        withdrawn: Count.meta({
          description:
            'Ads or pages that were reported, and that a scan which arrived late showed to be otherwise. Not in `items`.',
        }),
        added: Count.meta({ description: 'Of `items`, those that a scan which arrived late added.' }),
      })
      .meta({ description: 'The figures of the change.' }),
    compared_with: CalendarDate.nullable().meta({
      description: 'The reliable day compared with; null for kinds that compare no days.',
    }),
    format: AdFormatName.nullable().meta({
      description: 'Of a shift: the format that moved most; otherwise null.',
    }),
    about: z
      .array(
        z.strictObject({
          ad: z
            .strictObject({ id: AdId, url: z.url().meta({ description: 'Address of the ad in this API.' }) })
            .nullable()
            .meta({ description: 'The ad, or null for a page alone.' }),
          page: AdPage.nullable().meta({ description: 'The page, or the page of the ad; null: not named.' }),
          role: PageRoleName.nullable().meta({
            description: 'Observed role of the page for the brand; null when the page was not linked.',
          }),
          destination_url: z
            .string()
            .nullable()
            .meta({ description: 'New link of the ad, or the new landing page; otherwise null.' }),
        }),
      )
      .max(SIGNAL_NAMES_MAX)
      .meta({
        description: `The pages or ads it is about, the first ${SIGNAL_NAMES_MAX} observed. Empty where the evidence alone lists them.`,
      }),
    evidence: z.array(Evidence).min(1).meta({ description: 'Where each item behind the figures is listed.' }),
    correction: RadarCorrection.nullable().meta({
      description:
        'Correction by a scan that arrived late. `withdrawn`: reported, but no signal in the order of observation. `added`: none was reported at the time. `changed`: some were withdrawn or added, or the figures of a day that it compares were corrected. Null: not corrected.',
    }),
  })
  .meta({ id: 'Signal', description: 'One kind of change of one brand on one day, without a cause.' });
export type Signal = z.infer<typeof Signal>;
