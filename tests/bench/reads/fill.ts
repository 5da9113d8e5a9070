import type { Projection, Statement } from '#projections/define-projection.ts';

/** How the tables of one projection are filled: SQL that runs with its schema first in the search path. */
export type Fill = { readonly projection: Projection; readonly sql: readonly string[] };

/** A statement of the projection itself, run over the rows that `input` selects. */
export const run = ({ sql }: Statement, input: string): string =>
  sql.replaceAll(':input', () => `(${input})`);

/** The statement of this name, which the projection has. */
export const statementOf = ({ name, statements }: Projection, which: string): Statement => {
  const statement = statements[which];
  if (statement === undefined) throw new Error(`the projection ${name} has no statement ${which}`);
  return statement;
};

/** Who the brands are, for the table `brand` that many projections keep. */
export const BRAND_REFERENCES = 'brand_id, slug, name, logo_url';
export const BRAND_FACETS = 'country, is_public, category_ids';
export const brandsWith = (columns: string): string =>
  `insert into brand (${columns}) select ${columns} from bench.brand; analyze brand`;
