import { SCOPES } from '#contracts/values/access/scopes.ts';

/** Scopes that a client asks for at first: all reads except those of API keys. Writes are asked for when needed. */
export const READ_SCOPES_OFFERED = SCOPES.filter(
  (scope) => scope.endsWith(':read') && scope !== 'apiKeys:read',
);
