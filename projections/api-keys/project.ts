import { API_KEYS, type ApiKeyEvent, type ApiKeyIssued } from '#contracts/events/workspace/workspace.ts';
import { projection } from '../define-projection.ts';

/** JSON text of the fields fixed at issue, without the hash of the key. */
export const issuedText = (key: ApiKeyIssued['data']): string => {
  const { key_id, workspace_id, name, last_four, scopes, replaces = null } = key;
  return JSON.stringify({ key_id, workspace_id, name, last_four, scopes, replaces });
};

/** API keys for the list. Authentication uses the access tables, which do not wait for a projection. */
export const apiKeys = projection<ApiKeyEvent>({
  name: 'api-keys',
  version: 1,
  prefixes: [`${API_KEYS}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const { workspace_id, key_id } = event.data;
    switch (event.type) {
      case 'ApiKeyIssued': {
        const { member_id, issued_at } = event.data;
        const issued = issuedText(event.data);
        const row = { workspace_id, key_id, issued_at, member_id, issued, revoked_at: null };
        return [{ kind: 'insert', table: 'api_key', row }];
      }
      case 'ApiKeyRevoked': {
        const { revoked_at } = event.data;
        return [{ kind: 'update', table: 'api_key', key: { workspace_id, key_id }, set: { revoked_at } }];
      }
    }
  },
});
