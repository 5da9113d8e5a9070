import type { SimilarSite, TrafficEvent, TrafficFigures } from '#contracts/events/corpus/traffic.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import { compareFields, type FieldTimes, isNews, withTimes } from './dated-fields.ts';
import type { Decider } from '../decider.ts';
import { brandIdOf } from '../ids.ts';
import { PersistentMap } from '../persistent-map.ts';

/** The fields always have the same order. */
type ExistingFigures = { readonly values: Partial<TrafficFigures>; readonly times: FieldTimes };
const NO_FIGURES: ExistingFigures = { values: {}, times: {} };

/** The date of a month is its first day. */
export type TrafficState = PersistentMap<ExistingFigures>;

const initial: TrafficState = PersistentMap.empty<ExistingFigures>();

const evolve = (state: TrafficState, event: TrafficEvent): TrafficState => {
  const { date, observed_at, figures, confirmed } = event.data;
  const existing = state.get(date) ?? NO_FIGURES;
  return state.with(date, {
    values: { ...existing.values, ...figures },
    times: withTimes(existing.times, observed_at, Object.keys(figures), confirmed),
  });
};

export const traffic: Decider<TrafficState, TrafficEvent> = { initial, evolve };

const descending =
  <T>(sizeOf: (item: T) => number, keyOf: (item: T) => string) =>
  (one: T, other: T): number =>
    sizeOf(other) - sizeOf(one) || (keyOf(one) < keyOf(other) ? -1 : 1);

const similarSitesOf = (sites: NonNullable<TrafficEstimate['similar_sites']>): SimilarSite[] =>
  sites
    .toSorted(
      descending(
        ({ affinity }) => affinity,
        ({ domain }) => domain,
      ),
    )
    .map(({ domain, affinity, provider_category }) => ({
      domain,
      brand_id: brandIdOf(domain),
      affinity,
      provider_category,
    }));

const statedFields = (estimate: TrafficEstimate): Partial<TrafficFigures> => ({
  ...(estimate.monthly_visits === null ? {} : { monthly_visits: estimate.monthly_visits }),
  ...(estimate.global_rank === null ? {} : { global_ranking: estimate.global_rank }),
  ...(estimate.category_rank === null ? {} : { category_ranking: estimate.category_rank }),
  ...(estimate.provider_category === null ? {} : { provider_category: estimate.provider_category }),
  ...(estimate.countries === null
    ? {}
    : {
        countries: estimate.countries
          .map(({ country, share }) => ({ country, share }))
          .toSorted(
            descending(
              ({ share }) => share,
              ({ country }) => country,
            ),
          ),
      }),
  ...(estimate.demographics === null ? {} : { demographics: demographicsOf(estimate.demographics) }),
  ...(estimate.similar_sites === null ? {} : { similar_sites: similarSitesOf(estimate.similar_sites) }),
});

const demographicsOf = (
  shares: NonNullable<TrafficEstimate['demographics']>,
): TrafficFigures['demographics'] => ({
  female: shares.female,
  male: shares.male,
  age_18_24: shares.age_18_24,
  age_25_34: shares.age_25_34,
  age_35_44: shares.age_35_44,
  age_45_54: shares.age_45_54,
  age_55_64: shares.age_55_64,
  age_65_plus: shares.age_65_plus,
});

const FIRST_OF_MONTH = '-01';
const MONTH_CHARACTERS = 'YYYY-MM'.length;

/** Each figure has the value of its newest observation, so a file can be imported twice. */
export const recordTrafficEstimate =
  (estimate: TrafficEstimate) =>
  (state: TrafficState): TrafficEvent[] => {
    const { domain, period, provider, observed_at } = estimate;
    const date = period.length === MONTH_CHARACTERS ? `${period}${FIRST_OF_MONTH}` : period;
    const compared = compareFields(state.get(date) ?? NO_FIGURES, statedFields(estimate), observed_at);
    if (!isNews(compared)) return [];
    const { changes: figures, ...confirmation } = compared;
    return [
      {
        type: 'TrafficEstimated',
        data: { domain, brand_id: brandIdOf(domain), date, provider, observed_at, figures, ...confirmation },
      },
    ];
  };
