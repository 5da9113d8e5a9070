import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { type IntakeStack, openIntakeStack } from '../ingest/fixtures/intake-stack.ts';
import { AT, type IntakeServer, openIntakeServer, type Queued } from './stack.ts';
import { createBrandTables, trackBrand } from './tracked-brands.ts';

const EXAMPLES = 'services/intake/examples';
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let server: IntakeServer;
let ingest: IntakeStack;
let folder: string;
let keyFile: string;
const resources = new AsyncDisposableStack();
let shopUrl: string;
/** Module that resolves the names of shops to this machine, and requests them without TLS. */
let hosts: string;
beforeAll(async () => {
  server = resources.use(await openIntakeServer());
  ingest = resources.use(await openIntakeStack());
  folder = await mkdtemp(join(tmpdir(), 'intake-examples-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  keyFile = join(folder, 'key');
  await writeFile(keyFile, `${(await server.issue('examples')).text}\n`);
  await createBrandTables(server.database);
  const port = await openShop();
  shopUrl = `http://shop.localhost.example:${port}`;
  hosts = join(folder, 'resolve.mjs');
  await writeFile(
    hosts,
    "import dns from 'node:dns';\nconst lookup = dns.lookup;\n" +
      "dns.lookup = (host, options, done) => lookup(host.endsWith('.example') ? '127.0.0.1' : host, options, done);\n" +
      'const fetchTls = globalThis.fetch;\n' +
      `globalThis.fetch = (url, init) => fetchTls(String(url).replace(/^https:\\/\\/([^/]+)/, 'http://$1:${port}'), init);\n`,
  );
});
afterAll(() => resources.disposeAsync());
beforeEach(async () => {
  await server.nats.manager.streams.purge(OBSERVATIONS_STREAM);
});

const run = async (program: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, [...args])).stdout.trim();

/** Records observations as ingest does. Returns the number of events of each. */
const record = async (queued: readonly Queued[]): Promise<readonly number[]> => {
  const events: number[] = [];
  for (const { observation } of queued) events.push((await ingest.intake.submit(observation)).events);
  return events;
};

/** `closed.example` answers 404; every other name is a shop with 60 products. Returns the port. */
const openShop = async (): Promise<number> => {
  const product = (id: number) => ({
    id,
    handle: `boot-${id}`,
    title: 'Boot',
    vendor: '',
    published_at: '2026-03-01T10:00:00-05:00',
    images: [{ src: 'https://cdn.shop.example/1.jpg' }],
    variants: [
      { id: id * 10, title: 'One', sku: 'B1', price: '20.00', compare_at_price: null, available: true },
    ],
  });
  const shop = createServer((request, reply) => {
    if (request.headers.host?.startsWith('closed.example')) {
      reply.writeHead(404).end();
      return;
    }
    const page = Number(new URL(request.url ?? '', 'http://shop').searchParams.get('page'));
    const products = page === 1 ? Array.from({ length: 60 }, (_, index) => product(index + 1)) : [];
    reply.setHeader('content-type', 'application/json').end(JSON.stringify({ products }));
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  resources.defer(async () => void shop.close());
  return (shop.address() as AddressInfo).port;
};

const TYPESCRIPT = join(EXAMPLES, 'shop-catalogue.ts');
const PYTHON = join(EXAMPLES, 'ad_scan.py');

const leaseEnds = async (): Promise<unknown> => {
  const { rows } = await server.database.query(
    'select type, domain, outcome, reason from intake.lease order by domain',
  );
  return rows;
};
beforeEach(async () => {
  await server.database.query('truncate tracking.tracked_brand, brands.brand, intake.task, intake.lease');
});

test('the example in TypeScript sends the catalogue of a shop that ingest records', async () => {
  const output = await run(
    process.execPath,
    '--import',
    hosts,
    TYPESCRIPT,
    server.url,
    'examples',
    keyFile,
    shopUrl,
  );
  expect(output).toBe('shop.localhost.example: 60 products sent, 0 lines refused, complete: true');
  const queued = await server.queued();
  expect(queued.map(({ type }) => type)).toEqual([
    'storefront.scan',
    'storefront.scan',
    'storefront.scan_end',
  ]);
  const events = await record(queued);
  expect(events.slice(0, 2)).toEqual([0, 0]);
  expect(events[2]).toBeGreaterThan(0);
});

test('the example in TypeScript leases the shops that are due, and says how each ended', async () => {
  for (const domain of ['closed.example', 'open.example']) await trackBrand(server.database, domain);
  const failure = await run(
    process.execPath,
    '--import',
    hosts,
    TYPESCRIPT,
    server.url,
    'examples',
    keyFile,
  ).catch((error: { code: number; stdout: string }) => error);
  expect(failure).toMatchObject({
    code: 1,
    stdout: 'open.example: 60 products sent, 0 lines refused, complete: true\n',
  });
  expect(await leaseEnds()).toEqual([
    {
      type: 'storefront.scan',
      domain: 'closed.example',
      outcome: 'failed',
      reason: 'https://closed.example has no catalogue: status 404',
    },
    { type: 'storefront.scan', domain: 'open.example', outcome: 'done', reason: null },
  ]);
});

test('the example in Python leases the brands that are due, and sends the scan of each', async ({ skip }) => {
  if (spawnSync('python3', ['--version']).status !== 0) skip('python3 is not installed');
  for (const domain of ['leased.example', 'unseen.example']) await trackBrand(server.database, domain);
  const scan = {
    brand_domain: 'leased.example',
    scanned_at: AT,
    page_id: '100000002',
    page_name: 'Leased',
    countries: ['DE'],
    complete: true,
    ads: [{ ad_id: '7200000000000001', body: 'One', is_active: true }],
  };
  await writeFile(join(folder, 'leased.example.json'), JSON.stringify(scan));
  const failure = await run('python3', PYTHON, server.url, 'examples', keyFile, '--tasks', folder).catch(
    (error: { code: number; stdout: string }) => error,
  );
  expect(failure).toMatchObject({ code: 1, stdout: '1 ads sent, 0 pictures, 0 lines refused\n' });
  expect((await server.queued()).map(({ type }) => type)).toEqual(['ad_library.scan', 'ad_library.scan_end']);
  expect(await leaseEnds()).toMatchObject([
    { type: 'ad_library.scan', domain: 'leased.example', outcome: 'done' },
    { domain: 'unseen.example', outcome: 'failed', reason: expect.stringContaining('no scan') as string },
  ]);
});

test('the example in Python sends ads and a picture that ingest records, and nothing twice', async ({
  skip,
}) => {
  if (spawnSync('python3', ['--version']).status !== 0) skip('python3 is not installed');
  const image = join(folder, 'ad.png');
  await writeFile(image, Buffer.from(PNG, 'base64'));
  const scanFile = join(folder, 'scan.json');
  const ads = Array.from({ length: 120 }, (_, index) => ({
    ad_id: String(7_100_000_000_000_000 + index),
    body: `Soft socks № ${index}`,
    link_url: 'https://python.example/socks',
    format: 'image',
    is_active: true,
    started_on: '2026-05-01',
    ...(index < 2 ? { image } : {}),
  }));
  const scan = {
    brand_domain: 'python.example',
    scanned_at: AT,
    page_id: '100000001',
    page_name: 'Socks',
    countries: ['DE'],
    complete: true,
    ads,
  };
  await writeFile(scanFile, JSON.stringify(scan));
  for (let round = 0; round < 2; round += 1) {
    const output = await run('python3', PYTHON, server.url, 'examples', keyFile, scanFile);
    expect(output).toBe('120 ads sent, 1 pictures, 0 lines refused');
  }
  const queued = await server.queued();
  expect(queued.map(({ type }) => type)).toEqual([
    'ad_library.scan',
    'ad_library.scan',
    'ad_library.scan_end',
    'creative.file',
  ]);
  expect(queued[3]?.observation).toMatchObject({ ad_ids: ['7100000000000000', '7100000000000001'] });
  expect(await server.objectStore.open(String(queued[3]?.observation['object_key']))).not.toBeNull();
  const events = await record(queued);
  expect(events[2]).toBeGreaterThan(ads.length);
  expect(events[3]).toBeGreaterThan(0);
});
