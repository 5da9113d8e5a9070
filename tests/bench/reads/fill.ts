import type { Projection, Statement } from '#projections/define-projection.ts';

/** The projection's schema is first in the search path. */
export type Fill = { readonly projection: Projection; readonly sql: readonly string[] };

export const run = ({ sql }: Statement, input: string): string =>
  sql.replaceAll(':input', () => `(${input})`);

/** Throws if there is none. */
export const statementOf = ({ name, statements }: Projection, which: string): Statement => {
  const statement = statements[which];
  if (statement === undefined) throw new Error(`The projection ${name} has no statement ${which}.`);
  return statement;
};

/** Namings of categories. Rank 0 is the definition itself. */
export const CATEGORY_NAMINGS = `select category_id, parent_id, level, slug, name, 0 as named_rank,
  now() - interval '400 days' as named_at, category_id as named_by from bench.category`;

export const BRAND_REFERENCES = 'brand_id, slug, name, logo_url';
export const BRAND_FACETS = 'country, is_public, category_ids';
export const brandsWith = (columns: string): string =>
  `insert into brand (${columns}) select ${columns} from bench.brand; analyze brand`;
