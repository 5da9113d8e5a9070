import { segmentsOf } from '#contracts/values/audience-segments.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { TrafficEstimated } from '#contracts/events/corpus/traffic.ts';
import type { Change, Row, Statement } from '../define-projection.ts';

/** The newest month or day per figure, its date in `<figure>_on`. Tables: key `brand_id`, with `observed_at`. */
const FIGURES = {
  monthly_visits: 'bigint',
  global_ranking: 'bigint',
  category_ranking: 'bigint',
  provider_category: 'text',
  top_country: 'text',
  top_country_share: 'float8',
  demographics: 'text',
  segments: 'jsonb',
  similar_sites: 'jsonb',
} as const;
export type LatestFigure = keyof typeof FIGURES;

const joined = (names: readonly LatestFigure[], write: (name: LatestFigure) => string): string =>
  names.map(write).join(',\n      ');

const columnsOf = ({ figures }: TrafficEstimated['data'], names: readonly LatestFigure[]): Row => {
  const [top] = figures.countries ?? [];
  const all: Readonly<Record<LatestFigure, Row[string]>> = {
    monthly_visits: figures.monthly_visits ?? null,
    global_ranking: figures.global_ranking ?? null,
    category_ranking: figures.category_ranking ?? null,
    provider_category: figures.provider_category ?? null,
    top_country: top?.country ?? null,
    top_country_share: top?.share ?? null,
    demographics: figures.demographics === undefined ? null : JSON.stringify(figures.demographics),
    segments: figures.demographics === undefined ? null : segmentsOf(figures.demographics),
    similar_sites: figures.similar_sites ?? null,
  };
  return Object.fromEntries(names.map((name) => [name, all[name]]));
};

export const latestEstimate = (
  table: string,
  names: readonly LatestFigure[],
): {
  readonly statement: Statement;
  readonly change: (event: RecordedEvent<TrafficEstimated>) => Change;
} => ({
  statement: {
    columns: {
      brand_id: 'uuid',
      date: 'date',
      revision: 'bigint',
      observed_at: 'timestamptz',
      ...Object.fromEntries(names.map((name) => [name, FIGURES[name]])),
    },
    touches: [table],
    sql: `
    insert into ${table} as s (brand_id, observed_at, ${joined(names, (name) => `${name}, ${name}_on`)})
    select brand_id, max(observed_at), ${joined(
      names,
      (name) => `(array_agg(${name} order by date desc, revision desc) filter (where ${name} is not null))[1],
        max(date) filter (where ${name} is not null)`,
    )}
    from :input i group by brand_id
    on conflict (brand_id) do update set observed_at = greatest(s.observed_at, excluded.observed_at),
      ${joined(
        names,
        (name) => `${name} = case when excluded.${name}_on >= coalesce(s.${name}_on, excluded.${name}_on)
          then excluded.${name} else s.${name} end,
        ${name}_on = greatest(s.${name}_on, excluded.${name}_on)`,
      )}`,
  },
  change: ({ data, revision }) => ({
    kind: 'run',
    statement: 'latest_estimate',
    row: {
      brand_id: data.brand_id,
      date: data.date,
      revision,
      observed_at: data.observed_at,
      ...columnsOf(data, names),
    },
  }),
});
