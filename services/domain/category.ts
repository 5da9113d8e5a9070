import type { CategoryOnPath } from '#contracts/events/brand.ts';
import type { CategoryDetails, CategoryFact } from '#contracts/events/category.ts';
import type { CategoryDefine } from '#contracts/observations/category-define.ts';
import { categoryIdOf, slugOf } from './ids.ts';

/** Names from the top level down as the categories they stand for. */
export const categoryPathOf = (names: readonly string[]): readonly CategoryOnPath[] =>
  names.map((name, level) => ({ id: categoryIdOf(names.slice(0, level + 1)), slug: slugOf(name), name }));

/** A category as last defined. `null`: only brand profiles name it, if anything does. */
export type CategoryState = { readonly details: CategoryDetails; readonly observed_at: string } | null;

export const category = {
  initial: null as CategoryState,
  evolve: (state: CategoryState, fact: CategoryFact): CategoryState => {
    switch (fact.type) {
      case 'CategoryDefined': {
        const { name, description, taxonomy_ids, observed_at } = fact.data;
        return { details: { name, description, taxonomy_ids }, observed_at };
      }
      case 'CategoryChanged':
        return (
          state && { details: { ...state.details, ...fact.data.changes }, observed_at: fact.data.observed_at }
        );
    }
  },
};

/** What a definition says, on top of what is known. */
const saidBy = (
  definition: CategoryDefine,
  name: string,
  known: CategoryDetails | undefined,
): CategoryDetails => ({
  name,
  description: definition.description ?? known?.description ?? null,
  taxonomy_ids: {
    ...known?.taxonomy_ids,
    ...(definition.taxonomy === null ? {} : { [definition.taxonomy]: definition.taxonomy_id ?? '' }),
  },
});

/**
 * Which category it is follows from the path, so that a category never changes its place: another path is another
 * category. A definition older than what is known changes nothing.
 */
export const defineCategory =
  (definition: CategoryDefine) =>
  (state: CategoryState): CategoryFact[] => {
    const path = categoryPathOf(definition.path);
    const own = path.at(-1);
    if (own === undefined) return [];
    const { observed_at } = definition;
    const said = saidBy(definition, own.name, state?.details);
    if (state === null)
      return [{ type: 'CategoryDefined', data: { category_id: own.id, path, ...said, observed_at } }];
    if (observed_at < state.observed_at) return [];
    const { details } = state;
    const changes: Partial<CategoryDetails> = {
      ...(said.name === details.name ? {} : { name: said.name }),
      ...(said.description === details.description ? {} : { description: said.description }),
      ...(sameIds(said.taxonomy_ids, details.taxonomy_ids) ? {} : { taxonomy_ids: said.taxonomy_ids }),
    };
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'CategoryChanged', data: { category_id: own.id, observed_at, changes } }];
  };

const sameIds = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([taxonomy, id]) => other[taxonomy] === id);
