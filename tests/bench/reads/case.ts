import { samples } from '../runner/bench.ts';

/** Paths are requested in rotation. */
export type Case = {
  readonly endpoint: string;
  readonly filters: readonly string[];
  readonly paths: readonly string[];
  readonly paged: boolean;
};

/** Query strings of a filter, by the label in the table. */
type Filters = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const COMBINATIONS_MAX = samples(6);

export const listOf = (path: string, filters: Filters, endpoint = path): readonly Case[] => {
  const withQuery = (query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;
  const none: Case = { endpoint, filters: [], paths: [path], paged: true };
  const singles = Object.entries(filters).flatMap(([name, kinds]) =>
    Object.entries(kinds).map(
      ([kind, queries]): Case => ({
        endpoint,
        filters: [kind === '' ? name : `${name} ${kind}`],
        paths: queries.map(withQuery),
        paged: true,
      }),
    ),
  );
  const names = Object.keys(filters);
  const pairs = names.flatMap((one, index) =>
    names.slice(index + 1).map((other): Case => {
      const queries = Object.values(filters[one] ?? {}).flatMap(([a]) =>
        Object.values(filters[other] ?? {}).map(([b]) => `${a}&${b}`),
      );
      return {
        endpoint,
        filters: [one, other],
        paths: spread(queries, COMBINATIONS_MAX).map(withQuery),
        paged: true,
      };
    }),
  );
  return [none, ...singles, ...pairs];
};

const spread = <T>(items: readonly T[], max: number): readonly T[] =>
  items.length <= max
    ? items
    : Array.from({ length: max }, (_, index) => items[Math.floor((index * items.length) / max)] as T);

export const one = (endpoint: string, paths: readonly string[]): Case => ({
  endpoint,
  filters: [],
  paths,
  paged: false,
});
