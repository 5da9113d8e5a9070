import { z } from 'zod';
import { CalendarDate, Count } from '#contracts/values/primitives.ts';
import { BrandSummary } from './brand.ts';
import { Demographics } from './traffic.ts';

export const Riser = z
  .strictObject({
    rank: z.int().min(1),
    brand: BrandSummary,
    active_ads: Count.meta({ description: 'On the recent reliable day.' }),
    previous_active_ads: Count.meta({ description: 'On the earlier reliable day.' }),
    growth: z.int().meta({ description: '`active_ads` minus `previous_active_ads`.' }),
    growth_rate: z
      .number()
      .nullable()
      .meta({ description: '`growth` divided by `previous_active_ads`; null when that is zero.' }),
    day: CalendarDate,
    previous_day: CalendarDate.meta({ description: '7 to 28 days before `day`.' }),
  })
  .meta({ id: 'Riser' });

export const NewAdvertiser = z
  .strictObject({
    rank: z.int().min(1),
    brand: BrandSummary,
    first_ad_started_on: CalendarDate,
    active_ads: Count,
  })
  .meta({ id: 'NewAdvertiser' });

export const AudienceBrand = z
  .strictObject({
    rank: z.int().min(1),
    brand: BrandSummary,
    monthly_visits: z.number().min(0).meta({ description: 'Estimated visits in a month.' }),
    estimated_for: CalendarDate.meta({ description: 'The day, or the first of the month, of the visits.' }),
    demographics: Demographics,
  })
  .meta({ id: 'AudienceBrand' });
