import type { Client } from '@modelcontextprotocol/client';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import { invitePerson } from '#services/ops/workspaces.ts';
import { openApp, press } from './fixtures/app-with-browser.ts';
import { openTwoProcesses, type Started, type TwoProcesses } from './fixtures/two-processes.ts';
import { CLIENT, openUpstreamProvider, type UpstreamProvider } from './fixtures/upstream-provider.ts';
import { CHROMIUM, heading, newAddress, visitAgain, type Walk } from './fixtures/walk.ts';

const WAIT_MS = 60_000;
/**
 * Each kill costs the start of a process. Writes that another walk also makes are then killed in one walk only, unless
 * SIGN_IN_KILLS_ALL=1.
 */
const { SIGN_IN_KILLS_ALL } = readSettings(z.object({ SIGN_IN_KILLS_ALL: z.stringbool().default(false) }));

describe.skipIf(CHROMIUM === null)('sign-in with two processes', () => {
  const resources = new AsyncDisposableStack();
  let upstream: UpstreamProvider;
  let processes: TwoProcesses;
  let walk: Walk;

  beforeAll(async () => {
    upstream = resources.use(await openUpstreamProvider());
    processes = resources.use(
      await openTwoProcesses({
        UPSTREAM_ISSUER: upstream.issuer,
        UPSTREAM_CLIENT_ID: CLIENT,
        UPSTREAM_CLIENT_SECRET: 'secret',
      }),
    );
    ({ walk } = processes);
  });
  afterAll(() => resources.disposeAsync());

  const allowIn = async (page: Page): Promise<void> => {
    await heading(page, 'Allow this app?');
    await press(page, 'Allow');
  };
  /** Visits an address again. The request may have ended with its answer: the app then asks again, without another sign-in. */
  const goOn = async (page: Page, url: string, app: Awaited<ReturnType<typeof openApp>>): Promise<Page> => {
    const tab = await visitAgain(page, url);
    const title = await tab.getByRole('heading', { level: 1 }).innerText();
    if (title !== 'Allow this app?') await tab.goto((await app.begin()) ?? '');
    return tab;
  };
  const find = (client: Client) => client.callTool({ name: 'find_brands', arguments: { q: 'alpha' } });

  test('goes on after a kill in the middle of every step', async () => {
    const address = newAddress();
    await walk.addMember(address);
    await walk.stack.projected(await walk.stack.eventStore.head());
    await using app = await openApp(`${walk.baseUrl}/mcp`, 'App');
    let { page } = await walk.openBrowser();
    const authorize = (await app.begin()) ?? '';
    await processes.killDuring('request', () => page.goto(authorize));
    page = await visitAgain(page, authorize);
    await heading(page, 'Sign in');
    const signIn = page.url();
    await page.getByLabel('E-mail address').fill(address);
    await processes.killDuring('code', () => press(page, 'Send a code'));
    page = await visitAgain(page, signIn);
    await walk.requestCode(page, address);
    await page.getByLabel('Code').fill(await walk.codeFor(address));
    await processes.killDuring('codeUsed', () => press(page, 'Sign in'));
    // Postgres may have committed the use of the code without its client, so the person asks for another one.
    page = await visitAgain(page, signIn);
    await walk.requestCode(page, address);
    await page.getByLabel('Code').fill(await walk.codeFor(address));
    await processes.killDuring('browser', () => press(page, 'Sign in'));
    page = await visitAgain(page, signIn);
    await walk.requestCode(page, address);
    await page.getByLabel('Code').fill(await walk.codeFor(address));
    await processes.killDuring('session', () => press(page, 'Sign in'));
    page = await goOn(page, signIn, app);
    await heading(page, 'Allow this app?');
    const consent = page.url();
    await processes.killDuring('grant', () => press(page, 'Allow'));
    page = await visitAgain(page, consent);
    await heading(page, 'Allow this app?');
    await processes.killDuring('authorizationCode', () => press(page, 'Allow'));
    page = await goOn(page, consent, app);
    await allowIn(page);
    await app.returned();
    await processes.kill();
    const client = await app.finish();
    expect((await find(client)).isError).not.toBe(true);
    const { rows } = await walk.stack.pool.query<{ count: number }>(
      "select count(*)::int as count from access.connection where app->>'name' = 'App' and connected",
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  test('through the organisation signs in members by their verified address only, with a kill in each step', async () => {
    const address = newAddress();
    await walk.addMember(address);
    await walk.stack.projected(await walk.stack.eventStore.head());
    await using app = await openApp(`${walk.baseUrl}/mcp`, 'Upstream');
    let { page } = await walk.openBrowser();
    const follow = () => page.getByRole('link', { name: new URL(upstream.issuer).host }).click();
    upstream.signIn({ email: newAddress(), email_verified: true });
    await page.goto((await app.begin()) ?? '');
    await heading(page, 'Sign in');
    const signIn = page.url();
    await follow();
    await heading(page, 'You are not signed in');
    upstream.signIn({ email: address, email_verified: true });
    for (const write of ['upstream', 'upstreamReturn', 'browser'] as const) {
      if (write === 'browser' && !SIGN_IN_KILLS_ALL) continue;
      page = await visitAgain(page, signIn);
      await processes.killDuring(write, follow);
    }
    page = await visitAgain(page, signIn);
    await follow();
    await allowIn(page);
    expect((await find(await app.finish())).isError).not.toBe(true);
  });

  test('an invitation link signs in after a kill in its step, and another account is used after one', async () => {
    const address = newAddress();
    await walk.addMember(address);
    await walk.stack.projected(await walk.stack.eventStore.head());
    const { link } = await invitePerson(walk.operator, walk.key.workspaceId, walk.key.memberId);
    await using app = await openApp(`${walk.baseUrl}/mcp`, 'Switched');
    let { page } = await walk.openBrowser();
    await page.goto(link);
    for (const write of ['invitation', 'browser'] as const) {
      if (write === 'browser' && !SIGN_IN_KILLS_ALL) continue;
      await processes.killDuring(write, () => press(page, 'Sign in'));
      page = await visitAgain(page, link);
    }
    await press(page, 'Sign in');
    await heading(page, 'Your account');

    await page.goto((await app.begin()) ?? '');
    await heading(page, 'Allow this app?');
    const consent = page.url();
    await processes.killDuring('signOut', () => press(page, 'Use another account'));
    page = await visitAgain(page, consent);
    // Postgres may have committed the statement without its client.
    const title = page.getByRole('heading', { level: 1 });
    if ((await title.innerText()) === 'Allow this app?') await press(page, 'Use another account');
    await walk.requestCode(page, address);
    await page.getByLabel('Code').fill(await walk.codeFor(address));
    const signIn = () => press(page, 'Sign in');
    if (SIGN_IN_KILLS_ALL) {
      await processes.killDuring('session', signIn);
      page = await goOn(page, consent, app);
    } else await signIn();
    await page.getByText(address).waitFor();
    await allowIn(page);
    expect((await find(await app.finish())).isError).not.toBe(true);
    const { rows } = await walk.stack.pool.query<{ own: boolean }>(
      "select member_id = $1 as own from access.connection where app->>'name' = 'Switched'",
      [walk.key.memberId],
    );
    expect(rows).toEqual([{ own: false }]);
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
    const [one, other] = await processes.both();
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
    processes.lead(other);
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
