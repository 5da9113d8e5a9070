import type { SimilarSite, TrafficEvent, TrafficFigures } from '#contracts/events/corpus/traffic.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import { brandIdOf } from '../ids.ts';
import { PersistentMap } from '../persistent-map.ts';

type FigureName = keyof TrafficFigures;
/** A figure of one month or day as text, and when it was last said anew. */
type Said = { readonly text: string; readonly observed_at: string };
type Known = Partial<Readonly<Record<FigureName, Said>>>;

/** Day, or first of the month, to what was estimated for it. */
export type TrafficState = PersistentMap<Known>;

/** Figures are plain values, always written in one order, so that equal figures have equal texts. */
const textOf = (figure: unknown): string => JSON.stringify(figure);

export const traffic = {
  initial: PersistentMap.empty<Known>(),
  evolve: (state: TrafficState, event: TrafficEvent): TrafficState => {
    const { date, observed_at, figures } = event.data;
    const said = Object.entries(figures).map(
      ([name, figure]) => [name, { text: textOf(figure), observed_at }] as const,
    );
    return state.with(date, { ...state.get(date), ...Object.fromEntries(said) });
  },
};

const bySize =
  <T>(sizeOf: (item: T) => number, keyOf: (item: T) => string) =>
  (one: T, other: T): number =>
    sizeOf(other) - sizeOf(one) || (keyOf(one) < keyOf(other) ? -1 : 1);

const similarSitesOf = (sites: NonNullable<TrafficEstimate['similar_sites']>): SimilarSite[] =>
  sites
    .toSorted(
      bySize(
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

/** What an estimate says, without what it leaves unsaid. */
const saidBy = (estimate: TrafficEstimate): Partial<TrafficFigures> => ({
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
            bySize(
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
 * Records the figures of a month or day that are new or other than known for it. Another month's figures stay as
 * they are, so that an estimate of an old month is history of that month, whenever it comes. A figure said at the
 * same moment or before changes nothing: importing a file twice is harmless, also one that contradicts itself.
 */
export const recordTrafficEstimate =
  (estimate: TrafficEstimate) =>
  (state: TrafficState): TrafficEvent[] => {
    const { domain, period, provider, observed_at } = estimate;
    const date = period.length === MONTH_CHARACTERS ? `${period}${FIRST_OF_MONTH}` : period;
    const known = state.get(date) ?? {};
    const changed = Object.entries(saidBy(estimate)).filter(([name, figure]) => {
      const before = known[name as FigureName];
      return before === undefined || (observed_at > before.observed_at && before.text !== textOf(figure));
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
