import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { freePort } from '#deploy/local/os/ports.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { CHROMIUM_ARGUMENTS, findChromium } from '../ops/fixtures/browser.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { type BenchContext, median, scaled } from './runner/bench.ts';
import { type BenchServers, openPlainPool, startServers, startService } from './runner/servers.ts';

/** The ceiling is the same browser painting the same rows from one static file without further requests. */
const PARKED = scaled(10_000);
const VIEWPORT = { width: 1280, height: 860 };
const TOKEN = 'a token for benches only';
const ROWS = 'tbody tr:not(.more)';
/** Paint times vary, so a round has several. */
const PAINTS_A_ROUND = 3;

interface Painted {
  /** Time of the first paint: the frame of the console. */
  readonly firstMs: number;
  readonly rowsMs: number;
}

const NOTE_ROWS = `
  sessionStorage.setItem('operator-token', ${JSON.stringify(TOKEN)});
  window.rowsPainted = new Promise((resolve) => {
    const check = () => {
      if (document.querySelector(${JSON.stringify(ROWS)}) === null) return requestAnimationFrame(check);
      // The frame that shows the rows is complete when the next task runs.
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0));
    };
    check();
  });
  window.firstPainted = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries())
        if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  });`;

export const run = async (context: BenchContext<'console'>): Promise<void> => {
  const executablePath = await findChromium();
  if (executablePath === null) {
    context.skip('first rows of 10,000 parked events', 'Chromium not found; set CHROMIUM_PATH');
    return;
  }
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPlainPool(servers.databaseUrl, 2);
  resources.defer(() => pool.end());
  await park(servers, pool);
  const consoleUrl = `${await startOps(servers, resources)}/#/parked`;
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS });
  resources.defer(() => browser.close());
  const staticPage = await createStaticCopy(browser, consoleUrl);
  const staticUrl = await serve(staticPage.html, resources);
  const rounds: Record<'console' | 'staticPage', Painted[]> = { console: [], staticPage: [] };
  // Warm-up, without measurement: fills the browser's code caches.
  for (const url of [consoleUrl, staticUrl]) await paint(browser, url);
  for (let round = 0; round < context.rounds * PAINTS_A_ROUND; round += 1) {
    rounds.console.push(await paint(browser, consoleUrl));
    rounds.staticPage.push(await paint(browser, staticUrl));
  }
  const of = (which: keyof typeof rounds, pick: keyof Painted) =>
    median(rounds[which].map((painted) => painted[pick]));
  const measuredMs = of('console', 'rowsMs');
  const ceilingMs = of('staticPage', 'rowsMs');
  context.print(
    `console: ${PARKED.toLocaleString('en')} parked events, ${staticPage.rows} rows in ${Math.round(staticPage.bytes / 1_024)} KiB. ` +
      `Rows after ${measuredMs.toFixed(0)} ms, first paint after ${of('console', 'firstMs').toFixed(0)} ms; ` +
      `static page: ${ceilingMs.toFixed(0)} ms, ${of('staticPage', 'firstMs').toFixed(0)} ms`,
  );
  context.record('first rows of 10,000 parked events', measuredMs / 1_000, ceilingMs / 1_000);
};

/** The projector creates its tables; the parked events are then inserted directly. */
async function park(servers: BenchServers, pool: Database): Promise<void> {
  const projector = startProcess('services/projector/main.ts', servers.environment);
  await untilPassed(pool, 0n);
  await projector.stop();
  await pool.query(
    `insert into projector.parked (projection, stream, position, type, error, revision)
     select 'ads', 'adLibrary-' || gen_random_uuid(), n, 'AdStarted',
       'new row for relation "ad" violates check constraint "ad_started_on_check": a day before the library began', n
     from generate_series(1, $1::int) n`,
    [PARKED],
  );
  await pool.query('analyze projector.parked');
}

async function startOps(servers: BenchServers, resources: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const ops = startService(resources, servers, 'ops', {
    LOG_LEVEL: 'info',
    OPS_PORT: String(port),
    OPS_TOKEN: TOKEN,
  });
  await ops.says('listening');
  return `http://127.0.0.1:${port}`;
}

async function paint(browser: Browser, url: string): Promise<Painted> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const page = await context.newPage();
    await page.addInitScript(NOTE_ROWS);
    await page.goto(url);
    return await page.evaluate<Painted>(
      '(async () => ({ rowsMs: await window.rowsPainted, firstMs: await window.firstPainted }))()',
    );
  } finally {
    await context.close();
  }
}

/** One file without scripts, padded to the bytes that the console transferred. */
async function createStaticCopy(
  browser: Browser,
  url: string,
): Promise<{ readonly html: string; readonly bytes: number; readonly rows: number }> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.addInitScript(NOTE_ROWS);
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.evaluate('window.rowsPainted');
  const rows = await page.locator(ROWS).count();
  const { bytes, css, body } = await page.evaluate<{ bytes: number; css: string; body: string }>(
    `(async () => ({
      bytes: performance.getEntries().reduce((sum, one) => sum + (one.encodedBodySize ?? 0), 0),
      css: (await Promise.all([...document.querySelectorAll('link[rel=stylesheet]')].map(async ({ href }) => (await fetch(href)).text()))).join(''),
      body: document.body.outerHTML,
    }))()`,
  );
  await context.close();
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Static</title><style>${css}</style></head>${body}`;
  const missing = bytes - Buffer.byteLength(html);
  return { html: missing > 0 ? `${html}<!--${'-'.repeat(missing)} -->` : html, bytes, rows };
}

async function serve(html: string, resources: AsyncDisposableStack): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
