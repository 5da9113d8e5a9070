import { Refusal } from '#contracts/errors.ts';
import type {
  AppAllowed,
  ConnectedApp,
  ConnectionEvent,
  DisconnectReason,
} from '#contracts/events/workspace/connection.ts';
import { SCOPES, type Scope } from '#contracts/values/access.ts';
import type { Decider } from '../decider.ts';
import { derivedId } from '../ids.ts';

/** Stream `connection-<workspaceId>+<connectionId>`: an app's access as one member. A new consent is a new one. */

export type ConnectionState =
  | { readonly status: 'none' | 'denied' | 'ended' }
  | { readonly status: 'allowed' | 'connected'; readonly expires_at: string };

const initial: ConnectionState = { status: 'none' };

const evolve = (state: ConnectionState, event: ConnectionEvent): ConnectionState => {
  switch (event.type) {
    case 'AppAllowed':
      return { status: 'allowed', expires_at: event.data.expires_at };
    case 'AppDenied':
      return { status: 'denied' };
    case 'AppConnected':
      return 'expires_at' in state ? { ...state, status: 'connected' } : state;
    case 'AppDisconnected':
      return { status: 'ended' };
  }
};

export const connection: Decider<ConnectionState, ConnectionEvent> = { initial, evolve };

export const GRANTABLE_WRITES = [
  'tracking:write',
  'collections:write',
  'notes:write',
  'reports:write',
] as const satisfies readonly Scope[];

export const GRANTABLE_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) =>
    (scope.endsWith(':read') && scope !== 'apiKeys:read') ||
    (GRANTABLE_WRITES as readonly Scope[]).includes(scope),
);

/** The app chooses its own name. */
export const APP_NAME_MAX_LENGTH = 60;

/** The id of the grant itself is in no event. */
export const connectionIdOf = (grantId: string): string =>
  `con_${derivedId('connection', grantId).replaceAll('-', '').slice(0, 20)}`;

type ConnectionKey = { readonly workspace_id: string; readonly connection_id: string };
type Consent = ConnectionKey & { readonly member_id: string; readonly client: ConnectedApp };

/** Throws when the consent page was answered differently before. */
const requireUnanswered = ({ status }: ConnectionState): void => {
  if (status === 'denied' || status === 'ended') {
    throw new Refusal('already_exists', 'This request was already answered. Start again from the app.');
  }
};

export const CONNECTIONS_MAX = 100;

/** Throws `scope_missing` beyond `grantable`, the scopes of the role; `limit_reached` for too many `connections`. */
export const allowApp =
  (
    input: Consent & {
      readonly scopes: readonly Scope[];
      readonly grantable: readonly Scope[];
      readonly connections: number;
      readonly at: string;
      readonly expires_at: string;
    },
  ) =>
  (state: ConnectionState): readonly AppAllowed[] => {
    requireUnanswered(state);
    if (state.status !== 'none') return [];
    const { grantable, connections, at, expires_at, ...consent } = input;
    const beyond = consent.scopes.filter(
      (scope) => !grantable.includes(scope) || !GRANTABLE_SCOPES.includes(scope),
    );
    if (beyond.length > 0) {
      throw new Refusal('scope_missing', `These scopes cannot be granted to an app: ${beyond.join(', ')}.`);
    }
    if (connections >= CONNECTIONS_MAX) {
      throw new Refusal(
        'limit_reached',
        `A member can have at most ${CONNECTIONS_MAX} apps connected to a workspace. End one in your account.`,
      );
    }
    return [{ type: 'AppAllowed', data: { ...consent, allowed_at: at, expires_at } }];
  };

/** Throws when the request was allowed before. */
export const denyApp =
  ({ at, ...consent }: Consent & { readonly at: string }) =>
  (state: ConnectionState): readonly ConnectionEvent[] => {
    if (state.status === 'denied') return [];
    if (state.status !== 'none') {
      throw new Refusal('already_exists', 'This request was already allowed. End the app in your account.');
    }
    return [{ type: 'AppDenied', data: { ...consent, denied_at: at } }];
  };

/** Throws `not_found` after the end, so that no token is issued. */
export const connectApp =
  ({ at, ...key }: ConnectionKey & { readonly at: string }) =>
  (state: ConnectionState): readonly ConnectionEvent[] => {
    if (state.status === 'connected') return [];
    if (state.status !== 'allowed') throw new Refusal('not_found', 'This connection has ended.');
    return [{ type: 'AppConnected', data: { ...key, connected_at: at } }];
  };

export const disconnectApp =
  ({ at, ...ended }: ConnectionKey & { readonly reason: DisconnectReason; readonly at: string }) =>
  (state: ConnectionState): readonly ConnectionEvent[] =>
    'expires_at' in state ? [{ type: 'AppDisconnected', data: { ...ended, disconnected_at: at } }] : [];
