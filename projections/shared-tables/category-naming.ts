import type { BrandEvent, CategoryOnPath } from '#contracts/events/corpus/brand.ts';
import type { CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { Change, Statement } from '../define-projection.ts';

/**
 * Names of categories. A definition has precedence over a brand's path, which only places the brand. Among paths the
 * earliest brand profile counts, so the order of streams does not matter.
 */

/** Lower ranks win: a category's own definition, the path of another, a brand profile. */
const RANK = { definition: 0, pathOfDefinition: 1, brand: 2 } as const;

export type CategoryNaming = {
  readonly category_id: string;
  readonly slug: string;
  readonly name: string;
  readonly named_rank: number;
  readonly named_at: string;
  readonly named_by: string;
};

export const namingsByBrand = (
  path: readonly CategoryOnPath[],
  brandId: string,
  observedAt: string,
): readonly CategoryNaming[] =>
  path.map(({ id, slug, name }) => ({
    category_id: id,
    slug,
    name,
    named_rank: RANK.brand,
    named_at: observedAt,
    named_by: brandId,
  }));

export const namingsByDefinition = (
  path: readonly CategoryOnPath[],
  categoryId: string,
  observedAt: string,
): readonly CategoryNaming[] =>
  path.map(({ id, slug, name }) => ({
    category_id: id,
    slug,
    name,
    named_rank: id === categoryId ? RANK.definition : RANK.pathOfDefinition,
    named_at: observedAt,
    named_by: categoryId,
  }));

/** The lowest rank wins, then the earliest time, then the id of the source. `placing`: types of further columns. */
export const nameCategory = (placing: Readonly<Record<string, string>>): Statement => {
  const set = ['slug', 'name', 'named_rank', 'named_at', 'named_by', ...Object.keys(placing)];
  const precedence = (row: string): string =>
    `${row}.named_rank, ${row}.named_at, ${row}.named_by, ${row}.name collate "C"`;
  return {
    columns: {
      category_id: 'uuid',
      slug: 'text',
      name: 'text',
      named_rank: 'int',
      named_at: 'timestamptz',
      named_by: 'uuid',
      ...placing,
    },
    touches: ['category'],
    sql: `
      insert into category as c (category_id, ${set.join(', ')})
      select distinct on (category_id) category_id, ${set.join(', ')}
      from :input i order by category_id, ${precedence('i')}
      on conflict (category_id) do update set ${set.map((column) => `${column} = excluded.${column}`).join(', ')}
      where c.named_rank is null or (${precedence('excluded')}) < (${precedence('c')})`,
  };
};

/** The brand's path, or that of a profile that was replaced. */
export const namedPath = (event: BrandEvent): readonly CategoryOnPath[] => {
  if (event.type === 'BrandRegistered') return event.data.category_path;
  const { changes, replaced_category_path } = event.data;
  return changes.category_path ?? replaced_category_path ?? [];
};

export const nameByBrand = (
  path: readonly CategoryOnPath[],
  brandId: string,
  observedAt: string,
): readonly Change[] =>
  namingsByBrand(path, brandId, observedAt).map((row) => ({ kind: 'run', statement: 'name_category', row }));

/** Names the categories of the path, and the defined one with precedence. */
export const nameByDefinition = (event: CategoryEvent): readonly Change[] => {
  const { category_id, observed_at } = event.data;
  const define = (name: string): Change => ({
    kind: 'update',
    table: 'category',
    key: { category_id },
    set: { defined_name: name },
  });
  const namings = (path: readonly CategoryOnPath[]) =>
    namingsByDefinition(path, category_id, observed_at).map(
      (row): Change => ({ kind: 'run', statement: 'name_category', row }),
    );
  switch (event.type) {
    case 'CategoryDefined':
      return [...namings(event.data.path), define(event.data.name)];
    case 'CategoryChanged': {
      const { changes, earlier_path = [] } = event.data;
      return [...namings(earlier_path), ...(changes.name === undefined ? [] : [define(changes.name)])];
    }
  }
};

/** The definition's name has precedence over other namings. */
export const categoryNameSql = (row: string): string => `coalesce(${row}.defined_name, ${row}.name)`;
