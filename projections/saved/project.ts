import { SAVED, type SavedFact } from '#contracts/events/workspace/saved-items.ts';
import { projection } from '../define-projection.ts';

/** What workspaces have saved, for the saved-items reads. */
export const saved = projection<SavedFact>({
  name: 'saved',
  version: 1,
  prefixes: [`${SAVED}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (fact) => {
    const { workspace_id, item_type, item_key } = fact.data;
    const key = { workspace_id, item_type, item_key };
    switch (fact.type) {
      case 'ItemSaved':
        return [
          {
            kind: 'upsert',
            table: 'item',
            key,
            set: { created_by: fact.data.saved_by, created_at: fact.data.saved_at },
          },
        ];
      case 'ItemUnsaved':
        return [{ kind: 'delete', table: 'item', key }];
    }
  },
});
