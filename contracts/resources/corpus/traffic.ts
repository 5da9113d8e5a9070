import { z } from 'zod';
import { CalendarDate, Country } from '#contracts/values/primitives.ts';
import { BrandReference, BrandSummary } from './brand.ts';

/** Specification, part "Resources and their fields". */

const Visits = z.number().min(0).meta({ description: 'Estimated visits in a month.' });
const Ranking = z.int().min(1);

export const SimilarSite = z
  .strictObject({
    domain: z.string().min(1).max(253),
    affinity: z.number().min(0).max(1).meta({ description: 'Similarity of the visitors, 0 to 1.' }),
    provider_category: z
      .string()
      .nullable()
      .meta({ description: "The traffic provider's label, not a category of this service." }),
    brand: BrandReference.nullable().meta({
      description: 'The public brand that the site belongs to; null for other sites.',
    }),
    monthly_visits: Visits.nullable(),
    global_ranking: Ranking.nullable(),
  })
  .meta({ id: 'SimilarSite' });

export const TrajectoryPoint = z
  .strictObject({
    date: CalendarDate.meta({ description: 'The day, or the first of the month, that the figures are for.' }),
    global_ranking: Ranking.nullable(),
    category_ranking: Ranking.nullable().meta({ description: "Within the provider's category." }),
    monthly_visits: Visits.nullable(),
  })
  .meta({ id: 'TrajectoryPoint' });

const Share = z.number().min(0).max(1).nullable();

export const Demographics = z
  .strictObject({
    female: Share,
    male: Share,
    age_18_24: Share,
    age_25_34: Share,
    age_35_44: Share,
    age_45_54: Share,
    age_55_64: Share,
    age_65_plus: Share,
  })
  .meta({
    id: 'Demographics',
    description: 'Estimated shares of visitors, 0 to 1; null when the provider states none.',
  });

export const RankedBrand = z
  .strictObject({
    rank: z.int().min(1),
    brand: BrandSummary,
    monthly_visits: Visits,
    estimated_for: CalendarDate.meta({ description: 'The day, or the first of the month, of the visits.' }),
    country: Country.meta({ description: 'Where most visits come from.' }),
    country_share: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Share of visits from this country, 0 to 1.' }),
    global_ranking: Ranking.nullable(),
    category_ranking: Ranking.nullable().meta({ description: "Within the provider's category." }),
    provider_category: z.string().nullable(),
  })
  .meta({ id: 'RankedBrand' });
