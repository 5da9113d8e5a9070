import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { freePort } from '#deploy/local/os/ports.ts';
import { openPool, type Database } from '#platform/postgres/pool.ts';
import { CHROMIUM_ARGUMENTS, findChromium } from '../ops/fixtures/browser.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { untilPassed } from '#tests/stack/read-models.ts';
import { type BenchContext, median, ROUNDS_ALONE } from './bench.ts';
import { type BenchServers, startServers } from './servers.ts';

/**
 * How long an operator looks at nothing: from the address being opened, with nothing cached, until the rows of ten
 * thousand parked events are painted. The ceiling is the same browser painting those rows out of one file of as many
 * bytes, which asks nobody anything.
 */
const PARKED = 10_000;
const VIEWPORT = { width: 1280, height: 860 };
const TOKEN = 'a token for benches only';
const ROWS = 'tbody tr:not(.more)';
/** As long as a page may take that is felt to come at once; from Nielsen's limits. */
const SECONDS_MAX = 1;
/** Paints are short and scatter: a round is several of them. */
const PAINTS_A_ROUND = 3;

interface Painted {
  /** The first text or image: the frame of the console. */
  readonly firstMs: number;
  /** The frame after the rows were there. */
  readonly rowsMs: number;
}

/** In the page, before its own scripts: when the first row is on the screen, and when anything at all was. */
const NOTE_ROWS = `
  sessionStorage.setItem('operator-token', ${JSON.stringify(TOKEN)});
  window.rowsPainted = new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(${JSON.stringify(ROWS)}) === null) return requestAnimationFrame(look);
      // The frame that has them is done when the task after it runs.
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0));
    };
    look();
  });
  window.firstPainted = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries())
        if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  });`;

export async function run(context: BenchContext): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === null) {
    context.print('console: left out, there is no Chromium; CHROMIUM_PATH names one');
    return;
  }
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPool(servers.databaseUrl, 2);
  resources.defer(() => pool.end());
  await park(servers, pool);
  const consoleUrl = `${await startOps(servers, resources)}/#/parked`;
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS });
  resources.defer(() => browser.close());
  const still = await stillOf(browser, consoleUrl);
  const stillUrl = await serve(still.html, resources);
  const rounds: Record<'console' | 'still', Painted[]> = { console: [], still: [] };
  // Not measured: the browser's own caches of code, the server's first answers.
  for (const url of [consoleUrl, stillUrl]) await paint(browser, url);
  for (let round = 0; round < context.rounds * PAINTS_A_ROUND; round += 1) {
    rounds.console.push(await paint(browser, consoleUrl));
    rounds.still.push(await paint(browser, stillUrl));
  }
  const of = (which: keyof typeof rounds, pick: keyof Painted) =>
    median(rounds[which].map((painted) => painted[pick]));
  const measuredMs = of('console', 'rowsMs');
  const ceilingMs = of('still', 'rowsMs');
  context.print(
    `console: ${PARKED.toLocaleString('en')} parked events, ${still.rows} rows in ${Math.round(still.bytes / 1_024)} KiB. ` +
      `Rows after ${measuredMs.toFixed(0)} ms, first paint after ${of('console', 'firstMs').toFixed(0)} ms; ` +
      `still page: ${ceilingMs.toFixed(0)} ms, ${of('still', 'firstMs').toFixed(0)} ms`,
  );
  context.record({
    bench: 'console: first rows of 10,000 parked',
    measured: `${measuredMs.toFixed(0)} ms`,
    ceiling: `${ceilingMs.toFixed(0)} ms`,
    ratio: ceilingMs / measuredMs,
    target: `<= ${SECONDS_MAX} s`,
    held: measuredMs <= SECONDS_MAX * 1_000,
  });
}

/** The projector makes its tables; that so much is parked is written into them. */
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

async function startOps({ environment }: BenchServers, resources: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const ops = startProcess('services/ops/main.ts', {
    ...environment,
    OPS_PORT: String(port),
    OPS_TOKEN: TOKEN,
  });
  resources.defer(() => ops.kill());
  await ops.says('listening');
  return `http://127.0.0.1:${port}`;
}

/** One page load of a browser that has seen nothing before. */
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

/** The console as it is once it is drawn, in one file without scripts, filled up to the bytes that it came in. */
async function stillOf(
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
      css: await (await fetch('/console/console.css')).text(),
      body: document.body.outerHTML,
    }))()`,
  );
  await context.close();
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Still</title><style>${css}</style></head>${body}`;
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

if (import.meta.main) {
  await run({ rounds: ROUNDS_ALONE, print: (line) => console.log(line), record: console.log });
  process.exit(0);
}
