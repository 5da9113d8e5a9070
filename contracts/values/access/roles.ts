import { type Scope, SCOPES } from './scopes.ts';

export type Role = 'viewer' | 'editor' | 'admin' | 'owner';

const READ_SCOPES = SCOPES.filter((scope) => scope.endsWith(':read'));

export const SCOPES_OF_ROLE: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: READ_SCOPES,
  editor: SCOPES.filter((scope) => scope !== 'apiKeys:write'),
  admin: SCOPES,
  owner: SCOPES,
};
