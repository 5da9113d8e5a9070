import { SCOPES } from '#contracts/values/access/scopes.ts';

/** Initial scopes: all reads except those of API keys. Clients ask for writes when they need them. */
export const READ_SCOPES_OFFERED = SCOPES.filter(
  (scope) => scope.endsWith(':read') && scope !== 'apiKeys:read',
);
