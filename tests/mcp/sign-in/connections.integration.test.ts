import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { connectionStream } from '#contracts/events/workspace/connection.ts';
import { eventMetadata } from '#application/commands/command-handler.ts';
import { connectionIdOf } from '#domain/workspace/connection.ts';
import { silentLog } from '#platform/logger.ts';
import { deleteDeadRecords, keepUsedClients } from '#services/mcp/sign-in/adapter.ts';
import { PAGE_SIZE, startHousekeeping } from '#services/mcp/sign-in/connections.ts';
import { endConnection, endConnectionsOfErased, listConnections } from '#services/ops/workspaces.ts';
import { addMemberNamed, setRole } from './fixtures/members.ts';
import { APP, type ConnectionsStack, openConnectionsStack, SCOPES } from './fixtures/connections-stack.ts';

let opened: ConnectionsStack;
let { stack, key, connections, adapterOf, processes, allow, issue, historyOf, rowOf } =
  {} as ConnectionsStack;

beforeAll(async () => {
  opened = await openConnectionsStack();
  ({ stack, key, connections, adapterOf, processes, allow, issue, historyOf, rowOf } = opened);
});
afterAll(() => opened[Symbol.asyncDispose]());

describe('an access token', () => {
  test('names its connection, member and workspace in each process', async () => {
    const { grantId, connectionId } = await allow();
    const token = await issue(grantId);
    for (const verify of processes) {
      expect(await verify(token)).toEqual({
        kind: 'connection',
        keyId: connectionId,
        workspaceId: key.workspaceId,
        memberId: key.memberId,
        role: 'owner',
        plan: 'pro',
        scopes: new Set(SCOPES),
      });
    }
    const types = (await historyOf(connectionId)).map(({ type }) => type);
    expect(types).toEqual(['AppAllowed', 'AppConnected']);
    await issue(grantId);
    expect(await historyOf(connectionId)).toHaveLength(2);
  });

  test('is refused where it is an API key, unknown, or longer than any token', async () => {
    const [verify] = processes;
    for (const text of [key.text, 'unknown', '', 'x'.repeat(10_000)]) expect(await verify(text)).toBeNull();
  });

  test('is refused where it is for another resource', async () => {
    const { grantId } = await allow();
    expect(await processes[0](await issue(grantId, SCOPES.join(' '), 'https://other.test/mcp'))).toBeNull();
  });

  test('has at most the scopes that it was issued for', async () => {
    const { grantId } = await allow();
    const caller = await processes[0](await issue(grantId, 'brands:read ads:read'));
    expect(caller?.scopes).toEqual(new Set(['brands:read']));
  });

  test('is not stored for a grant without a connection, or after its end', async () => {
    await expect(issue(randomUUID())).rejects.toMatchObject({ error: 'invalid_grant' });
    const { grantId, connectionId } = await allow();
    await connections.end(connectionId, 'member');
    await expect(issue(grantId)).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

describe('ending a connection', () => {
  test('is effective in every process when it returns, with the projector stopped', async () => {
    const { grantId, connectionId } = await allow();
    const token = await issue(grantId);
    for (const verify of processes) expect(await verify(token)).not.toBeNull();
    // Leases are in use until the very end.
    const ended = new AbortController();
    const using = (async () => {
      while (!ended.signal.aborted) await Promise.all(processes.map((verify) => verify(token)));
    })();
    await connections.endAs(await rowOf(connectionId), 'admin', { kind: 'member', id: key.memberId });
    for (const verify of processes) expect(await verify(token)).toBeNull();
    ended.abort();
    await using;
    expect((await historyOf(connectionId)).at(-1)).toMatchObject({
      type: 'AppDisconnected',
      data: { reason: 'admin' },
    });
    expect(await deleteDeadRecords(stack.pool)).toBeGreaterThan(0);
    expect(await adapterOf('AccessToken').find(token)).toBeUndefined();
  });

  test('is completed by another process when the first dies after the event', async () => {
    const { grantId, connectionId } = await allow();
    const token = await issue(grantId);
    const stream = connectionStream(key.workspaceId, connectionId);
    const ended = {
      type: 'AppDisconnected',
      data: {
        workspace_id: key.workspaceId,
        connection_id: connectionId,
        reason: 'operator',
        disconnected_at: new Date().toISOString(),
      },
    } as const;
    const ids = { correlationId: randomUUID(), causationId: randomUUID(), workspaceId: key.workspaceId };
    const metadata = eventMetadata({ ...ids, actor: { kind: 'service', id: 'tests' } });
    await stack.eventStore.append(stream, 1n, [ended], metadata, randomUUID());
    await vi.waitFor(async () => expect(await processes[1](token)).toBeNull(), { timeout: 60_000 });
  });

  test('is possible for operators, who get an error for an id that does not exist', async () => {
    const { grantId, connectionId } = await allow();
    const token = await issue(grantId);
    const operator = { ...stack, actor: { kind: 'service', id: 'ops' } } as const;
    const listed = await listConnections(stack, key.workspaceId);
    expect(listed.find((row) => row.connection_id === connectionId)).toMatchObject({
      app: 'App',
      member_id: key.memberId,
      scopes: SCOPES.join(' '),
      connected: true,
    });
    await expect(endConnection(operator, key.workspaceId, 'con_unknown')).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await endConnection(operator, key.workspaceId, connectionId)).toMatchObject({ changed: true });
    for (const verify of processes) expect(await verify(token)).toBeNull();
    expect((await historyOf(connectionId)).at(-1)?.data).toMatchObject({ reason: 'operator' });
    expect(await endConnection(operator, key.workspaceId, connectionId)).toMatchObject({ changed: false });
  });

  test('is recorded by the command that erases the member', async () => {
    const memberId = await addMemberNamed(stack, key.workspaceId, 'editor');
    const { connectionId } = await allow(memberId, 'editor');
    await setRole(stack, key.workspaceId, memberId, null);
    const operator = { ...stack, actor: { kind: 'service', id: 'ops' } } as const;
    expect(await endConnectionsOfErased(operator, key.workspaceId, memberId)).toBe(1);
    expect((await historyOf(connectionId)).at(-1)?.data).toMatchObject({ reason: 'member_erased' });
    expect(await endConnectionsOfErased(operator, key.workspaceId, memberId)).toBe(0);
  });

  test('follows from the second use of a token, and tells so', async () => {
    const { grantId, connectionId } = await allow();
    const token = await issue(grantId);
    await adapterOf('RefreshToken').revokeByGrantId(grantId);
    expect(await processes[0](token)).toBeNull();
    expect((await historyOf(connectionId)).at(-1)?.data).toMatchObject({ reason: 'token_reused' });
  });
});

describe('the list of connections', () => {
  const ACTOR = 'mem_admin';
  test('has each connection once on its pages, and all can be ended', async () => {
    const workspaceId = `ws_${randomUUID()}`;
    const own = await opened.allowMany(workspaceId, ACTOR, PAGE_SIZE + 5);
    const others = await opened.allowMany(workspaceId, 'mem_other', 3);
    const all = await opened.readPages({ workspaceId });
    expect(all.map(({ length }) => length)).toEqual([PAGE_SIZE, 8]);
    expect(all.flat().toSorted()).toEqual([...own, ...others].toSorted());
    const ofOther = { workspaceId, memberId: 'mem_other' };
    expect((await opened.readPages(ofOther)).flat().toSorted()).toEqual(others.toSorted());
    expect(await connections.find(ofOther, own[0] ?? '')).toBeNull();
    expect(await connections.find({ workspaceId: key.workspaceId }, own[0] ?? '')).toBeNull();

    expect(await connections.endAll({ workspaceId, memberId: ACTOR }, ACTOR)).toBe(PAGE_SIZE + 5);
    expect(
      (await connections.list({ workspaceId })).map(({ connection_id }) => connection_id).toSorted(),
    ).toEqual(others.toSorted());
    expect(await connections.endAll({ workspaceId }, ACTOR)).toBe(3);
    expect(await connections.list({ workspaceId })).toEqual([]);
    const reasonOf = async (connectionId: string) =>
      (await historyOf(connectionId, workspaceId)).at(-1)?.data;
    expect(await reasonOf(own.at(-1) ?? '')).toMatchObject({ reason: 'member' });
    expect(await reasonOf(others[0] ?? '')).toMatchObject({ reason: 'admin' });
  });
});

test("the member's present role bounds a connection, and erasing the member ends it", async () => {
  const memberId = await addMemberNamed(stack, key.workspaceId, 'editor');
  const { grantId, connectionId } = await allow(memberId, 'editor');
  const token = await issue(grantId);
  expect((await processes[0](token))?.scopes).toEqual(new Set(SCOPES));
  await setRole(stack, key.workspaceId, memberId, 'viewer');
  expect((await processes[0](token))?.scopes).toEqual(new Set(['brands:read']));
  await setRole(stack, key.workspaceId, memberId, null);
  for (const verify of processes) expect(await verify(token)).toBeNull();
  const { pool } = stack;
  const housekeeping = startHousekeeping({ pool, connections, log: silentLog() }, 10);
  await vi.waitFor(async () => expect((await historyOf(connectionId)).at(-1)?.type).toBe('AppDisconnected'));
  await vi.waitFor(async () => expect(await adapterOf('AccessToken').find(token)).toBeUndefined());
  await housekeeping[Symbol.asyncDispose]();
  expect((await historyOf(connectionId)).at(-1)?.data).toMatchObject({ reason: 'member_erased' });
  expect(await connections.endDead()).toBe(0);
});

describe('the store of the authorization server', () => {
  test('returns what was stored, under no readable id', async () => {
    const payload = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 2 }));
    await fc.assert(
      fc.asyncProperty(fc.uuid(), payload, payload, async (id, first, second) => {
        const interactions = adapterOf('Interaction');
        const { jti: _jti, uid: _uid, ...stored } = second;
        await interactions.upsert(id, { ...first, uid: randomUUID(), jti: id }, 60);
        await interactions.upsert(id, { ...stored, jti: id }, 60);
        expect(await interactions.find(id)).toEqual(JSON.parse(JSON.stringify({ ...stored, jti: id })));
        expect(await adapterOf('Session').find(id)).toBeUndefined();
        const { rows } = await stack.pool.query<{ held: boolean }>(
          'select bool_or(record::text like $1) as held from oauth.record',
          [`%${id}%`],
        );
        expect(rows[0]?.held).toBe(false);
        await interactions.destroy(id);
        expect(await interactions.find(id)).toBeUndefined();
      }),
      { numRuns: 25 },
    );
  });

  test("stores no id of a browser's session with a request of an app", async () => {
    const interactions = adapterOf('Interaction');
    const session = { accountId: 'ada', uid: 'second', cookie: 'the cookie itself' };
    await interactions.upsert('request', { jti: 'request', session }, 60);
    const { cookie: _cookie, ...stored } = session;
    expect(await interactions.find('request')).toMatchObject({ session: stored });
    const { rows } = await stack.pool.query<{ held: boolean }>(
      "select bool_or(record::text like '%the cookie itself%') as held from oauth.record",
    );
    expect(rows[0]?.held).toBe(false);
  });

  test('keeps a registered app for a day, and longer while a member has connected it', async () => {
    const clients = adapterOf('Client');
    const days = async (id: string) => {
      const { rows } = await stack.pool.query<{ days: number | null }>(
        `select round(extract(epoch from expires_at - now()) / 86400)::int as days from oauth.record
         where kind = 'Client' and payload->>'client_id' = $1`,
        [id],
      );
      return rows[0]?.days;
    };
    for (const id of ['reg_used', 'reg_unused', 'house']) {
      await clients.upsert(id, { client_id: id }, Number.NaN);
    }
    await connections.allow({
      connectionId: connectionIdOf(randomUUID()),
      workspaceId: key.workspaceId,
      memberId: key.memberId,
      app: { ...APP, id: 'reg_used' },
      scopes: SCOPES,
      role: 'owner',
    });
    await keepUsedClients(stack.pool);
    expect([await days('reg_used'), await days('reg_unused'), await days('house')]).toEqual([30, 1, null]);
  });

  test('finds a session by its second id, and nothing that has expired', async () => {
    const sessions = adapterOf('Session');
    const [id, uid] = [randomUUID(), randomUUID()];
    await sessions.upsert(id, { uid, jti: id, accountId: 'ada' }, 60);
    expect(await sessions.findByUid(uid)).toEqual({ uid, accountId: 'ada' });
    await sessions.upsert(id, { uid, jti: id, accountId: 'ada' }, 0);
    expect(await sessions.find(id)).toBeUndefined();
    expect(await sessions.findByUid(uid)).toBeUndefined();
  });

  test('hands out an authorization code once, also to two exchanges at once', async () => {
    const { grantId } = await allow();
    const codes = adapterOf('AuthorizationCode');
    await codes.upsert('code', { grantId, jti: 'code' }, 60);
    const outcomes = await Promise.allSettled([codes.consume('code'), codes.consume('code')]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await codes.find('code')).toMatchObject({ consumed: expect.any(Number) });
  });

  test('accepts a refresh token again for half a minute, and no longer', async () => {
    const { grantId } = await allow();
    const refreshes = adapterOf('RefreshToken');
    await refreshes.upsert('refresh', { grantId, jti: 'refresh' }, 60);
    await Promise.all([refreshes.consume('refresh'), refreshes.consume('refresh')]);
    expect(await refreshes.find('refresh')).not.toHaveProperty('consumed');
    await stack.pool.query(
      `update oauth.record set consumed_at = consumed_at - interval '31 s' where kind = 'RefreshToken'`,
    );
    await refreshes.consume('refresh');
    expect(await refreshes.find('refresh')).toMatchObject({ consumed: expect.any(Number) });
  });
});
