import type { CategoryOnPath } from './brand.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `category-<categoryId>`: a category as taxonomies define it. */
export const CATEGORY = 'category';
export const categoryStream = (categoryId: string): string => `${CATEGORY}-${categoryId}`;

export type CategoryDetails = {
  readonly name: string;
  readonly description: string | null;
  /** The category's id in each taxonomy, by taxonomy name. */
  readonly taxonomy_ids: Readonly<Record<string, string>>;
};

export type CategoryDefined = Event<
  'CategoryDefined',
  CategoryDetails & {
    readonly category_id: string;
    /** From the top level down to the category itself. */
    readonly path: readonly CategoryOnPath[];
    readonly observed_at: string;
  }
>;

/** `changes` holds only the changed fields. */
export type CategoryChanged = Event<
  'CategoryChanged',
  {
    readonly category_id: string;
    readonly observed_at: string;
    readonly changes: Partial<CategoryDetails>;
  }
>;

export type CategoryEvent = CategoryDefined | CategoryChanged;

/** Schema versions: each type's upcasters, from version 1 on. */
export const categoryVersions: EventVersions<CategoryEvent> = {
  CategoryDefined: [],
  CategoryChanged: [],
};
