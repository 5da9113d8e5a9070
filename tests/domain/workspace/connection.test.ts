import { describe, expect, test } from 'vitest';
import type { ConnectionEvent } from '#contracts/events/workspace/connection.ts';
import { SCOPES, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import {
  allowApp,
  connectApp,
  connection,
  CONNECTIONS_MAX,
  connectionIdOf,
  denyApp,
  disconnectApp,
  GRANTABLE_SCOPES,
} from '#domain/workspace/connection.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const LATER = '2026-11-20T10:00:00.000Z';
const expires_at = '2027-05-19T09:00:00.000Z';
const key = { workspace_id: 'ws_1', connection_id: connectionIdOf('grant') };
const client = {
  id: 'app',
  name: 'App',
  identified_by: 'registration',
  redirect_host: 'app.example',
} as const;
const consent = { ...key, member_id: 'ada', client };
const scopes: readonly Scope[] = ['brands:read', 'notes:write'];

const allowed: ConnectionEvent = {
  type: 'AppAllowed',
  data: { ...consent, scopes, allowed_at: AT, expires_at },
};
const denied: ConnectionEvent = { type: 'AppDenied', data: { ...consent, denied_at: AT } };
const connected: ConnectionEvent = { type: 'AppConnected', data: { ...key, connected_at: AT } };
const ended: ConnectionEvent = {
  type: 'AppDisconnected',
  data: { ...key, reason: 'member', disconnected_at: LATER },
};
const allow = (
  asked: readonly Scope[] = scopes,
  grantable: readonly Scope[] = SCOPES_OF_ROLE.editor,
  connections = 0,
) => allowApp({ ...consent, scopes: asked, grantable, connections, at: AT, expires_at });
const end = disconnectApp({ ...key, reason: 'member', at: LATER });

describe('allowApp', () => {
  test('allows the app', () => given(connection).when(allow()).records(allowed));
  test('refuses one app more than a member may have connected', () =>
    given(connection)
      .when(allow(scopes, SCOPES_OF_ROLE.editor, CONNECTIONS_MAX))
      .refuses('limit_reached'));
  test('refuses a scope that the role does not have', () =>
    given(connection).when(allow(scopes, SCOPES_OF_ROLE.viewer)).refuses('scope_missing'));
  test.each(['apiKeys:read', 'apiKeys:write', 'alerts:write', 'briefs:write'] as const)(
    'refuses %s, also to an owner',
    (scope) =>
      given(connection)
        .when(allow([scope], SCOPES_OF_ROLE.owner))
        .refuses('scope_missing'),
  );
  test('refuses a request that was denied', () =>
    given(connection, denied).when(allow()).refuses('already_exists'));
  test('never revives a connection that has ended', () =>
    given(connection, allowed, ended).when(allow()).refuses('already_exists'));
});

describe('denyApp', () => {
  test('records the answer', () =>
    given(connection)
      .when(denyApp({ ...consent, at: AT }))
      .records(denied));
  test('refuses a request that was allowed', () =>
    given(connection, allowed)
      .when(denyApp({ ...consent, at: AT }))
      .refuses('already_exists'));
});

describe('connectApp', () => {
  const connect = connectApp({ ...key, at: AT });
  test('records the first token', () => given(connection, allowed).when(connect).records(connected));
  test('records nothing for later tokens', () =>
    given(connection, allowed, connected).when(connect).records());
  test.each([[[]], [[denied]], [[allowed, ended]]])('refuses a token of no live connection', (events) =>
    given(connection, ...events)
      .when(connect)
      .refuses('not_found'),
  );
});

describe('disconnectApp', () => {
  test('ends an allowed connection', () => given(connection, allowed).when(end).records(ended));
  test('ends a connection in use', () => given(connection, allowed, connected).when(end).records(ended));
  test('records nothing for one that was denied', () => given(connection, denied).when(end).records());
});

test('no event holds the id of the grant', () => {
  expect(connectionIdOf('grant')).toMatch(/^con_[0-9a-f]{20}$/);
  expect(JSON.stringify([allowed, connected, ended])).not.toContain('"grant"');
  expect(SCOPES.filter((scope) => !GRANTABLE_SCOPES.includes(scope))).toEqual([
    'apiKeys:read',
    'apiKeys:write',
    'alerts:write',
    'briefs:write',
  ]);
});
