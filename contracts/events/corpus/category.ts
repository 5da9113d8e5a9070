import type { CategoryOnPath } from './brand.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `category-<categoryId>`: a category as taxonomies define it. */
export const CATEGORY = 'category';
export const categoryStream = (categoryId: string): string => `${CATEGORY}-${categoryId}`;

export type CategoryDetails = {
  readonly name: string;
  readonly description: string | null;
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

export type CategoryChanged = Event<
  'CategoryChanged',
  {
    readonly category_id: string;
    readonly observed_at: string;
    readonly changes: Partial<CategoryDetails>;
    /** Stated unchanged at a later time: `name`, `description` or `taxonomy_ids.<taxonomy>`. Absent: none. */
    readonly confirmed?: readonly string[];
    /** Path of a definition older than all before. It names the categories above. */
    readonly earlier_path?: readonly CategoryOnPath[];
  }
>;

export type CategoryEvent = CategoryDefined | CategoryChanged;

export const categoryVersions: EventVersions<CategoryEvent> = { CategoryDefined: [], CategoryChanged: [] };
