import axe from 'axe-core';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConnectionEvent, connectionStream } from '#contracts/events/workspace/connection.ts';
import { type SignInEvent, signInStream } from '#contracts/events/workspace/sign-in.ts';
import { connectionIdOf } from '#domain/workspace/connection.ts';
import { systemClock } from '#platform/clock.ts';
import { createConnections, PAGE_SIZE } from '#services/mcp/sign-in/connections.ts';
import { invitePerson } from '#services/ops/workspaces.ts';
import { takeScreenshot } from '../../ops/fixtures/screenshots.ts';
import { openApp, press } from './fixtures/app-with-browser.ts';
import { CHROMIUM, DESKTOP, heading, newAddress, openWalk, type Walk } from './fixtures/walk.ts';

/** Screenshots of every page, at desktop and phone width, go to the folder SCREENSHOTS_DIR. */
const PHONE = { width: 390, height: 844 };
const HOSTILE = `<script>document.title="taken"</script>"><b onmouseover=alert(1)>\u{202E}Claude`;

describe.skipIf(CHROMIUM === null)('a member with an app', () => {
  let walk: Walk;
  let { stack, key, baseUrl, operator, start, openBrowser } = {} as Walk;
  let { addMember, codeFor, requestCode, signInByCode, eventsOf } = {} as Walk;

  const inspect = async (page: Page, name: string): Promise<void> => {
    await takeScreenshot(page, `sign-in-${name}-desktop`, true);
    await page.setViewportSize(PHONE);
    await takeScreenshot(page, `sign-in-${name}-phone`, true);
    const overflow = () =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    await expect.poll(overflow, { message: name }).toBe(0);
    await page.evaluate(axe.source);
    const findings = await page.evaluate<string[]>(
      `axe.run().then(({ violations }) => violations.map(({ id, help }) => id + ': ' + help))`,
    );
    expect(findings, name).toEqual([]);
    await page.setViewportSize(DESKTOP);
  };

  beforeAll(async () => {
    walk = await openWalk();
    ({ stack, key, baseUrl, operator, start, openBrowser } = walk);
    ({ addMember, codeFor, requestCode, signInByCode, eventsOf } = walk);
    await Promise.all([start(), stack.seed(['alpha'])]);
  });
  afterAll(() => walk[Symbol.asyncDispose]());

  test('signs in with a code, allows the app, sees it in the account and ends it', async () => {
    const address = newAddress();
    const memberId = await addMember(address);
    await stack.projected(await stack.eventStore.head());
    await using app = await openApp(`${baseUrl}/mcp`, HOSTILE);
    const { page } = await openBrowser();
    await page.goto((await app.begin()) ?? '');
    await heading(page, 'Sign in');
    await inspect(page, 'sign-in');
    await page.getByLabel('E-mail address').fill(address);
    await press(page, 'Send a code');
    await heading(page, 'Enter the code');
    await inspect(page, 'code');
    await page.getByLabel('Code').fill('0000 0000');
    await press(page, 'Sign in');
    await page.getByRole('alert').filter({ hasText: 'Tries left: 4' }).waitFor();
    const code = await codeFor(address);
    await page.getByLabel('Code').fill(code);
    await press(page, 'Sign in');

    await heading(page, 'Allow this app?');
    await inspect(page, 'consent');
    expect(await page.title()).not.toBe('taken');
    expect(await page.locator('main').innerText()).toContain('<script>document.title="taken"</script>');
    await page.getByLabel('Read saved items and notes').uncheck();
    await press(page, 'Allow');
    const client = await app.finish();
    const token = app.accessToken();
    const result = await client.callTool({ name: 'find_brands', arguments: { q: 'alpha' } });
    expect(result.isError).not.toBe(true);
    const notes = await client
      .callTool({ name: 'get_workspace', arguments: { include: ['notes'] } })
      .catch(String);
    expect(JSON.stringify(notes)).toMatch(/Unauthorized/);

    await page.goto(`${baseUrl}/account`);
    await heading(page, 'Your account');
    await inspect(page, 'account');
    expect(await page.locator('main').innerText()).toContain(address);
    await press(page, 'End this connection');
    await page.getByText('No app is connected.').waitFor();
    await expect(client.callTool({ name: 'find_brands', arguments: {} })).rejects.toThrow(/Unauthorized/);
    await press(page, 'Sign out');
    await heading(page, 'Sign in');

    const signIns = await eventsOf<SignInEvent>(signInStream(key.workspaceId));
    const own = signIns.filter(({ data }) => data.member_id === memberId);
    expect(own.map(({ type }) => type)).toEqual(['MemberSignedIn', 'MemberSignedOut']);
    const { rows } = await stack.pool.query<{ connection_id: string }>(
      'select connection_id from access.connection where member_id = $1',
      [memberId],
    );
    const events = await eventsOf<ConnectionEvent>(
      connectionStream(key.workspaceId, rows[0]?.connection_id ?? ''),
    );
    expect(events.map(({ type }) => type)).toEqual(['AppAllowed', 'AppConnected', 'AppDisconnected']);
    expect(events[0]?.data).toMatchObject({
      client: { identified_by: 'registration', redirect_host: 'loopback' },
    });
    expect(JSON.stringify(events[0]?.data)).not.toMatch(/notes:read|collections:read|:write|\u{202E}/u);
    const recorded = JSON.stringify([...signIns, ...events], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    for (const secret of [address, code, token, '127.0.0.1']) expect(recorded).not.toContain(secret);
  });

  test('signs in with an invitation, which no other browser can use, and denies the app', async () => {
    const memberId = await addMember(null);
    await stack.projected(await stack.eventStore.head());
    const { link } = await invitePerson(operator, key.workspaceId, memberId);
    await using app = await openApp(`${baseUrl}/mcp`, 'App');
    const { page, context } = await openBrowser();
    const waiting = await context.newPage();
    await waiting.goto((await app.begin()) ?? '');
    await heading(waiting, 'Sign in');
    await page.goto(link);
    await heading(page, 'Your invitation');
    await inspect(page, 'invitation');
    await press(page, 'Sign in');
    await heading(page, 'Your account');
    const other = (await openBrowser()).page;
    await other.goto(link);
    await heading(other, 'This invitation does not work');
    await inspect(other, 'message');

    await waiting.reload();
    await heading(waiting, 'Allow this app?');
    await press(waiting, 'Deny');
    expect((await app.returned()).get('error')).toBe('access_denied');
  });

  test('chooses a workspace, uses another account, and sees the same page for an unknown address', async () => {
    const [first, second] = [newAddress(), newAddress()];
    const other = await stack.key();
    await addMember(first);
    await addMember(first, other.workspaceId, 'viewer');
    await addMember(second);
    await stack.projected(await stack.eventStore.head());
    await using app = await openApp(`${baseUrl}/mcp`, 'App');
    const { page } = await openBrowser();
    await page.goto((await app.begin()) ?? '');
    await requestCode(page, newAddress());
    const unknown = (await page.content()).replaceAll(/value="[^"]*"/g, '');
    await page.getByRole('link', { name: 'Use another address or send another code' }).click();
    await requestCode(page, first);
    expect((await page.content()).replaceAll(/value="[^"]*"/g, '')).toBe(unknown);
    await page.getByLabel('Code').fill(await codeFor(first));
    await press(page, 'Sign in');
    await heading(page, 'Choose a workspace');
    await inspect(page, 'workspace');
    await page.getByLabel('Your role: viewer').check();
    await press(page, 'Continue');
    await heading(page, 'Allow this app?');
    expect(await page.getByText('your role: viewer').count()).toBe(1);
    await press(page, 'Use another account');
    await heading(page, 'Sign in');
    await signInByCode(page, second);
    await heading(page, 'Allow this app?');
    await page.getByText(second).waitFor();
    await press(page, 'Allow');
    await (await app.finish()).close();
  });

  test('sees older connections on further pages, and ends all', async () => {
    const { workspaceId } = await stack.key();
    const [admin, editor] = [newAddress(), newAddress()];
    const adminId = await addMember(admin, workspaceId, 'admin');
    await addMember(editor, workspaceId, 'editor');
    const connections = createConnections({ ...stack, clock: systemClock, connectionDays: 1 });
    const allow = async (number: number): Promise<void> => {
      const connectionId = connectionIdOf(randomUUID());
      const client = {
        id: 'app',
        name: `App ${number}`,
        identified_by: 'operator',
        redirect_host: 'a',
      } as const;
      const consent = { connectionId, workspaceId, memberId: adminId, app: client };
      await connections.allow({ ...consent, scopes: ['brands:read'], role: 'admin' });
    };
    await allow(0);
    await Promise.all(Array.from({ length: PAGE_SIZE }, (_, index) => allow(index + 1)));
    await stack.projected(await stack.eventStore.head());

    const { page: editorPage } = await openBrowser();
    await editorPage.goto(`${baseUrl}/account`);
    await signInByCode(editorPage, editor);
    await editorPage.getByText('No app is connected.').waitFor();
    await editorPage.goto(`${baseUrl}/account/end-all?workspace=${workspaceId}`);
    await heading(editorPage, 'End connections?');
    expect(await editorPage.getByRole('button').allInnerTexts()).toEqual(['End all my connections']);
    const form_token = await editorPage.locator('input[name="form_token"]').first().inputValue();
    const forged = { form_token, workspace: workspaceId, of: 'all', connection: '\0' };
    for (const path of ['/account/end-all', '/account/end']) {
      const options = { form: forged, headers: { origin: baseUrl }, maxRedirects: 0 };
      expect((await editorPage.request.post(`${baseUrl}${path}`, options)).status()).toBe(303);
    }
    expect(await connections.list({ workspaceId })).toHaveLength(PAGE_SIZE);

    const { page } = await openBrowser();
    await page.goto(`${baseUrl}/account`);
    await signInByCode(page, admin);
    await page.getByRole('link', { name: 'Show older connections' }).click();
    await heading(page, 'Older connections');
    await inspect(page, 'older');
    expect(await page.getByRole('listitem').allInnerTexts()).toEqual([expect.stringContaining('App 0')]);
    await press(page, 'End this connection');
    await page.getByText('No older app is connected.').waitFor();
    await page.getByRole('link', { name: 'End several connections at once' }).click();
    await heading(page, 'End connections?');
    await inspect(page, 'end-all');
    await press(page, 'End the connections of all members');
    await heading(page, 'Your account');
    await page.getByText('No app is connected.').waitFor();
  });

  test('is protected from forms of other sites and of other browsers', async () => {
    const post = (
      path: string,
      headers: Readonly<Record<string, string>>,
      form = 'address=a%40shop.example',
    ) =>
      fetch(`${baseUrl}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: form,
      });
    const shown = await fetch(`${baseUrl}/account`);
    const cookie = shown.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const token = /name="form_token" value="([^"]+)"/.exec(await shown.text())?.[1] ?? '';
    const form = `form_token=${token}&address=a%40shop.example`;
    const own = { cookie, origin: baseUrl };
    expect((await post('/account/address', own, form)).status).toBe(303);
    expect((await post('/account/address', own)).status).toBe(403);
    expect((await post('/account/address', { ...own, origin: 'https://evil.example' }, form)).status).toBe(
      403,
    );
    expect((await post('/account/address', { cookie }, form)).status).toBe(403);
    expect((await post('/account/address', { cookie, origin: 'null' }, form)).status).toBe(403);
    const withoutReferrer = { cookie, origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect((await post('/account/address', withoutReferrer, form)).status).toBe(303);
    expect((await post('/account/address', { origin: baseUrl }, form)).status).toBe(403);
    expect((await post('/account/address', { ...own, 'content-type': 'text/plain' }, form)).status).toBe(415);
    expect((await post('/account/address', own, 'x'.repeat(20_000))).status).toBe(413);
    for (const path of ['/account', '/signin/unknown', '/signin/invitation/unknown']) {
      const page = await fetch(`${baseUrl}${path}`);
      const { headers } = page;
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      for (const set of headers.getSetCookie()) expect(set).toMatch(/HttpOnly; SameSite=Lax/);
    }
  });
});
