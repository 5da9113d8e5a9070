import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { createConnections } from '#services/mcp/sign-in/connections.ts';
import { type ApiStack, openApiStack } from '../../../operations/fixtures/stack.ts';
import { startProcess } from '../../../stack/processes.ts';
import {
  callMcp,
  clientIdOf,
  MCP_SECRET,
  openBrowser,
  openClient,
  openServer,
  register,
  type Tokens,
} from '../fixtures/authorization-server.ts';

const MAIN = join(import.meta.dirname, '../../../../services/mcp/main.ts');
/** Advisory lock on which the storage of an access token waits. */
const LOCK = 7_205_999;
const WAIT_MS = 30_000;

let stack: ApiStack;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  await createAuthorizationTables(stack.pool);
});
afterAll(() => resources.disposeAsync());

const untilWaiting = (count: number) =>
  vi.waitFor(
    async () => {
      const { rows } = await stack.pool.query<{ waiting: number }>(
        "select count(*)::int as waiting from pg_locks where locktype = 'advisory' and objid = $1 and not granted",
        [LOCK],
      );
      expect(rows[0]?.waiting).toBe(count);
    },
    { timeout: WAIT_MS },
  );

test('a process killed while it issues tokens costs no refresh, and a code only a new sign-in', async () => {
  const { pool, workspaceCommands, environment } = stack;
  const connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 180 });
  const key = await stack.key();
  const pages = await openServer(stack, connections);
  const { baseUrl } = pages;
  pages.answer = { key, scopes: 'all' };
  const clientId = await clientIdOf(await register(baseUrl));
  const ask = async () => {
    const client = openClient(clientId, { baseUrl });
    const back = await client.ask(openBrowser(), client.address());
    return { client, code: back.searchParams.get('code') ?? '' };
  };
  const [first, second, third] = [await ask(), await ask(), await ask()];
  const old = (await (await first.client.exchange(baseUrl, first.code)).json()) as Tokens;
  await pages[Symbol.asyncDispose]();

  await pool.query(`
    create function oauth.wait_for_tests() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(${LOCK}); return new; end $$;
    create trigger wait_for_tests before insert on oauth.record
      for each row when (new.kind = 'AccessToken') execute function oauth.wait_for_tests()`);
  const start = async () => {
    const process = startProcess(MAIN, {
      ...environment,
      MCP_PORT: new URL(baseUrl).port,
      MCP_SECRET,
      CURSOR_SECRET: 'a secret for tests only',
    });
    await process.says('listening');
    return process;
  };
  const killed = await start();
  const lock = await pool.connect();
  await lock.query('select pg_advisory_lock($1)', [LOCK]);
  const lost = Promise.allSettled([
    first.client.refresh(baseUrl, old.refresh_token ?? ''),
    second.client.exchange(baseUrl, second.code),
  ]);
  await untilWaiting(2);
  await killed.kill();
  expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await lock.query('select pg_advisory_unlock($1)', [LOCK]);
  lock.release();
  await untilWaiting(0);

  const next = await start();
  const renewed = (await (await first.client.refresh(baseUrl, old.refresh_token ?? '')).json()) as Tokens;
  expect((await callMcp(baseUrl, renewed.access_token)).status).toBe(200);
  // A code counts once, and its second use looks like theft: the connection ends.
  expect((await second.client.exchange(baseUrl, second.code)).status).toBe(400);
  const live = await connections.list({ workspaceId: key.workspaceId });
  expect(live).toHaveLength(2);
  expect(live.filter(({ connected }) => connected)).toHaveLength(1);
  const tokens = (await (await third.client.exchange(baseUrl, third.code)).json()) as Tokens;
  expect((await callMcp(baseUrl, tokens.access_token)).status).toBe(200);
  expect(await next.stop()).toBe(0);
});
