import { z } from 'zod';
import { PageRole } from '#contracts/observations/social-page-link.ts';
import { AdFormat, CalendarDate, Count, LibraryId, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { SIGNAL_NAMES_MAX, SIGNAL_THRESHOLDS, SignalKind } from '#contracts/values/signals.ts';
import { AdPage } from '../corpus/ads/creative.ts';
import { BrandReference } from '../corpus/brand.ts';
import { RadarCorrection } from './radar.ts';

const Share = z.number().min(0).max(1);

export const EvidenceResource = z.enum(['radar', 'ad', 'ads', 'daily_activity', 'social_pages', 'store']);

export const Evidence = z
  .strictObject({
    resource: EvidenceResource,
    url: z.url().meta({ description: 'URL in this service, readable with the same key.' }),
  })
  .meta({ id: 'Evidence', description: 'Link to the full evidence of a signal.' });

/** One kind of change of one brand on one day, without a cause. */
export const Signal = z
  .strictObject({
    id: Uuid.meta({ description: 'Stable id: derived from brand, day and kind.' }),
    kind: SignalKind,
    date: CalendarDate.meta({ description: 'Day of observation, in UTC.' }),
    observed_at: Timestamp.meta({ description: 'When the newest of its changes was observed.' }),
    brand: BrandReference,
    summary: z.string().meta({ description: 'A sentence: what changed, never why.' }),
    counts: z.strictObject({
      items: Count.meta({
        description:
          'Ads started, ads stopped, links changed, pages, ads refreshed, ads with sale copy; of a ramp, drop or shift, active ads that day.',
      }),
      before: Count.nullable().meta({
        description: 'Active ads on `compared_with`; of a shift, those in `format`.',
      }),
      after: Count.nullable().meta({ description: 'Active ads on `date`; of a shift, those in `format`.' }),
      share_before: Share.nullable().meta({
        description: 'Of a shift: share of `format` among active ads on `compared_with`.',
      }),
      share_after: Share.nullable().meta({
        description: 'Of a shift: share of `format` among active ads on `date`.',
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
          description: `Of a launch burst: mean of ads started on the reliable days of the ${SIGNAL_THRESHOLDS.launch_burst.windowDays} days before.`,
        }),
      uncovered: Count.nullable().meta({
        description:
          'Of a ramp or shift: ads taken off first, since they came into view since `compared_with` without having started then, or were counted under another format by another source.',
      }),
      withdrawn: Count.meta({
        description:
          'Ads or pages that were reported, and that a scan which arrived late showed to be otherwise. Not in `items`.',
      }),
      added: Count.meta({ description: 'Of `items`, those that a scan which arrived late added.' }),
    }),
    compared_with: CalendarDate.nullable().meta({ description: 'The reliable day compared with.' }),
    format: AdFormat.nullable().meta({ description: 'Of a shift: the format that moved most.' }),
    about: z
      .array(
        z.strictObject({
          ad: z
            .strictObject({ id: LibraryId, url: z.url().meta({ description: 'The ad in this service.' }) })
            .nullable(),
          page: AdPage.nullable(),
          role: PageRole.nullable().meta({
            description: 'Observed role of the page for the brand; null when the page was not linked.',
          }),
          destination_url: z.string().nullable(),
        }),
      )
      .max(SIGNAL_NAMES_MAX)
      .meta({
        description: `The pages or ads it is about, the first ${SIGNAL_NAMES_MAX} observed. Empty where the evidence alone lists them.`,
      }),
    evidence: z.array(Evidence).min(1),
    correction: RadarCorrection.nullable().meta({
      description:
        'Correction by a scan that arrived late. `withdrawn`: reported, but no signal in the order of observation. `added`: none was reported at the time. `changed`: some were withdrawn or added, or the figures of a day that it compares were corrected. Null: not corrected.',
    }),
  })
  .meta({ id: 'Signal' });
export type Signal = z.infer<typeof Signal>;
