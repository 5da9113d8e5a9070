import type { CategoryOnPath } from '#contracts/events/corpus/brand.ts';
import type { CategoryDetails, CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { CategoryDefine } from '#contracts/observations/category-define.ts';
import { categoryIdOf, slugOf } from '../ids.ts';

/** Names from the top level down as the categories they stand for. */
export const categoryPathOf = (names: readonly string[]): readonly CategoryOnPath[] =>
  names.map((name, level) => ({ id: categoryIdOf(names.slice(0, level + 1)), slug: slugOf(name), name }));

/** A category as last defined. `null`: only brand profiles name it, if anything does. */
export type CategoryState = { readonly details: CategoryDetails; readonly observed_at: string } | null;

export const category = {
  initial: null as CategoryState,
  evolve: (state: CategoryState, event: CategoryEvent): CategoryState => {
    switch (event.type) {
      case 'CategoryDefined': {
        const { name, description, taxonomy_ids, observed_at } = event.data;
        return { details: { name, description, taxonomy_ids }, observed_at };
      }
      case 'CategoryChanged': {
        const { changes, observed_at } = event.data;
        return (
          state && {
            details: { ...state.details, ...changes },
            observed_at: observed_at > state.observed_at ? observed_at : state.observed_at,
          }
        );
      }
    }
  },
};

/** What a definition says of a category, without what it leaves unsaid. */
const saidBy = ({ description, taxonomy, taxonomy_id }: CategoryDefine, name: string): CategoryDetails => ({
  name,
  description,
  taxonomy_ids: taxonomy === null || taxonomy_id === null ? {} : { [taxonomy]: taxonomy_id },
});

/** What was known with what is said on top, or, of an older definition, beneath. */
const merged = (beneath: CategoryDetails, onTop: CategoryDetails): CategoryDetails => ({
  name: onTop.name,
  description: onTop.description ?? beneath.description,
  taxonomy_ids: { ...beneath.taxonomy_ids, ...onTop.taxonomy_ids },
});

/**
 * Which category it is follows from the path, so that a category never changes its place: another path is another
 * category. A definition no newer than what is known overwrites nothing, and completes what nobody said: each
 * taxonomy has a day of its own, which may lie years back.
 */
export const defineCategory =
  (definition: CategoryDefine) =>
  (state: CategoryState): CategoryEvent[] => {
    const path = categoryPathOf(definition.path);
    const own = path.at(-1);
    if (own === undefined) return [];
    const { observed_at } = definition;
    const said = saidBy(definition, own.name);
    if (state === null)
      return [{ type: 'CategoryDefined', data: { category_id: own.id, path, ...said, observed_at } }];
    const { details } = state;
    const now = observed_at > state.observed_at ? merged(details, said) : merged(said, details);
    const changes: Partial<CategoryDetails> = {
      ...(now.name === details.name ? {} : { name: now.name }),
      ...(now.description === details.description ? {} : { description: now.description }),
      ...(sameIds(now.taxonomy_ids, details.taxonomy_ids) ? {} : { taxonomy_ids: now.taxonomy_ids }),
    };
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'CategoryChanged', data: { category_id: own.id, observed_at, changes } }];
  };

const sameIds = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([taxonomy, id]) => other[taxonomy] === id);
