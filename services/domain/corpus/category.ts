import type { CategoryOnPath } from '#contracts/events/corpus/brand.ts';
import type { CategoryDetails, CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { CategoryDefine } from '#contracts/observations/category-define.ts';
import { compareFields, earlierOf, type FieldTimes, isNews, withTimes } from './dated-fields.ts';
import type { Decider } from '../decider.ts';
import { categoryIdOf, slugOf } from '../ids.ts';

/** `null` when never defined. Brand profiles may still name it. */
export type CategoryState = {
  readonly details: CategoryDetails;
  readonly times: FieldTimes;
  readonly first_observed_at: string;
} | null;

const initial = null as CategoryState;

/** Each taxonomy has a field of its own, `taxonomy_ids.<taxonomy>`. */
type Fields = Readonly<Record<string, string>>;
const TAXONOMY = 'taxonomy_ids.';

const fieldsOf = ({ name, description, taxonomy_ids = {} }: Partial<CategoryDetails>): Fields => ({
  ...(name === undefined ? {} : { name }),
  ...(description == null ? {} : { description }),
  ...Object.fromEntries(Object.entries(taxonomy_ids).map(([taxonomy, id]) => [`${TAXONOMY}${taxonomy}`, id])),
});

const evolve = (state: CategoryState, event: CategoryEvent): CategoryState => {
  switch (event.type) {
    case 'CategoryDefined': {
      const { name, description, taxonomy_ids, observed_at } = event.data;
      const details = { name, description, taxonomy_ids };
      const times = withTimes({}, observed_at, Object.keys(fieldsOf(details)));
      return { details, times, first_observed_at: observed_at };
    }
    case 'CategoryChanged': {
      if (state === null) return state;
      const { changes, observed_at, confirmed } = event.data;
      const before = fieldsOf(state.details);
      // The event has the ids of all taxonomies, also unchanged ones.
      const changed = Object.entries(fieldsOf(changes)).filter(([field, value]) => before[field] !== value);
      const names = changed.map(([field]) => field);
      return {
        details: { ...state.details, ...changes },
        times: withTimes(state.times, observed_at, names, confirmed),
        first_observed_at: earlierOf(state.first_observed_at, observed_at),
      };
    }
  }
};

export const category: Decider<CategoryState, CategoryEvent> = { initial, evolve };

/** From the top level down. */
export const categoryPathOf = (names: readonly string[]): readonly CategoryOnPath[] =>
  names.map((name, level) => ({ id: categoryIdOf(names.slice(0, level + 1)), slug: slugOf(name), name }));

const statedFields = (
  { description, taxonomy, taxonomy_id }: CategoryDefine,
  name: string,
): CategoryDetails => ({
  name,
  description,
  taxonomy_ids: taxonomy === null || taxonomy_id === null ? {} : { [taxonomy]: taxonomy_id },
});

/** With the ids of all taxonomies if one differs. */
const changedDetails = (changes: Fields, existing: CategoryDetails): Partial<CategoryDetails> => {
  const { name, description, ...others } = changes;
  const ids = Object.entries(others).map(([field, id]) => [field.slice(TAXONOMY.length), id] as const);
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(ids.length === 0 ? {} : { taxonomy_ids: { ...existing.taxonomy_ids, ...Object.fromEntries(ids) } }),
  };
};

/** The path gives the id, so a category never moves. Old definitions fill blanks: taxonomies have own dates. */
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
    const { details, times, first_observed_at } = state;
    const compared = compareFields({ values: fieldsOf(details), times }, fieldsOf(stated), observed_at);
    const isEarliest = observed_at < first_observed_at;
    if (!isNews(compared) && !isEarliest) return [];
    return [
      {
        type: 'CategoryChanged',
        data: {
          category_id: own.id,
          observed_at,
          ...compared,
          changes: changedDetails(compared.changes as Fields, details),
          ...(isEarliest ? { earlier_path: path } : {}),
        },
      },
    ];
  };
