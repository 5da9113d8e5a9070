import fc from 'fast-check';
import { fastify, type FastifyInstance } from 'fastify';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { registerDocumentation } from '#services/api/server/docs-page.ts';
import { headersOf, messagePage } from '#services/mcp/pages/layout.ts';
import { registerConsole } from '#services/ops/http/server.ts';
import { CHROMIUM_ARGUMENTS, findChromium } from '../ops/fixtures/browser.ts';
import { attack, isLong, tries } from './attack.ts';

const BASE_URL = 'http://127.0.0.1:1';
const PATHS = ['/docs/', '/docs/js/scalar.js', '/v1/openapi.json', '/', '/console/console.js'];
const SMALL_BYTES = 1_024;
const PROMOTION = [
  'Ask AI',
  'Generate MCP',
  'Deploy',
  'Developer Tools',
  'Share',
  'Powered by',
  'Open API Client',
];

const openPages = async (baseUrl = BASE_URL): Promise<FastifyInstance> => {
  const app = fastify();
  registerDocumentation(app, baseUrl);
  registerConsole(app);
  await app.ready();
  return app;
};

attack('pages allow no script but their own, no frame and no guessed type', async () => {
  const app = await openPages();
  for (const url of ['/docs/', '/']) {
    const { body, headers } = await app.inject({ url });
    const policy = String(headers['content-security-policy']);
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? '';
    expect(scripts).not.toMatch(/unsafe|\*|https?:|data:|blob:/);
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).toMatch(/base-uri 'none'/);
    for (const [, text = ''] of body.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)) {
      expect(scripts).toContain(hash('sha256', text, 'base64'));
    }
    expect(body).not.toMatch(/\son[a-z]+=/i);
  }
  for (const url of PATHS) {
    expect((await app.inject({ url })).headers['x-content-type-options'], url).toBe('nosniff');
  }
  await app.close();
  return `${PATHS.length} paths`;
});

attack('pages for members run no script, load nothing, and show names of apps and members as text', () => {
  const policy = headersOf(['https://app.example'])['content-security-policy'] ?? '';
  expect(policy).not.toMatch(/script-src|unsafe|\*|data:|blob:/);
  expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(headersOf()).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  const tags = (page: string): number => page.match(/<[a-z!/]/gi)?.length ?? 0;
  const harmless = tags(messagePage('a', 'b'));
  let texts = 0;
  const hostile = fc
    .array(
      fc.oneof(fc.constantFrom('<script>', '</p>', '"', "'", '<img src=x onerror=a>', '&lt;'), fc.string()),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(hostile, (text) => {
      const page = messagePage(text, text);
      expect(tags(page)).toBe(harmless);
      expect(page.split('<p>')[1]).not.toMatch(/["']/);
      texts += 2;
    }),
    { numRuns: tries(100) },
  );
  return `${texts} texts, 0 tags`;
});

attack('the console shows text of third parties as text, and links only to its own pages', () => {
  const folder = join(import.meta.dirname, '../../services/ops/console');
  const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.js'),
  );
  let links = 0;
  for (const script of scripts) {
    const code = readFileSync(join(folder, script), 'utf8');
    expect(code, script).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment|DOMParser|dangerouslySetInnerHTML|\beval\(|new Function/,
    );
    // Only a file that the console made has another address.
    for (const [, target = ''] of code.matchAll(/\bhref[=:]\s*([^\n]{0,40})/g)) {
      expect(target, script).toMatch(/^(?:"#\/|\$\{`#\/|url, download: name)/);
      links += 1;
    }
    if (/href: url,/.test(code)) expect(code).toContain('url = URL.createObjectURL(');
  }
  expect(links).toBeGreaterThan(3);
  return `${scripts.length} scripts, ${links} links`;
});

attack('downloads without a key cost no compression and little memory', async () => {
  const app = await openPages();
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const url of PATHS) {
    const plain = await app.inject({ url });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers['cache-control'], url).toBeDefined();
    for (const [encoding, decode] of Object.entries(decoders)) {
      const sent = await app.inject({ url, headers: { 'accept-encoding': `${encoding}, x;q=0` } });
      const isSmall = plain.rawPayload.length < SMALL_BYTES;
      expect(sent.headers['content-encoding'], url).toBe(isSmall ? undefined : encoding);
      expect((isSmall ? sent.rawPayload : decode(sent.rawPayload)).equals(plain.rawPayload)).toBe(true);
    }
    const etag = String(plain.headers['etag']);
    const unchanged = await app.inject({ url, headers: { 'if-none-match': etag } });
    expect([unchanged.statusCode, unchanged.body]).toEqual([304, '']);
    const refused = await app.inject({ url, headers: { 'accept-encoding': 'br;q=0, gzip;q=0.0' } });
    expect(refused.headers['content-encoding']).toBeUndefined();
  }
  const since = process.cpuUsage();
  const count = tries(50);
  for (let sent = 0; sent < count; sent += 1) {
    await app.inject({ url: '/v1/openapi.json', headers: { 'accept-encoding': 'br' } });
  }
  const { user, system } = process.cpuUsage(since);
  await app.close();
  return `${count} downloads of the document, ${Math.round((user + system) / count)} µs of CPU each`;
});

/** Starts a browser, so it runs in `npm run attack` only. */
test.runIf(isLong)(
  'the reference page runs under its policy, promotes nothing and asks for nothing missing',
  async ({ task, skip }) => {
    const executablePath = await findChromium();
    if (executablePath === null) return skip('Chromium is not installed');
    const app = fastify();
    const asked: [number, string][] = [];
    app.addHook('onResponse', async ({ url }, { statusCode }) => void asked.push([statusCode, url]));
    registerDocumentation(app, BASE_URL);
    await app.listen({ port: 0, host: '127.0.0.1' });
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGUMENTS });
    try {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(origin) && !url.startsWith('data:')) faults.push(`asked for ${url}`);
      });
      await page.goto(`${origin}/docs/`);
      await page.getByText('Read the freshness of the corpus').first().waitFor();
      const shown = await page.locator('body').innerText();
      expect(PROMOTION.filter((words) => shown.toLowerCase().includes(words.toLowerCase()))).toEqual([]);
      const links = await page.locator('a[href*="scalar.com"]').filter({ visible: true }).count();
      expect(links).toBe(0);
      expect(faults).toEqual([]);
      expect(asked.filter(([status]) => status >= 400)).toEqual([]);
      task.meta.figure = `${asked.length} requests, all of them answered`;
    } finally {
      await browser.close();
      await app.close();
    }
  },
);
