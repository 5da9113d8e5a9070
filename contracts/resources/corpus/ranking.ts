import { z } from 'zod';
import { CalendarDate, Count } from '#contracts/values/primitives.ts';
import { BrandSummary } from './brand.ts';
import { Demographics, Rank, Visits } from './traffic.ts';

export const Riser = z
  .strictObject({
    rank: Rank,
    brand: BrandSummary,
    active_ads: Count.meta({ description: 'Active ads on the recent reliable day.' }),
    previous_active_ads: Count.meta({ description: 'Active ads on the earlier reliable day.' }),
    growth: z.int().meta({ description: '`active_ads` minus `previous_active_ads`.' }),
    growth_rate: z
      .number()
      .nullable()
      .meta({ description: '`growth` divided by `previous_active_ads`; null when that is zero.' }),
    day: CalendarDate.meta({ description: 'The recent reliable day, in UTC, within the last week.' }),
    previous_day: CalendarDate.meta({ description: 'The earlier reliable day, 7 to 28 days before `day`.' }),
  })
  .meta({ id: 'Riser', description: 'A brand whose active ads grew.' });

export const NewAdvertiser = z
  .strictObject({
    rank: Rank,
    brand: BrandSummary,
    first_ad_started_on: CalendarDate.meta({ description: 'When the first ad attributed to it started.' }),
    active_ads: Count.meta({ description: 'Its ads not confirmed inactive when the list was written.' }),
  })
  .meta({
    id: 'NewAdvertiser',
    description: 'A brand known before the window that first advertised within it.',
  });

export const AudienceBrand = z
  .strictObject({
    rank: Rank,
    brand: BrandSummary,
    monthly_visits: Visits,
    estimated_for: CalendarDate.meta({ description: 'The day, or the first of the month, of the visits.' }),
    demographics: Demographics,
  })
  .meta({ id: 'AudienceBrand', description: 'A brand whose visitors make up the segment.' });
