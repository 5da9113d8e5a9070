import { z } from 'zod';
import { asciiDomain, Country, ObservedDate, Timestamp } from '../values/primitives.ts';
import { cutKeyText, cutTrimmedText } from '../values/text.ts';

/** More than any site has, and small enough that the visits of a whole corpus add up exactly. */
export const MONTHLY_VISITS_MAX = 1_000_000_000_000;
export const RANK_MAX = 1_000_000_000;
export const TRAFFIC_COUNTRIES_MAX = 250;
export const SIMILAR_SITES_MAX = 100;
/** Each share is rounded separately, so the sum may slightly exceed 1. */
export const SHARES_SUM_MAX = 1.02;

const PROVIDER_MAX_CHARACTERS = 100;
const PROVIDER_CATEGORY_MAX_CHARACTERS = 200;

/** Includes sites that cannot be a brand's, such as internationalised top-level domains (`xn--p1ai`). */
export const SiteDomain = z
  .string()
  .overwrite(asciiDomain)
  .max(253)
  .regex(/^[a-z0-9_.-]+\.(?:[a-z]{2,}|xn--[a-z0-9-]+)$/, 'a host name in lower case');

const Share = z.number().min(0, 'a share is 0 to 1').max(1, 'a share is 0 to 1, not a percentage');
const Rank = z.int().min(1).max(RANK_MAX);
const ProviderCategory = cutTrimmedText(PROVIDER_CATEGORY_MAX_CHARACTERS);

const sumOf = (shares: readonly (number | null)[]): number =>
  shares.reduce<number>((sum, share) => sum + (share ?? 0), 0);
const fitIntoWhole = (...shares: readonly (number | null)[]): boolean => sumOf(shares) <= SHARES_SUM_MAX;
const areDistinct = (keys: readonly string[]): boolean => new Set(keys).size === keys.length;

export const EstimatePeriod = z.union(
  [ObservedDate, z.string().regex(/^2[01][0-9]{2}-(0[1-9]|1[0-2])$/)],
  'a month YYYY-MM or a date YYYY-MM-DD',
);

export const DemographicShares = z
  .strictObject({
    female: Share.nullable(),
    male: Share.nullable(),
    age_18_24: Share.nullable(),
    age_25_34: Share.nullable(),
    age_35_44: Share.nullable(),
    age_45_54: Share.nullable(),
    age_55_64: Share.nullable(),
    age_65_plus: Share.nullable(),
  })
  .refine(
    ({ female, male }) => fitIntoWhole(female, male),
    'female and male together are more than the whole',
  )
  .refine(
    ({ female: _female, male: _male, ...ages }) => fitIntoWhole(...Object.values(ages)),
    'the age groups together are more than the whole',
  );

/** Most similar sites of a list that is too long, in its order. */
const mostSimilar = <Site extends { readonly affinity: number }>(sites: Site[]): Site[] => {
  if (sites.length <= SIMILAR_SITES_MAX) return sites;
  const kept = new Set(sites.toSorted((a, b) => b.affinity - a.affinity).slice(0, SIMILAR_SITES_MAX));
  return sites.filter((site) => kept.has(site));
};

export const EstimatedSimilarSite = z.strictObject({
  domain: SiteDomain,
  affinity: z.number().min(0).max(1),
  provider_category: ProviderCategory.nullable(),
});

/** Estimates name their provider. `null` means unknown and overwrites nothing. There are no fields for money. */
export const TrafficEstimate = z
  .strictObject({
    type: z.literal('traffic.estimate'),
    domain: SiteDomain,
    observed_at: Timestamp,
    period: EstimatePeriod,
    provider: cutKeyText(PROVIDER_MAX_CHARACTERS),
    monthly_visits: z.int().min(0).max(MONTHLY_VISITS_MAX).nullable(),
    global_rank: Rank.nullable(),
    category_rank: Rank.nullable(),
    /** The provider's own label, not a category of this service. */
    provider_category: ProviderCategory.nullable(),
    countries: z
      .array(z.strictObject({ country: Country, share: Share }))
      .min(1)
      .max(TRAFFIC_COUNTRIES_MAX)
      .refine((list) => areDistinct(list.map(({ country }) => country)), 'names a country twice')
      .refine((list) => fitIntoWhole(...list.map(({ share }) => share)), 'adds up to more than 1')
      .nullable(),
    demographics: DemographicShares.nullable(),
    similar_sites: z
      .array(EstimatedSimilarSite)
      .min(1)
      .refine((list) => areDistinct(list.map(({ domain }) => domain)), 'names a site twice')
      .overwrite(mostSimilar)
      .nullable(),
  })
  .refine(({ period, observed_at }) => period <= observed_at.slice(0, period.length), {
    path: ['period'],
    message: 'lies after the observation; estimates cover past periods only',
  })
  .refine(({ domain, similar_sites }) => !similar_sites?.some((site) => site.domain === domain), {
    path: ['similar_sites'],
    message: 'names the site itself; remove it',
  });
export type TrafficEstimate = z.infer<typeof TrafficEstimate>;
