import { randomUUID } from 'node:crypto';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { silentLog } from '#platform/logger.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { projections } from '#projections/index.ts';
import { createAlertsTables } from '#services/alerts/checkpoint.ts';
import { createCollectorTables as createIntakeTables } from '#application/collectors/collector-keys.ts';
import { createCollectorTables } from '#services/collector/collector-tables.ts';
import { createSigningKey } from '#application/audit/signing-key.ts';
import { buildOps } from '#services/ops/http/server.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { newDelivery, METADATA } from '../delivery/new-delivery.ts';
import { CHROMIUM_ARGUMENTS, findChromium } from './fixtures/browser.ts';
import { takeScreenshot } from './fixtures/screenshots.ts';
import { type AlertRuleCreated, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';

/** Minimum contrast ratio of text to its background (WCAG 2.2, 1.4.3, normal text size). */
const CONTRAST_MIN = 4.5;

/** The script reads colours from a canvas, which parses every CSS colour notation. */
const FAINT_TEXT = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const bytes = (paint) => {
    canvas.clearRect(0, 0, 1, 1);
    paint();
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const fill = (colour) => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); };
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((byte) => {
      const part = byte / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one !== null; one = one.parentElement) layers.unshift(getComputedStyle(one).backgroundColor);
    return layers;
  };
  const faint = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    const style = getComputedStyle(element);
    if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.closest(':disabled')) continue;
    const layers = behind(element);
    const ground = bytes(() => layers.forEach(fill));
    const text = bytes(() => { layers.forEach(fill); fill(element.closest('svg') ? style.fill : style.color); });
    const [light, dark] = [luminance(ground), luminance(text)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < ${CONTRAST_MIN}) faint.add(element.tagName + '.' + element.className + ' ' + ratio.toFixed(1) + ': ' + element.textContent.slice(0, 40));
  }
  return [...faint];
})()`;

const faintText = (page: Page): Promise<readonly string[]> => page.evaluate<readonly string[]>(FAINT_TEXT);

/** Deliveries can only be replayed if their rule exists. */
const recordRule = async (
  { eventStore }: ApiStack,
  { workspaceId: workspace_id, memberId: member_id }: Key,
  alert_id: string,
): Promise<void> => {
  const created: AlertRuleCreated = {
    type: 'AlertRuleCreated',
    data: {
      workspace_id,
      alert_id,
      member_id,
      name: 'Launches',
      trigger: 'new_ads',
      brand_ids: [],
      cadence: 'instant',
      email: false,
      webhook_url: 'https://hooks.shop.example/ads',
      chat: null,
      enabled: true,
      created_at: new Date().toISOString(),
    },
  };
  await eventStore.append(alertRuleStream(workspace_id, alert_id), -1n, [created], METADATA, 'a rule');
};

/** Screenshots of every page, at desktop and phone width, go to the folder SCREENSHOTS_DIR. */
const TOKEN = 'the token of the operators';
const DESKTOP = { width: 1280, height: 860 };
const PHONE = { width: 360, height: 780 };
const PARKED = 120;
const POLL_EVERY_MS = 5_000;
const WIDE_PLOT = `[...document.querySelectorAll('.plot')].some((one) => one.querySelector('canvas')?.clientWidth > one.clientWidth)`;
const STEP_LIMIT_MS = 30_000;

const executable = await findChromium();

describe.skipIf(executable === null)('the console', () => {
  const resources = new AsyncDisposableStack();
  let stack: ApiStack;
  let key: Key;
  let url: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const faults: string[] = [];

  const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
  const go = async (hash: string, title: string): Promise<void> => {
    await page.goto(`${url}/#/${hash}`);
    await heading(title).waitFor();
  };
  /** Checks also the contrast of all text, and that nothing overflows at phone width. */
  const screenshots = async (name: string, fullPage = true): Promise<void> => {
    await page.setViewportSize(DESKTOP);
    await expect.poll(() => faintText(page), { message: name }).toEqual([]);
    await takeScreenshot(page, `console-${name}-desktop`, fullPage);
    await page.setViewportSize(PHONE);
    const overflow = () =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    await expect.poll(overflow, { message: name }).toBe(0);
    // Charts are redrawn for the current width.
    await expect.poll(() => page.evaluate<boolean>(WIDE_PLOT), { message: name }).toBe(false);
    await takeScreenshot(page, `console-${name}-phone`, fullPage);
    await page.setViewportSize(DESKTOP);
  };

  beforeAll(async () => {
    stack = resources.use(await openApiStack());
    key = await stack.key();
    await createDeliveryTables(stack.pool);
    const db = resources.use(openReadDatabase(stack.environment['DATABASE_URL'] ?? ''));
    const app = buildOps({
      db,
      pool: stack.pool,
      eventStore: stack.eventStore,
      nats: () => stack.nats,
      serverChecks: {},
      archiveCallsPerHour: 150,
      memberVault: null,
      auditSigningKey: createSigningKey().audit_signing_key,
      token: TOKEN,
      log: silentLog(),
    });
    resources.defer(() => app.close());
    url = await app.listen({ host: '127.0.0.1', port: 0 });
    const alertId = randomUUID();
    await recordRule(stack, key, alertId);
    await stack.projected(await stack.eventStore.head());
    await inTransaction(stack.pool, (client) =>
      enqueue(client, [
        newDelivery(
          { workspaceId: key.workspaceId, alertId },
          { channel: 'webhook', url: 'https://hooks.shop.example/ads' },
          new Date(),
        ),
      ]),
    );
    browser = await chromium.launch({ executablePath: executable ?? '', args: CHROMIUM_ARGUMENTS });
    resources.defer(() => browser.close());
    context = await browser.newContext({ viewport: DESKTOP, colorScheme: 'light', locale: 'en-GB' });
    context.setDefaultTimeout(STEP_LIMIT_MS);
    page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      // The browser logs failed requests itself. The page shows them too, which the tests check.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        faults.push(message.text());
    });
  });
  afterAll(async () => {
    await resources.disposeAsync();
  });

  test('signs in with the token only, and stores it in this tab only', async () => {
    await page.goto(url);
    await page.getByLabel('Operator token').fill('a wrong token of nobody');
    await page.getByLabel('Operator token').press('Enter');
    await page.getByText('Invalid operator token').waitFor();
    await screenshots('sign-in');
    // An unreachable service and a token that no header can carry: each shows an error, and the form still works.
    await page.route('**/ops/deliveries?limit=1', (route) => route.abort());
    await page.getByLabel('Operator token').press('Enter');
    await page.getByText('The service does not respond.').waitFor();
    await page.unroute('**/ops/deliveries?limit=1');
    await page.getByLabel('Operator token').fill('‘pasted’ from a mail');
    await page.getByLabel('Operator token').press('Enter');
    await page.getByText('Invalid operator token').waitFor();
    await page.getByLabel('Operator token').fill(TOKEN);
    await page.getByLabel('Operator token').press('Enter');
    await heading('Projections').waitFor();
    expect(await context.cookies()).toEqual([]);
    const other = await context.newPage();
    await other.goto(url);
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.close();
  });

  test('serves its files with a restrictive content security policy', async () => {
    const { headers } = await fetch(url).then(async (response) => {
      await response.body?.cancel();
      return response;
    });
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self'/);
    const again = await fetch(`${url}/console/console.js`, {
      headers: {
        'if-none-match': (await fetch(`${url}/console/console.js`)).headers.get('etag') ?? '',
      },
    });
    expect(again.status).toBe(304);
    expect((await fetch(`${url}/console/..%2fserver.ts`)).status).toBe(401);
  });

  test('shows projections with their lag, and a rebuild from start to end', async () => {
    await stack.pool.query(
      `insert into projector.sample (at, name, position, facts_applied, lag_facts)
       select now() - n * interval '30 s', name, 1, 1,
         case when name = 'radar' then (900 * (1 + sin(n / 6.0)))::int else 0 end
       from projector.projection, generate_series(2, 110) n on conflict do nothing`,
    );
    await go('projections', 'Projections');
    await page.getByRole('row', { name: /^radar live/ }).waitFor();
    await screenshots('projections');
    await page.getByRole('link', { name: 'radar', exact: true }).click();
    await heading('radar').waitFor();
    await page.getByRole('img', { name: /^Lag of the last hour: .* events now/ }).waitFor();
    await page.getByRole('button', { name: 'Rebuild', exact: true }).click();
    await screenshots('confirm');
    await page.getByRole('dialog').getByRole('button', { name: 'Yes' }).click();
    await page.getByText('Rebuild requested.').waitFor();
    await page.getByText(/^done/).waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/tables compared with a replay of/).waitFor();
    await screenshots('projection');
  });

  test('continues by itself after a short outage of the service', async () => {
    await page.clock.install();
    await go('projections/radar', 'radar');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const polled = '**/ops/projections/radar';
    await page.route(polled, (route) => route.abort());
    await page.clock.runFor(POLL_EVERY_MS);
    await page.getByText('The service does not respond. Retrying').waitFor();
    await page.unroute(polled);
    await page.clock.runFor(POLL_EVERY_MS);
    await page.clock.resume();
    await expect.poll(() => page.locator('#notice').textContent(), { timeout: STEP_LIMIT_MS }).toBe('');
  });

  test('shows the projections at an unknown address, and closes a dialog when the page changes', async () => {
    for (const address of ['constructor', '%E0%A4%A', 'nowhere/at/all']) await go(address, 'Projections');
    await go('projections/radar', 'radar');
    await page.getByRole('button', { name: 'Rebuild', exact: true }).click();
    await page.getByRole('dialog', { name: 'Rebuild' }).waitFor();
    await go('parked', 'Parked events');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('shows parked events page by page, with the error, to retry and to skip', async () => {
    await stack.stopProjector();
    const { rows } = await stack.pool.query<{ stream: string }>(
      `insert into projector.parked (projection, stream, position, type, error, revision)
       select 'workspaces', case when n = 1 then $1 else 'workspace-zparked' || lpad(n::text, 5, '0') end, n,
         'WorkspaceCreated', 'value too long in workspaces.workspace: <img src=x onerror=alert(1)>', 0
       from generate_series(1, $2::int) n returning stream`,
      [`workspace-${key.workspaceId}`, PARKED],
    );
    expect(rows.length).toBe(PARKED);
    await go('parked?projection=workspaces', 'Parked events');
    // The heading appears before the rows.
    await expect.poll(() => page.locator('tbody tr:not(.more)').count()).toBe(50);
    const stream = `workspace-${key.workspaceId}`;
    await page.getByRole('button', { name: stream, exact: true }).click();
    await page.getByText('"type": "WorkspaceCreated"').waitFor();
    await page.reload();
    await page.getByText(`projector: ${projections.length} of ${projections.length} no owner`).click();
    await page.getByText(/^ads, alert-deliveries/).waitFor();
    await page.getByRole('button', { name: stream, exact: true }).click();
    await page.getByText('"type": "WorkspaceCreated"').waitFor();
    await screenshots('parked', false);
    await page.getByText(`projector: ${projections.length} of ${projections.length} no owner`).click();
    await page.getByRole('button', { name: `Retry ${stream}` }).click();
    await page.getByText('retry requested').waitFor();
    // A double click turns one page only.
    await page.getByRole('button', { name: 'Next' }).dblclick();
    await page.getByText('Page 2').waitFor();
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('Page 1').waitFor();
    await page.route('**/ops/parked?*', (route) => route.abort());
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('The service does not respond.').waitFor();
    await page.unroute('**/ops/parked?*');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2').waitFor();
    const second = page.locator('tbody tr:not(.more)').nth(5);
    await second.getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Yes' }).click();
    await second.getByText('skip requested').waitFor();
    await page.getByRole('button', { name: 'Retry all of workspaces' }).click();
    await page.getByText(`${PARKED} streams of workspaces will be retried.`).waitFor();
    await stack.pool.query('delete from projector.parked');
  });

  test('shows what the collector reads, and which targets do not simply wait', async () => {
    await go('collection', 'Collection');
    await page.getByText('The collector has no targets.').waitFor();
    await createCollectorTables(stack.pool);
    await stack.pool.query(
      `insert into collecting.target (source, domain, cadence, wished_at, due_at, outcome, detail) values
         ('storefront', 'late.example', 'daily', now(), now() - interval '20 hours', 'wait', 'answered 500'),
         ('storefront', 'rests.example', 'weekly', now(), now() + interval '1 day', 'refused', 'answered 403'),
         ('storefront', 'fine.example', 'weekly', now(), now() + interval '1 day', 'complete', null),
         ('site', 'site.example', 'weekly', now(), now() + interval '1 day', null, null)`,
    );
    await createIntakeTables(stack.pool);
    await stack.pool.query(
      `insert into intake.task (type, domain, failures) values ('ad_library.scan', 'failing.example', 2)`,
    );
    await page.reload();
    await page.getByRole('row', { name: 'ad_library.scan 0 0 0 0 1 –' }).waitFor();
    await page.getByRole('row', { name: /^site 1 6 / }).waitFor();
    await page.getByRole('row', { name: 'storefront 3 1 0 1 1 0 0' }).waitFor();
    await page.getByRole('row', { name: /late\.example .* due overdue .* wait answered 500/ }).waitFor();
    await page.getByRole('row', { name: /rests\.example .* refused .* answered 403/ }).waitFor();
    expect(await page.getByText('fine.example').count()).toBe(0);
    await page.getByRole('row', { name: /^storefront 3 15 .* 1 late\.example$/ }).waitFor();
    await screenshots('collection');
  });

  test('shows the streams that wait for a newer release', async () => {
    await go('figures', 'Figures');
    await page.getByText('No figures were verified yet.').waitFor();
    await go('waiting', 'Waiting streams');
    await page.getByText('No waiting streams.').waitFor();
    await createAlertsTables(stack.pool);
    await stack.pool.query(
      `insert into alerting.waiting_event (stream, revision, position, type, version)
       select 'adLibrary-' || $1::text, n, n, 'AdStarted', '9' from generate_series(4, 6) n`,
      [randomUUID()],
    );
    await page.reload();
    await page.getByRole('row', { name: /adLibrary-.* AdStarted 9 2 / }).waitFor();
    await screenshots('waiting');
  });

  test('shows deliveries with their attempts, to cancel and to replay', async () => {
    await go('deliveries?status=queued', 'Deliveries');
    await page.getByRole('row', { name: /queued webhook/ }).waitFor();
    await screenshots('deliveries');
    await page.locator('tbody a').first().click();
    await heading('Delivery').waitFor();
    await page.getByText('"items_total": 1').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Yes' }).click();
    await page.getByText('Delivery cancelled.').waitFor();
    await page.getByText('An operator cancelled it.').waitFor();
    await screenshots('delivery');
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('Replay started.').waitFor();
  });

  test('shows a history with filters, checks its hash chain and exports it', async () => {
    await go('history', 'Histories');
    await page.getByRole('row', { name: /ApiKeyIssued/ }).waitFor();
    await page.getByText(/whole up to entry 4, of/).waitFor();
    await page.getByText(/ issued API key /).waitFor();
    await screenshots('history');
    await page.getByLabel('Type').fill('MemberAdded');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/type=MemberAdded/);
    // The address changes before the rows appear.
    await expect.poll(() => page.locator('tbody tr:not(.more)').count()).toBe(1);
    await page.getByRole('button', { name: '2', exact: true }).click();
    await page.getByText('"type": "MemberAdded"').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as NDJSON' }).click();
    expect((await saved).suggestedFilename()).toBe(`history-${key.workspaceId}-ndjson.tar`);
  });

  test('is usable by keyboard and readable in dark mode', async () => {
    await go('projections', 'Projections');
    await page.getByRole('row', { name: /^radar/ }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).focus();
    const walked: string[] = [];
    for (let steps = 0; steps < 8; steps += 1) {
      await page.keyboard.press('Shift+Tab');
      walked.push(
        await page.evaluate<string>(
          `((one) => one.textContent + (getComputedStyle(one).outlineStyle === 'solid' && one.getBoundingClientRect().left >= 0))(document.activeElement)`,
        ),
      );
    }
    expect(walked).toEqual([
      'Historiestrue',
      'Deliveriestrue',
      'Collectiontrue',
      'Figurestrue',
      'Waiting streamstrue',
      'Parked eventstrue',
      'Projectionstrue',
      'Skip to contenttrue',
    ]);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await expect
      .poll(() => page.evaluate<boolean>(`document.activeElement.closest('main') !== null`))
      .toBe(true);
    expect(page.url()).toMatch(/#\/projections$/);
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await page.getByRole('row', { name: /^radar/ }).waitFor();
    await screenshots('dark');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate<number>('sessionStorage.length')).toBe(0);
  });

  test('logged no errors in the browser', () => {
    expect(faults).toEqual([]);
  });
});
