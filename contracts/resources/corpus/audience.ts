import { z } from 'zod';
import { CalendarDate } from '#contracts/values/primitives.ts';
import { BrandSummary } from './brand.ts';
import { Demographics } from './traffic.ts';

export const AudienceBrand = z
  .strictObject({
    rank: z.int().min(1),
    brand: BrandSummary,
    monthly_visits: z.number().min(0).meta({ description: 'Estimated visits in a month.' }),
    estimated_for: CalendarDate.meta({ description: 'The day, or the first of the month, of the visits.' }),
    demographics: Demographics,
  })
  .meta({ id: 'AudienceBrand' });
