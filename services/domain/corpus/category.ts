import type { CategoryOnPath } from '#contracts/events/corpus/brand.ts';
import type { CategoryDetails, CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { CategoryDefine } from '#contracts/observations/category-define.ts';
import type { Decider } from '../decider.ts';
import { categoryIdOf, slugOf } from '../ids.ts';

/**
 * Aggregate category, stream `category-<categoryId>`: the definition of one category of brands.
 * Parts, in order: state, evolve, decision (`defineCategory`).
 */

/** A category as last defined; `null` when it was never defined. Brand profiles may still name it. */
export type CategoryState = { readonly details: CategoryDetails; readonly observed_at: string } | null;

const initial = null as CategoryState;

const evolve = (state: CategoryState, event: CategoryEvent): CategoryState => {
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
};

export const category: Decider<CategoryState, CategoryEvent> = { initial, evolve };

/** Returns the categories on a path of names, from the top level down. */
export const categoryPathOf = (names: readonly string[]): readonly CategoryOnPath[] =>
  names.map((name, level) => ({ id: categoryIdOf(names.slice(0, level + 1)), slug: slugOf(name), name }));

/** Returns the details that a definition states. */
const statedFields = (
  { description, taxonomy, taxonomy_id }: CategoryDefine,
  name: string,
): CategoryDetails => ({
  name,
  description,
  taxonomy_ids: taxonomy === null || taxonomy_id === null ? {} : { [taxonomy]: taxonomy_id },
});

/** Merges two definitions; where both state a value, `overlay` wins. */
const mergeDetails = (base: CategoryDetails, overlay: CategoryDetails): CategoryDetails => ({
  name: overlay.name,
  description: overlay.description ?? base.description,
  taxonomy_ids: { ...base.taxonomy_ids, ...overlay.taxonomy_ids },
});

/**
 * Defines or changes a category. The id follows from the path, so a category never moves: another path is another
 * category. A definition that is not newer than the state overwrites nothing, but it fills blanks: each taxonomy has
 * its own date, which may lie years back.
 */
export const defineCategory =
  (definition: CategoryDefine) =>
  (state: CategoryState): CategoryEvent[] => {
    const path = categoryPathOf(definition.path);
    const own = path.at(-1);
    if (own === undefined) return [];
    const { observed_at } = definition;
    const stated = statedFields(definition, own.name);
    if (state === null)
      return [{ type: 'CategoryDefined', data: { category_id: own.id, path, ...stated, observed_at } }];
    const { details } = state;
    const now =
      observed_at > state.observed_at ? mergeDetails(details, stated) : mergeDetails(stated, details);
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
