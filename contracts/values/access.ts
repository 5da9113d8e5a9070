import type { Plan } from '../events/workspace/workspace.ts';

/** Slots for tracked brands (specification, part "Limits"). */
export const PLANS: Readonly<Record<Plan, { readonly slots: number; readonly requestsPerMinute: number }>> = {
  free: { slots: 5, requestsPerMinute: 100 },
  pro: { slots: 50, requestsPerMinute: 1_000 },
  business: { slots: 500, requestsPerMinute: 1_000 },
  enterprise: { slots: 5_000, requestsPerMinute: 1_000 },
};

/** Specification, part "Authentication", item 6, in its order. */
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

export type Role = 'viewer' | 'editor' | 'admin' | 'owner';

const READ_SCOPES = SCOPES.filter((scope) => scope.endsWith(':read'));

export const SCOPES_OF_ROLE: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: READ_SCOPES,
  editor: SCOPES.filter((scope) => scope !== 'apiKeys:write'),
  admin: SCOPES,
  owner: SCOPES,
};
