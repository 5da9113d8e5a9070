import { type Client, UnauthorizedError } from '@modelcontextprotocol/client';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answers, openTlsReceivers, type Receivers } from '../../delivery/receivers.ts';
import type { Revision } from '../mcp-stack.ts';
import { openApp, press } from './fixtures/app-with-browser.ts';
import { CHROMIUM, heading, newAddress, openWalk, type Walk } from './fixtures/walk.ts';

/** The MCP revision does not concern the sign-in, so not every pair of both is tested. */
const DOCUMENT = '/app.json';
const WAIT_MS = 60_000;
const LOOK_MS = 50;
/** The provider waits 2.5 s for a document, which a busy machine can exceed. */
const VISITS_MAX = 5;

const CASES: readonly (readonly [Revision, 'registration' | 'document'])[] = [
  ['auto', 'document'],
  ['legacy', 'registration'],
];
const VERSIONS: Readonly<Record<Revision, string>> = { auto: '2026-07-28', legacy: '2025-11-25' };

describe.skipIf(CHROMIUM === null)('an app with the official client', () => {
  const resources = new AsyncDisposableStack();
  let site: Receivers;
  let walk: Walk;
  const documentUrl = (): string => `https://localhost:${site.port}${DOCUMENT}`;

  beforeAll(async () => {
    const receivers = await openTlsReceivers('localhost');
    site = resources.use(receivers);
    const folder = await mkdtemp(join(tmpdir(), 'client-document-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    const certificate = join(folder, 'ca.pem');
    await writeFile(certificate, receivers.ca);
    const document = {
      client_id: documentUrl(),
      client_name: 'App with a document',
      redirect_uris: ['http://127.0.0.1/back'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    };
    site.behave(DOCUMENT, answers(200, { 'content-type': 'application/json' }, JSON.stringify(document)));
    walk = resources.use(
      await openWalk({
        EGRESS_ALLOW_LOOPBACK: 'true',
        NODE_EXTRA_CA_CERTS: certificate,
      }),
    );
    await Promise.all([walk.start(), walk.stack.seed(['alpha'])]);
  });
  afterAll(() => resources.disposeAsync());

  const visit = async (page: Page, address: string): Promise<void> => {
    for (let visits = 1; visits < VISITS_MAX; visits += 1) {
      await page.goto(address);
      if (!(await page.locator('main').innerText()).includes('document fetch failed')) return;
    }
    await page.goto(address);
  };
  const find = async (client: Client): Promise<void> => {
    const { isError, structuredContent } = await client.callTool({ name: 'find_brands', arguments: {} });
    expect(isError).not.toBe(true);
    expect((structuredContent as { items: object[] }).items).toHaveLength(1);
  };

  test.each(CASES)(
    'of revision %s, known by %s: 401, sign-in, call, step-up, refresh, end, 401',
    async (revision, way) => {
      const address = newAddress();
      await walk.addMember(address);
      await walk.stack.projected(await walk.stack.eventStore.head());
      await using app = await openApp(`${walk.baseUrl}/mcp`, 'App without a document', {
        revision,
        ...(way === 'document' ? { documentUrl: documentUrl() } : {}),
      });
      const begun = await app.begin();
      expect(begun).toContain(`${walk.baseUrl}/oauth/authorize?`);
      const { page } = await walk.openBrowser();
      await visit(page, begun ?? '');
      await walk.signInByCode(page, address);
      await heading(page, 'Allow this app?');
      const consent = await page.locator('main').innerText();
      const claim =
        way === 'document'
          ? `App with a document (verified: localhost:${site.port})`
          : 'App without a document (not verified: it named itself)';
      expect(consent).toContain(claim);
      expect(consent).toContain('a program on this computer');
      await press(page, 'Allow');
      const reader = await app.finish();
      expect(reader.getNegotiatedProtocolVersion()).toBe(VERSIONS[revision]);
      await find(reader);

      const track = { name: 'track_brand', arguments: { brand: 'alpha' } };
      await expect(reader.callTool(track)).rejects.toBeInstanceOf(UnauthorizedError);
      await visit(page, app.beginAgain());
      await heading(page, 'Allow this app?');
      expect(await page.getByLabel('Track and untrack brands').isChecked()).toBe(false);
      await page.getByLabel('Track and untrack brands').check();
      await press(page, 'Allow');
      const writer = await app.finish();
      expect((await writer.callTool(track)).isError).not.toBe(true);

      const before = app.accessToken();
      await walk.stack.pool.query("update oauth.record set expires_at = now() where kind = 'AccessToken'");
      // A process uses a token for some milliseconds before it looks it up again.
      const call = async (): Promise<string> => {
        await find(writer);
        return app.accessToken();
      };
      await expect.poll(call, { timeout: WAIT_MS, interval: LOOK_MS }).not.toBe(before);

      await page.goto(`${walk.baseUrl}/account`);
      await page.getByRole('link', { name: 'End several connections at once' }).click();
      await press(page, 'End all my connections');
      await page.getByText('No app is connected.').waitFor();
      await expect(find(writer)).rejects.toBeInstanceOf(UnauthorizedError);
    },
  );
});
