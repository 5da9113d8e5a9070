import { z } from 'zod';
import { Country, ObservedDate, Timestamp } from '../values/primitives.ts';
import { trimmedText } from '../values/text.ts';

/** More than any site has, and small enough that the visits of a whole corpus add up exactly. */
export const MONTHLY_VISITS_MAX = 1_000_000_000_000;
export const RANK_MAX = 1_000_000_000;
export const TRAFFIC_COUNTRIES_MAX = 250;
export const SIMILAR_SITES_MAX = 100;
/** Shares of one whole are rounded each by itself, so that together they may pass it by a little. */
export const SHARES_SUM_MAX = 1.02;

const PROVIDER_MAX_CHARACTERS = 100;
const PROVIDER_CATEGORY_MAX_CHARACTERS = 200;

/**
 * A host name. Sites are estimated, and ranked, that can be no brand's: their names may end in an internationalised
 * top level, as `xn--p1ai`.
 */
export const SiteDomain = z
  .string()
  .max(253)
  .regex(/^[a-z0-9_.-]+\.(?:[a-z]{2,}|xn--[a-z0-9-]+)$/, 'a host name in lower case');

/** A part of a whole: 0 to 1, and not a percentage. */
const Share = z.number().min(0, 'a share is 0 to 1').max(1, 'a share is 0 to 1, not a percentage');
const Rank = z.int().min(1).max(RANK_MAX);
const ProviderCategory = trimmedText(PROVIDER_CATEGORY_MAX_CHARACTERS);

const sumOf = (shares: readonly (number | null)[]): number =>
  shares.reduce<number>((sum, share) => sum + (share ?? 0), 0);
const areParts = (...shares: readonly (number | null)[]): boolean => sumOf(shares) <= SHARES_SUM_MAX;
const distinct = (keys: readonly string[]): boolean => new Set(keys).size === keys.length;

/** `2026-05` for a month, or a day of its own. */
export const EstimatePeriod = z.union(
  [ObservedDate, z.string().regex(/^2[01][0-9]{2}-(0[1-9]|1[0-2])$/)],
  'a month YYYY-MM or a date YYYY-MM-DD',
);

/** Shares of visitors by sex and by age; each may be unknown. */
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
  .refine(({ female, male }) => areParts(female, male), 'female and male together are more than the whole')
  .refine(
    ({ female: _female, male: _male, ...ages }) => areParts(...Object.values(ages)),
    'the age groups together are more than the whole',
  );

/** A site whose visitors are alike, as the provider judges. */
export const EstimatedSimilarSite = z.strictObject({
  domain: SiteDomain,
  /** 0 to 1. */
  affinity: z.number().min(0).max(1),
  provider_category: ProviderCategory.nullable(),
});

/**
 * What a provider of traffic estimates says of one site for one month or day. Estimates, not measurements: the
 * provider is named with them. `null` means "not said" and overwrites nothing. There are no fields for money.
 */
export const TrafficEstimate = z
  .strictObject({
    type: z.literal('traffic.estimate'),
    domain: SiteDomain,
    observed_at: Timestamp,
    /** The month or day it is for, which may lie well before it was observed. */
    period: EstimatePeriod,
    provider: trimmedText(PROVIDER_MAX_CHARACTERS),
    /** Visits in a month. */
    monthly_visits: z.int().min(0).max(MONTHLY_VISITS_MAX).nullable(),
    /** Place among all sites, 1 for the most visited. */
    global_rank: Rank.nullable(),
    /** Place among the sites of the provider's category. */
    category_rank: Rank.nullable(),
    /** The provider's own label, not a category of ours. */
    provider_category: ProviderCategory.nullable(),
    /** Where visits come from. */
    countries: z
      .array(z.strictObject({ country: Country, share: Share }))
      .min(1)
      .max(TRAFFIC_COUNTRIES_MAX)
      .refine((list) => distinct(list.map(({ country }) => country)), 'names a country twice')
      .refine((list) => areParts(...list.map(({ share }) => share)), 'adds up to more than the whole')
      .nullable(),
    demographics: DemographicShares.nullable(),
    similar_sites: z
      .array(EstimatedSimilarSite)
      .min(1)
      .max(SIMILAR_SITES_MAX)
      .refine((list) => distinct(list.map(({ domain }) => domain)), 'names a site twice')
      .nullable(),
  })
  .refine(({ period, observed_at }) => period <= observed_at.slice(0, period.length), {
    path: ['period'],
    message: 'lies after the observation; nobody estimates what is yet to come',
  })
  .refine(({ domain, similar_sites }) => !similar_sites?.some((site) => site.domain === domain), {
    path: ['similar_sites'],
    message: 'names the site itself; take it out',
  });
export type TrafficEstimate = z.infer<typeof TrafficEstimate>;
