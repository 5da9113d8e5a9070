import type { Client } from '@modelcontextprotocol/client';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { invitePerson } from '#services/ops/workspaces/members.ts';
import type { ServiceProcess } from '../../stack/processes.ts';
import { openApp, press } from './app-with-browser.ts';
import { type Front, openFront } from './front.ts';
import { CLIENT, openUpstreamProvider, type UpstreamProvider } from './upstream-provider.ts';
import { CHROMIUM, heading, newAddress, openWalk, type Walk } from './walk.ts';

/** Advisory lock on which writes of a sign-in wait while a test holds it. */
const LOCK = 7_205_998;
const WAIT_MS = 60_000;

/** Two processes behind one address. One serves; the other takes over when it is killed. */
describe.skipIf(CHROMIUM === null)('sign-in with two processes', () => {
  const resources = new AsyncDisposableStack();
  let walk: Walk;
  let upstream: UpstreamProvider;
  let front: Front;
  type Started = { readonly port: number; readonly process: ServiceProcess };
  let serving: Started;
  let spare: Promise<Started>;

  const start = async (port: number): Promise<Started> => ({ port, process: await walk.start(port) });
  /** Kills the serving process with SIGKILL. Nothing is served until `takeOver`. */
  const kill = async (): Promise<void> => {
    front.lead(null);
    await serving.process.kill();
  };
  const takeOver = async (): Promise<void> => {
    const { port } = serving;
    serving = await spare;
    front.lead(serving.port);
    spare = start(port);
  };
  const untilWaiting = (count: number) =>
    vi.waitFor(
      async () => {
        const { rows } = await walk.stack.pool.query<{ waiting: number }>(
          "select count(*)::int as waiting from pg_locks where locktype = 'advisory' and objid = $1 and not granted",
          [LOCK],
        );
        expect(rows[0]?.waiting).toBe(count);
      },
      { timeout: WAIT_MS },
    );
  /** Kills the process in the middle of a step, while it writes, and lets the other one take over. */
  const killDuring = async (step: () => Promise<void>): Promise<void> => {
    const lock = await walk.stack.pool.connect();
    await lock.query('select pg_advisory_lock($1)', [LOCK]);
    const ended = step().catch(() => undefined);
    await untilWaiting(1);
    await kill();
    await lock.query('select pg_advisory_unlock($1)', [LOCK]);
    lock.release();
    await untilWaiting(0);
    await ended;
    await takeOver();
  };

  beforeAll(async () => {
    upstream = resources.use(await openUpstreamProvider());
    walk = resources.use(
      await openWalk({
        UPSTREAM_ISSUER: upstream.issuer,
        UPSTREAM_CLIENT_ID: CLIENT,
        UPSTREAM_CLIENT_SECRET: 'secret',
      }),
    );
    front = resources.use(await openFront(Number(new URL(walk.baseUrl).port)));
    const ports = [await freePort(), await freePort()] as const;
    const first = start(ports[0]);
    spare = start(ports[1]);
    [serving] = await Promise.all([first, spare, walk.stack.seed(['alpha'])]);
    front.lead(serving.port);
    const { pool } = walk.stack;
    await pool.query(`create function sign_in.wait_for_tests() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${LOCK}); return new; end $$`);
    for (const table of ['sign_in.code', 'sign_in.browser']) {
      await pool.query(`create trigger wait_for_tests before insert on ${table}
        for each row execute function sign_in.wait_for_tests()`);
    }
    await pool.query(`create trigger wait_for_tests before insert on oauth.record for each row
      when (new.kind in ('Grant', 'Interaction')) execute function sign_in.wait_for_tests()`);
  });
  afterAll(async () => {
    await spare.catch(() => undefined);
    await resources.disposeAsync();
  });

  const allowIn = async (page: Page): Promise<void> => {
    await heading(page, 'Allow this app?');
    await press(page, 'Allow');
  };
  const find = (client: Client) => client.callTool({ name: 'find_brands', arguments: { q: 'alpha' } });

  test('goes on after a kill in the middle of every step', async () => {
    const address = newAddress();
    await walk.addMember(address);
    await walk.stack.projected(await walk.stack.eventStore.head());
    await using app = await openApp(`${walk.baseUrl}/mcp`, 'App');
    const { page } = await walk.openBrowser();
    const authorize = (await app.begin()) ?? '';
    await killDuring(async () => void (await page.goto(authorize)));
    await page.goto(authorize);
    await heading(page, 'Sign in');
    const signIn = page.url();
    await page.getByLabel('E-mail address').fill(address);
    await killDuring(() => press(page, 'Send a code'));
    await page.goto(signIn);
    await walk.requestCode(page, address);
    await page.getByLabel('Code').fill(await walk.codeFor(address));
    await killDuring(() => press(page, 'Sign in'));
    await page.goto(signIn);
    await walk.signInByCode(page, address);
    await heading(page, 'Allow this app?');
    const consent = page.url();
    await killDuring(() => press(page, 'Allow'));
    await page.goto(consent);
    await allowIn(page);
    await app.returned();
    await kill();
    await takeOver();
    const client = await app.finish();
    expect((await find(client)).isError).not.toBe(true);
    const { rows } = await walk.stack.pool.query<{ count: number }>(
      "select count(*)::int as count from access.connection where app->>'name' = 'App'",
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  test('through the organisation signs in members by their verified address only', async () => {
    const address = newAddress();
    await walk.addMember(address);
    await walk.stack.projected(await walk.stack.eventStore.head());
    await using app = await openApp(`${walk.baseUrl}/mcp`, 'Upstream');
    const { page } = await walk.openBrowser();
    const link = page.getByRole('link', { name: new URL(upstream.issuer).host });
    upstream.signIn({ email: newAddress(), email_verified: true });
    await page.goto((await app.begin()) ?? '');
    await heading(page, 'Sign in');
    const signIn = page.url();
    await link.click();
    await heading(page, 'You are not signed in');
    upstream.signIn({ email: address, email_verified: true });
    await page.goto(signIn);
    await link.click();
    await allowIn(page);
    expect((await find(await app.finish())).isError).not.toBe(true);
  });

  test('two requests of apps in one browser do not end each other', async () => {
    const address = newAddress();
    await walk.addMember(address);
    await walk.stack.projected(await walk.stack.eventStore.head());
    await using first = await openApp(`${walk.baseUrl}/mcp`, 'First');
    await using second = await openApp(`${walk.baseUrl}/mcp`, 'Second');
    const { page, context } = await walk.openBrowser();
    const other = await context.newPage();
    await page.goto((await first.begin()) ?? '');
    await other.goto((await second.begin()) ?? '');
    await walk.signInByCode(page, address);
    await heading(page, 'Allow this app?');
    expect(await page.locator('main').innerText()).toContain('First');
    await other.reload();
    await allowIn(other);
    await allowIn(page);
    for (const app of [first, second]) expect((await find(await app.finish())).isError).not.toBe(true);
  });

  test('the account shows own API keys and the use of apps, and revokes a key for every process', async () => {
    const { stack, key, operator } = walk;
    const api = await stack.api();
    const ask = async () =>
      (await api.inject({ url: '/v1/me', headers: { authorization: `Bearer ${key.text}` } })).statusCode;
    expect(await ask()).toBe(200);
    const { link } = await invitePerson(operator, key.workspaceId, key.memberId);
    await using app = await openApp(`${walk.baseUrl}/mcp`, 'Used');
    const { page } = await walk.openBrowser();
    await page.goto(link);
    await press(page, 'Sign in');
    await heading(page, 'Your account');
    await page.goto((await app.begin()) ?? '');
    await allowIn(page);
    await find(await app.finish());
    await page.goto(`${walk.baseUrl}/account`);
    const used = page.getByRole('listitem').filter({ has: page.getByText('Used', { exact: true }) });
    const read = async () => {
      await page.reload();
      return used.innerText();
    };
    await expect.poll(read, { timeout: WAIT_MS }).toMatch(/; last used \d+ \w+ \d{4}/);
    const own = page.getByRole('listitem').filter({ hasText: `ends in ${key.text.slice(-4)}` });
    await own.getByRole('button', { name: 'Revoke this key' }).click();
    await own.waitFor({ state: 'detached' });
    expect(await ask()).toBe(401);
  });

  test('an admin ends a connection at one process, and the other refuses its token at once', async () => {
    const [member, admin] = [newAddress(), newAddress()];
    const memberId = await walk.addMember(member);
    await walk.addMember(admin, walk.key.workspaceId, 'admin');
    await walk.stack.projected(await walk.stack.eventStore.head());
    await using app = await openApp(`${walk.baseUrl}/mcp`, 'Ended');
    const { page } = await walk.openBrowser();
    await page.goto((await app.begin()) ?? '');
    await walk.signInByCode(page, member);
    await allowIn(page);
    const client = await app.finish();
    const token = app.accessToken();
    const [one, other] = [serving, await spare];
    /** Calls one process directly, with the token of the app. */
    const statusAt = async ({ port }: Started): Promise<number> => {
      const sent = request({
        port,
        host: '127.0.0.1',
        path: '/mcp',
        method: 'POST',
        headers: {
          host: new URL(walk.baseUrl).host,
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
      });
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      sent.once('error', reject);
      sent.once(
        'response',
        (response) => void text(response).then(() => resolve(response.statusCode ?? 0), reject),
      );
      return promise;
    };
    expect(await Promise.all([one, other].map(statusAt))).toEqual([200, 200]);

    await walk.stack.stopProjector();
    front.lead(other.port);
    const { page: adminPage } = await walk.openBrowser();
    await adminPage.goto(`${walk.baseUrl}/account`);
    await walk.signInByCode(adminPage, admin);
    const shown = adminPage
      .getByRole('listitem')
      .filter({ has: adminPage.getByText('Ended', { exact: true }) });
    await shown.getByRole('button', { name: 'End this connection' }).click();
    await shown.waitFor({ state: 'detached' });
    expect(await Promise.all([one, other].map(statusAt))).toEqual([401, 401]);
    await expect(find(client)).rejects.toThrow(/Unauthorized/);
    const { rows } = await walk.stack.pool.query<{ count: number }>(
      'select count(*)::int as count from access.connection where member_id = $1 and not ended',
      [memberId],
    );
    expect(rows).toEqual([{ count: 0 }]);
  });
});
