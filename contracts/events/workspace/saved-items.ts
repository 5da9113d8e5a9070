import type { Item } from '#contracts/values/items.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `saved-<workspaceId>+<itemType>:<itemKey>`: few events each, and saves never conflict. */
export const SAVED = 'saved';
export const savedStream = (workspaceId: string, { item_type, item_key }: Item): string =>
  `${SAVED}-${workspaceId}+${item_type}:${item_key}`;

export type ItemSaved = Event<
  'ItemSaved',
  Item & { readonly workspace_id: string; readonly saved_by: string; readonly saved_at: string }
>;
export type ItemUnsaved = Event<
  'ItemUnsaved',
  Item & { readonly workspace_id: string; readonly unsaved_by: string; readonly unsaved_at: string }
>;
export type SavedEvent = ItemSaved | ItemUnsaved;

export const savedVersions: EventVersions<SavedEvent> = { ItemSaved: [], ItemUnsaved: [] };
