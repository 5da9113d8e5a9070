import { describe, test } from 'vitest';
import type { SavedEvent } from '#contracts/events/workspace/saved-items.ts';
import { SAVED_ITEMS_MAX } from '#contracts/resources/workspace/saved-item.ts';
import { saved, saveItem, unsaveItem } from '#domain/workspace/saved-items.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const workspace_id = 'ws_1';
const item = { item_type: 'ad', item_key: '12345' } as const;
const wasSaved: SavedEvent = {
  type: 'ItemSaved',
  data: { workspace_id, ...item, saved_by: 'ada', saved_at: AT },
};
const wasUnsaved: SavedEvent = {
  type: 'ItemUnsaved',
  data: { workspace_id, ...item, unsaved_by: 'bea', unsaved_at: AT },
};
const save = (saved_items = 0) => saveItem({ workspace_id, item, by: 'ada', at: AT, saved_items });
const unsave = unsaveItem({ workspace_id, item, by: 'bea', at: AT });

describe('saveItem', () => {
  test('saves an item', () => given(saved).when(save()).records(wasSaved));
  test('records nothing for a saved item, also at the maximum number', () =>
    given(saved, wasSaved).when(save(SAVED_ITEMS_MAX)).records());
  test('saves an item again after it was unsaved', () =>
    given(saved, wasSaved, wasUnsaved)
      .when(save(SAVED_ITEMS_MAX - 1))
      .records(wasSaved));
  test('refuses an item above the maximum number', () =>
    given(saved).when(save(SAVED_ITEMS_MAX)).refuses('limit_reached'));
});

describe('unsaveItem', () => {
  test('unsaves a saved item', () => given(saved, wasSaved).when(unsave).records(wasUnsaved));
  test('records nothing when the item is not saved', () =>
    given(saved, wasSaved, wasUnsaved).when(unsave).records());
});
