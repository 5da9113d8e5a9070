import { type Role, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import { GRANTABLE_SCOPES } from '#domain/workspace/connection.ts';

/** Scopes that a member grants together. */
export type Permission = {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly scopes: readonly Scope[];
  /** Writes are not preselected. */
  readonly isWrite: boolean;
};

/** Each grantable scope is in exactly one permission. */
export const PERMISSIONS: readonly Permission[] = [
  {
    id: 'corpus',
    title: 'Read what was observed',
    detail: 'Brands, ads, creatives, landing pages, rankings, operators and tools.',
    scopes: [
      'system:read',
      'brands:read',
      'categories:read',
      'rankings:read',
      'ads:read',
      'creatives:read',
      'pages:read',
      'operators:read',
      'tools:read',
      'audience:read',
    ],
    isWrite: false,
  },
  {
    id: 'workspace',
    title: 'Read this workspace',
    detail: 'Your name and role, tracked brands, alerts, briefs and reports.',
    scopes: ['me:read', 'tracking:read', 'alerts:read', 'briefs:read', 'reports:read'],
    isWrite: false,
  },
  {
    id: 'boards',
    title: 'Read saved items and notes',
    detail: 'Collections, saved items and the notes of all members.',
    scopes: ['collections:read', 'notes:read'],
    isWrite: false,
  },
  {
    id: 'tracking-write',
    title: 'Track and untrack brands',
    detail: 'Uses the slots of your plan.',
    scopes: ['tracking:write'],
    isWrite: true,
  },
  {
    id: 'collections-write',
    title: 'Save items and add them to collections',
    detail: 'All members see them.',
    scopes: ['collections:write'],
    isWrite: true,
  },
  {
    id: 'notes-write',
    title: 'Write notes',
    detail: 'In your name; all members see them.',
    scopes: ['notes:write'],
    isWrite: true,
  },
  {
    id: 'reports-write',
    title: 'Request reports',
    detail: 'Files with what happened to tracked brands.',
    scopes: ['reports:write'],
    isWrite: true,
  },
];

/** Requested scopes that the role allows. */
export const offeredScopes = (requested: readonly string[], role: Role): readonly Scope[] =>
  GRANTABLE_SCOPES.filter((scope) => requested.includes(scope) && SCOPES_OF_ROLE[role].includes(scope));

export const permissionsOf = (scopes: readonly Scope[]): readonly Permission[] =>
  PERMISSIONS.filter((permission) => permission.scopes.some((scope) => scopes.includes(scope)));

/** Ignores scopes that were not offered. */
export const grantedScopes = (offered: readonly Scope[], ticked: readonly string[]): readonly Scope[] => {
  const chosen = PERMISSIONS.filter(({ id }) => ticked.includes(id)).flatMap(({ scopes }) => scopes);
  return offered.filter((scope) => chosen.includes(scope));
};
