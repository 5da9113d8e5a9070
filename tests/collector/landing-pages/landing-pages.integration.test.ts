import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '#contracts/values/time.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { pages } from '#projections/pages/project.ts';
import { createTables } from '#application/read-models/schema.ts';
import type { PlayedAnswer } from '#tests/platform/http-client/played-sites.ts';
import { type CollectorStack, openCollectorStack } from '../collector-stack.ts';

const DOMAIN = 'brand.example';
const HTML = { 'content-type': 'text/html' };

let stack: CollectorStack;
let collector: AsyncDisposable;
const answers = new Map<string, PlayedAnswer>();
beforeAll(async () => {
  stack = await openCollectorStack();
  await inTransaction(stack.database, (client) => createTables(client, pages, 'pages'));
  stack.played.sites.set('land.example', (path, { headers }) => {
    const answer = answers.get(path);
    const etag = answer?.headers?.['etag'];
    return etag !== undefined && headers['if-none-match'] === etag ? { status: 304 } : answer;
  });
  collector = stack.start({ sources: ['landing_pages'] });
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});
beforeEach(() => answers.clear());

/** The first URL has the most ads. */
const lead = async (domain: string, ...urls: readonly string[]): Promise<void> => {
  const brandId = randomUUID();
  await stack.database.query('insert into pages.brand (brand_id, domain) values ($1, $2)', [brandId, domain]);
  for (const [index, url] of urls.entries()) {
    const { rows } = await stack.database.query<{ landing_page_id: string }>(
      'insert into pages.page (landing_page_id, page_url) values ($1, $2) returning landing_page_id',
      [randomUUID(), url],
    );
    await stack.database.query(
      'insert into pages.page_brand (landing_page_id, brand_id, active_ads) values ($1, $2, $3)',
      [rows[0]?.landing_page_id, brandId, 100 - index],
    );
  }
};

const visit = async (domain: string, n: number) => {
  await stack.wish(domain, 'daily', 'landing_pages');
  return stack.attempt(domain, n);
};

test('the pages of a brand are visited, again after 30 days, and a page that did not change gives nothing', async () => {
  answers.set('/products/shoe', {
    headers: { ...HTML, etag: '"1"' },
    body: '<title>Shoe</title><button>Add to cart</button>',
  });
  answers.set('/gone', { status: 404, headers: HTML, body: '<title>Not found</title>' });
  answers.set('/file', { headers: { 'content-type': 'application/pdf' }, body: '%PDF' });
  await lead(
    DOMAIN,
    'https://land.example/products/shoe',
    'https://land.example/gone',
    'https://land.example/file',
  );
  expect(await visit(DOMAIN, 1)).toMatchObject({ outcome: 'complete', detail: '3 of 3 pages visited' });
  const seen = (await stack.observations()).map((one) =>
    one.type === 'landing_page.scrape'
      ? [one.page_url, one.http_status, one.title]
      : one.type === 'landing_page.classify'
        ? [one.page_url, one.page_type, one.confidence]
        : one.type,
  );
  expect(seen).toEqual([
    ['https://land.example/products/shoe', 200, 'Shoe'],
    ['https://land.example/products/shoe', 'product', 0.6],
    ['https://land.example/gone', 404, null],
    ['https://land.example/file', 200, null],
  ]);
  expect(await visit(DOMAIN, 2)).toMatchObject({ outcome: 'no_pages' });
  stack.nowMs += 30 * DAY_MS;
  expect(await visit(DOMAIN, 3)).toMatchObject({ detail: '2 of 3 pages visited, 1 unchanged' });
  expect((await stack.observations()).length).toBe(6);
}, 240_000);

test('a page that is forbidden, or that fails, leaves the reading partial and is asked for later', async () => {
  const domain = 'other.example';
  stack.played.sites.set('closed.example', (path) =>
    path === '/robots.txt' ? { body: 'User-agent: *\nDisallow: /' } : undefined,
  );
  stack.played.sites.set('broken.example', (path) =>
    path === '/robots.txt' ? { status: 404 } : (response) => response.destroy(),
  );
  await lead(domain, 'https://closed.example/a', 'https://broken.example/b');
  expect(await visit(domain, 1)).toMatchObject({
    outcome: 'partial',
    detail: '0 of 2 pages visited, 1 refused, 1 failed',
  });
  stack.nowMs += 8 * DAY_MS;
  expect(await visit(domain, 2)).toMatchObject({ detail: '0 of 1 pages visited, 1 failed' });
}, 240_000);
