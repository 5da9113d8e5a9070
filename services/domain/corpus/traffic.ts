import type { SimilarSite, TrafficEvent, TrafficFigures } from '#contracts/events/corpus/traffic.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import type { Decider } from '../decider.ts';
import { brandIdOf } from '../ids.ts';
import { PersistentMap } from '../persistent-map.ts';

/**
 * Aggregate traffic, stream `traffic-<domain>`: estimated traffic figures of one site, by month or day.
 * Parts, in order: state, evolve, decision (`recordTrafficEstimate`).
 */

type FigureName = keyof TrafficFigures;
/** A figure of one month or day as JSON text, and the time of the observation that last changed it. */
type DatedFigure = { readonly text: string; readonly observed_at: string };
type ExistingFigures = Partial<Readonly<Record<FigureName, DatedFigure>>>;

/** Estimated figures by date. The date of a month is its first day. */
export type TrafficState = PersistentMap<ExistingFigures>;

const initial: TrafficState = PersistentMap.empty<ExistingFigures>();

/** Returns the JSON text of a figure. Fields always have the same order, so equal figures have equal texts. */
const figureText = (figure: unknown): string => JSON.stringify(figure);

const evolve = (state: TrafficState, event: TrafficEvent): TrafficState => {
  const { date, observed_at, figures } = event.data;
  const stated = Object.entries(figures).map(
    ([name, figure]) => [name, { text: figureText(figure), observed_at }] as const,
  );
  return state.with(date, { ...state.get(date), ...Object.fromEntries(stated) });
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

/** Returns the figures that an estimate states; blanks are left out. */
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

/**
 * Records the figures of a month or day that are new or changed. Figures of other months stay unchanged, so an
 * estimate of an old month is recorded for that month at any time. An existing figure changes only when the
 * observation is newer. A file can therefore be imported twice, even one that contradicts itself.
 */
export const recordTrafficEstimate =
  (estimate: TrafficEstimate) =>
  (state: TrafficState): TrafficEvent[] => {
    const { domain, period, provider, observed_at } = estimate;
    const date = period.length === MONTH_CHARACTERS ? `${period}${FIRST_OF_MONTH}` : period;
    const existing = state.get(date) ?? {};
    const changed = Object.entries(statedFields(estimate)).filter(([name, figure]) => {
      const before = existing[name as FigureName];
      return before === undefined || (observed_at > before.observed_at && before.text !== figureText(figure));
    });
    if (changed.length === 0) return [];
    const figures = Object.fromEntries(changed) as Partial<TrafficFigures>;
    return [
      {
        type: 'TrafficEstimated',
        data: { domain, brand_id: brandIdOf(domain), date, provider, observed_at, figures },
      },
    ];
  };
