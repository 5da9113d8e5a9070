import { Refusal } from '#contracts/errors.ts';
import type {
  AppAllowed,
  ConnectedApp,
  ConnectionEvent,
  DisconnectReason,
} from '#contracts/events/workspace/connection.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import { SCOPES } from '#contracts/values/access/scopes.ts';
import type { Decider } from '../decider.ts';
import { derivedId } from '../ids.ts';

/**
 * Aggregate connection, stream `connection-<workspaceId>+<connectionId>`: one app's access to a workspace as one
 * member. A new consent is always a new connection; an ended one never lives again.
 * Parts, in order: state, evolve, decisions (`allowApp`, `denyApp`, `connectApp`, `disconnectApp`).
 */

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

/** Writing scopes that a member may grant to an app. Keys, alerts and briefs stay with people. */
export const GRANTABLE_WRITES = [
  'tracking:write',
  'collections:write',
  'notes:write',
  'reports:write',
] as const satisfies readonly Scope[];

/** Scopes that an app can be granted, in the order of the specification. */
export const GRANTABLE_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) =>
    (scope.endsWith(':read') && scope !== 'apiKeys:read') ||
    (GRANTABLE_WRITES as readonly Scope[]).includes(scope),
);

/** Maximum characters of an app's name. The app chooses its name itself. */
export const APP_NAME_MAX_LENGTH = 60;

/** Returns the id of the connection of a grant. The grant's id itself is in no event. */
export const connectionIdOf = (grantId: string): string =>
  `con_${derivedId('connection', grantId).replaceAll('-', '').slice(0, 20)}`;

type ConnectionKey = { readonly workspace_id: string; readonly connection_id: string };
type Consent = ConnectionKey & { readonly member_id: string; readonly client: ConnectedApp };

/** Throws when the answer on the consent page was given before, and was another one. */
const requireUnanswered = ({ status }: ConnectionState): void => {
  if (status === 'denied' || status === 'ended') {
    throw new Refusal('already_exists', 'This request was already answered. Start again from the app.');
  }
};

/** Maximum apps that one member has allowed in a workspace and not ended. */
export const CONNECTIONS_MAX = 100;

/**
 * Allows an app. Throws `scope_missing` for scopes beyond `grantable`: those of the member's role. Throws `limit_reached` when
 * the member has too many connections. `connections`: their number now.
 */
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

/** Records that the member denied an app. Throws when the same request was allowed before. */
export const denyApp =
  ({ at, ...consent }: Consent & { readonly at: string }) =>
  (state: ConnectionState): readonly ConnectionEvent[] => {
    if (state.status === 'denied') return [];
    if (state.status !== 'none') {
      throw new Refusal('already_exists', 'This request was already allowed. End the app in your account.');
    }
    return [{ type: 'AppDenied', data: { ...consent, denied_at: at } }];
  };

/** Records the first token. Throws `not_found` when the connection has ended, so that no token is issued. */
export const connectApp =
  ({ at, ...key }: ConnectionKey & { readonly at: string }) =>
  (state: ConnectionState): readonly ConnectionEvent[] => {
    if (state.status === 'connected') return [];
    if (state.status !== 'allowed') throw new Refusal('not_found', 'This connection has ended.');
    return [{ type: 'AppConnected', data: { ...key, connected_at: at } }];
  };

/** Ends a connection. Records nothing when it has ended or never existed. */
export const disconnectApp =
  ({ at, ...ended }: ConnectionKey & { readonly reason: DisconnectReason; readonly at: string }) =>
  (state: ConnectionState): readonly ConnectionEvent[] =>
    'expires_at' in state ? [{ type: 'AppDisconnected', data: { ...ended, disconnected_at: at } }] : [];
