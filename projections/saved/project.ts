import { SAVED, type SavedEvent } from '#contracts/events/workspace/saved-items.ts';
import { projection } from '../define-projection.ts';

export const saved = projection<SavedEvent>({
  name: 'saved',
  version: 1,
  prefixes: [`${SAVED}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const { workspace_id, item_type, item_key } = event.data;
    const key = { workspace_id, item_type, item_key };
    switch (event.type) {
      case 'ItemSaved':
        return [
          {
            kind: 'upsert',
            table: 'item',
            key,
            set: { created_by: event.data.saved_by, created_at: event.data.saved_at },
          },
        ];
      case 'ItemUnsaved':
        return [{ kind: 'delete', table: 'item', key }];
    }
  },
});
