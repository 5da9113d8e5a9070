import type { Role, Scope } from '#contracts/values/access.ts';
import type { Cadence } from '#contracts/values/primitives.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `workspace-<workspaceId>`: plan and members. */
export const WORKSPACE = 'workspace';
export const workspaceStream = (workspaceId: string): string => `${WORKSPACE}-${workspaceId}`;

/** Stream `tracking-<workspaceId>`: the brands that a workspace tracks. */
export const TRACKING = 'tracking';
export const trackingStream = (workspaceId: string): string => `${TRACKING}-${workspaceId}`;

/** Stream `apiKeys-<workspaceId>`: API keys by hash. */
export const API_KEYS = 'apiKeys';
export const apiKeysStream = (workspaceId: string): string => `${API_KEYS}-${workspaceId}`;

export type Plan = 'free' | 'pro' | 'business' | 'enterprise';

export type WorkspaceCreated = Event<
  'WorkspaceCreated',
  { readonly workspace_id: string; readonly name: string; readonly plan: Plan; readonly created_at: string }
>;
export type PlanChanged = Event<
  'PlanChanged',
  { readonly workspace_id: string; readonly plan: Plan; readonly changed_at: string }
>;
/**
 * `sealed` is the name and e-mail address, encrypted with the member's key outside the log; `name` is then empty.
 * Without a vault, `name` is the display name and no address is recorded.
 */
export type MemberAdded = Event<
  'MemberAdded',
  {
    readonly workspace_id: string;
    readonly member_id: string;
    readonly name: string;
    readonly sealed?: string;
    readonly role: Role;
    readonly added_at: string;
  }
>;
export type MemberRoleChanged = Event<
  'MemberRoleChanged',
  {
    readonly workspace_id: string;
    readonly member_id: string;
    readonly role: Role;
    readonly changed_at: string;
  }
>;
/** The encryption key was deleted, so encrypted data in earlier events can never be read again. */
export type MemberErased = Event<
  'MemberErased',
  { readonly workspace_id: string; readonly member_id: string; readonly erased_at: string }
>;
export type WorkspaceEvent = WorkspaceCreated | PlanChanged | MemberAdded | MemberRoleChanged | MemberErased;

export type BrandTracked = Event<
  'BrandTracked',
  {
    readonly workspace_id: string;
    readonly brand_id: string;
    readonly cadence: Cadence;
    readonly tracked_at: string;
  }
>;
export type TrackingCadenceChanged = Event<
  'TrackingCadenceChanged',
  {
    readonly workspace_id: string;
    readonly brand_id: string;
    readonly cadence: Cadence;
    readonly changed_at: string;
  }
>;
export type BrandUntracked = Event<
  'BrandUntracked',
  { readonly workspace_id: string; readonly brand_id: string; readonly untracked_at: string }
>;
export type TrackingEvent = BrandTracked | TrackingCadenceChanged | BrandUntracked;

/** Only the SHA-256 and the last four characters of the key are recorded. */
export type ApiKeyIssued = Event<
  'ApiKeyIssued',
  {
    readonly workspace_id: string;
    readonly key_id: string;
    readonly name: string;
    readonly sha256: string;
    readonly last_four: string;
    readonly scopes: readonly Scope[];
    readonly member_id: string;
    readonly issued_at: string;
    /** For a replacement key: the key that was rotated. */
    readonly replaces?: string;
  }
>;
export type ApiKeyRevoked = Event<
  'ApiKeyRevoked',
  {
    readonly workspace_id: string;
    readonly key_id: string;
    readonly reason: 'revoked' | 'rotated' | 'unused';
    readonly revoked_at: string;
  }
>;
export type ApiKeyEvent = ApiKeyIssued | ApiKeyRevoked;

export const workspaceVersions: EventVersions<WorkspaceEvent> = {
  WorkspaceCreated: [],
  PlanChanged: [],
  MemberAdded: [],
  MemberRoleChanged: [],
  MemberErased: [],
};

export const trackingVersions: EventVersions<TrackingEvent> = {
  BrandTracked: [],
  TrackingCadenceChanged: [],
  BrandUntracked: [],
};

export const apiKeyVersions: EventVersions<ApiKeyEvent> = { ApiKeyIssued: [], ApiKeyRevoked: [] };
