import { Refusal } from '#contracts/errors.ts';
import type { SavedEvent } from '#contracts/events/workspace/saved-items.ts';
import type { Item } from '#contracts/values/items.ts';
import { SAVED_ITEMS_MAX } from '#contracts/resources/workspace/saved-item.ts';
import { type Decider, jsonSnapshot } from '../decider.ts';

/** Aggregate saved item, stream `saved-<workspaceId>+<itemType>:<itemKey>`: one item that a workspace may save. */

/** `null` when the item is not saved. */
export type Saved = { readonly created_by: string; readonly created_at: string } | null;

const initial: Saved = null;

const evolve = (_state: Saved, event: SavedEvent): Saved => {
  switch (event.type) {
    case 'ItemSaved':
      return { created_by: event.data.saved_by, created_at: event.data.saved_at };
    case 'ItemUnsaved':
      return null;
  }
};

export const saved: Decider<Saved, SavedEvent> = { initial, evolve, snapshot: jsonSnapshot(1) };

type Command = {
  readonly workspace_id: string;
  readonly item: Item;
  readonly by: string;
  readonly at: string;
};

/** `saved_items`: number of saved items of the workspace. */
export const saveItem =
  ({ workspace_id, item, by, at, saved_items }: Command & { readonly saved_items: number }) =>
  (state: Saved): readonly SavedEvent[] => {
    if (state) return [];
    if (saved_items >= SAVED_ITEMS_MAX) {
      throw new Refusal(
        'limit_reached',
        `A workspace can save at most ${SAVED_ITEMS_MAX} items. Unsave some.`,
      );
    }
    return [{ type: 'ItemSaved', data: { workspace_id, ...item, saved_by: by, saved_at: at } }];
  };

export const unsaveItem =
  ({ workspace_id, item, by, at }: Command) =>
  (state: Saved): readonly SavedEvent[] =>
    state ? [{ type: 'ItemUnsaved', data: { workspace_id, ...item, unsaved_by: by, unsaved_at: at } }] : [];
