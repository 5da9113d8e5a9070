import type { Role } from './events/workspace.ts';

/** The scopes of the specification, part "Authentication", item 6, in its order. */
export const SCOPES = [
  'system:read',
  'brands:read',
  'tracking:read',
  'tracking:write',
  'categories:read',
  'rankings:read',
  'ads:read',
  'creatives:read',
  'pages:read',
  'operators:read',
  'tools:read',
  'audience:read',
  'me:read',
  'apiKeys:read',
  'apiKeys:write',
  'alerts:read',
  'alerts:write',
  'briefs:read',
  'briefs:write',
  'reports:read',
  'reports:write',
  'collections:read',
  'collections:write',
  'notes:read',
  'notes:write',
] as const;
export type Scope = (typeof SCOPES)[number];

const READ_SCOPES = SCOPES.filter((scope) => scope.endsWith(':read'));

/** What a member's role allows a key of theirs to hold (DESIGN §6). */
export const SCOPES_OF_ROLE: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: READ_SCOPES,
  editor: SCOPES.filter((scope) => scope !== 'apiKeys:write'),
  admin: SCOPES,
  owner: SCOPES,
};
