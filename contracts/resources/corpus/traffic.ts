import { z } from 'zod';
import { CalendarDate, Country } from '#contracts/values/primitives.ts';
import { BrandReference, BrandSummary } from './brand.ts';

/** Specification, part "Resources and their fields". */

const VISITS = "Visits of the site in a month, a traffic provider's estimate";
export const Visits = z
  .number()
  .min(0)
  .meta({ description: `${VISITS}.` });
export const VisitsOrNull = Visits.nullable().meta({ description: `${VISITS}; null: no estimate.` });

const Ranking = z.int().min(1).nullable();
const GlobalRanking = Ranking.meta({
  description: 'Place of the site among all sites by visits, 1 for the most visited; null: no estimate.',
});
const CategoryRanking = Ranking.meta({
  description: "Place of the site within the provider's category, from 1; null: no estimate.",
});
const ProviderCategory = z.string().nullable().meta({
  description: "The traffic provider's label, not a category of this service; null: none is stated.",
});

export const Rank = z
  .int()
  .min(1)
  .meta({ description: 'Place in the whole list, from 1 on its first page.' });

export const SimilarSite = z
  .strictObject({
    domain: z.string().min(1).max(253).meta({ description: 'Host of the similar site.' }),
    affinity: z.number().min(0).max(1).meta({ description: 'Similarity of the visitors, 0 to 1.' }),
    provider_category: ProviderCategory,
    brand: BrandReference.nullable().meta({
      description: 'The public brand that the site belongs to; null for other sites.',
    }),
    monthly_visits: VisitsOrNull,
    global_ranking: GlobalRanking,
  })
  .meta({ id: 'SimilarSite', description: "A site whose visitors resemble the brand's." });

export const TrajectoryPoint = z
  .strictObject({
    date: CalendarDate.meta({ description: 'The day, or the first of the month, that the figures are for.' }),
    global_ranking: GlobalRanking,
    category_ranking: CategoryRanking,
    monthly_visits: VisitsOrNull,
  })
  .meta({ id: 'TrajectoryPoint', description: "The provider's figures of the site for one day or month." });

const shareOf = (visitors: string) =>
  z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({ description: `Estimated share of ${visitors} among visitors, 0 to 1; null: not stated.` });

export const Demographics = z
  .strictObject({
    female: shareOf('women'),
    male: shareOf('men'),
    age_18_24: shareOf('people of 18 to 24 years'),
    age_25_34: shareOf('people of 25 to 34 years'),
    age_35_44: shareOf('people of 35 to 44 years'),
    age_45_54: shareOf('people of 45 to 54 years'),
    age_55_64: shareOf('people of 55 to 64 years'),
    age_65_plus: shareOf('people of 65 years or more'),
  })
  .meta({
    id: 'Demographics',
    description: 'Estimated shares of visitors, 0 to 1; null when the provider states none.',
  });

export const RankedBrand = z
  .strictObject({
    rank: Rank,
    brand: BrandSummary,
    monthly_visits: Visits,
    estimated_for: CalendarDate.meta({ description: 'The day, or the first of the month, of the visits.' }),
    country: Country.meta({ description: 'Where most visits come from, ISO 3166-1 alpha-2.' }),
    country_share: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Share of visits from this country, 0 to 1.' }),
    global_ranking: GlobalRanking,
    category_ranking: CategoryRanking,
    provider_category: ProviderCategory,
  })
  .meta({
    id: 'RankedBrand',
    description: 'A brand in the ranking of the country that most of its visits come from.',
  });
