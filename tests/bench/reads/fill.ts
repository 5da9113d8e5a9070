import type { Projection, Statement } from '#projections/define-projection.ts';

/** SQL that fills the tables of one projection. It runs with the projection's schema first in the search path. */
export type Fill = { readonly projection: Projection; readonly sql: readonly string[] };

/** Returns the SQL of a projection's own statement, applied to the rows that `input` selects. */
export const run = ({ sql }: Statement, input: string): string =>
  sql.replaceAll(':input', () => `(${input})`);

/** Returns the projection's statement with this name. Throws if there is none. */
export const statementOf = ({ name, statements }: Projection, which: string): Statement => {
  const statement = statements[which];
  if (statement === undefined) throw new Error(`The projection ${name} has no statement ${which}.`);
  return statement;
};

/** Selects the namings of categories, as their own definitions state them. The rank 0 is that of a definition. */
export const CATEGORY_NAMINGS = `select category_id, parent_id, level, slug, name, 0 as named_rank,
  now() - interval '400 days' as named_at, category_id as named_by from bench.category`;

/** Columns of the `brand` table that many projections have. */
export const BRAND_REFERENCES = 'brand_id, slug, name, logo_url';
export const BRAND_FACETS = 'country, is_public, category_ids';
export const brandsWith = (columns: string): string =>
  `insert into brand (${columns}) select ${columns} from bench.brand; analyze brand`;
