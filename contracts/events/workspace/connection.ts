import type { Scope } from '#contracts/values/access.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `connection-<workspaceId>+<connectionId>`: one app's access to a workspace as one member. */
export const CONNECTION = 'connection';
export const connectionStream = (workspaceId: string, connectionId: string): string =>
  `${CONNECTION}-${workspaceId}+${connectionId}`;

/** An app is known by the document at its address, its own registration, or an operator. */
export const APP_IDENTIFICATIONS = ['document', 'registration', 'operator'] as const;
export type AppIdentification = (typeof APP_IDENTIFICATIONS)[number];

/** As the member saw it on the consent page. */
export type ConnectedApp = {
  readonly id: string;
  readonly name: string;
  readonly identified_by: AppIdentification;
  /** Host that the browser returned to; `loopback` for a program on the member's computer. */
  readonly redirect_host: string;
};

export const DISCONNECT_REASONS = [
  'member',
  'admin',
  'operator',
  'token_reused',
  'member_erased',
  'expired',
] as const;
export type DisconnectReason = (typeof DISCONNECT_REASONS)[number];

type ConnectionKey = { readonly workspace_id: string; readonly connection_id: string };

/** No token exists yet. */
export type AppAllowed = Event<
  'AppAllowed',
  ConnectionKey & {
    readonly member_id: string;
    readonly client: ConnectedApp;
    readonly scopes: readonly Scope[];
    readonly allowed_at: string;
    readonly expires_at: string;
  }
>;
export type AppDenied = Event<
  'AppDenied',
  ConnectionKey & { readonly member_id: string; readonly client: ConnectedApp; readonly denied_at: string }
>;
/** The app received its first access token; later tokens are not events. */
export type AppConnected = Event<'AppConnected', ConnectionKey & { readonly connected_at: string }>;
export type AppDisconnected = Event<
  'AppDisconnected',
  ConnectionKey & { readonly reason: DisconnectReason; readonly disconnected_at: string }
>;
export type ConnectionEvent = AppAllowed | AppDenied | AppConnected | AppDisconnected;

export const connectionVersions: EventVersions<ConnectionEvent> = {
  AppAllowed: [],
  AppDenied: [],
  AppConnected: [],
  AppDisconnected: [],
};
