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

const EXAMPLES = 'services/intake/examples';
/** A PNG of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let server: IntakeServer;
let ingest: IntakeStack;
let folder: string;
let keyFile: string;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  server = resources.use(await openIntakeServer());
  ingest = resources.use(await openIntakeStack());
  folder = await mkdtemp(join(tmpdir(), 'intake-examples-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  keyFile = join(folder, 'key');
  await writeFile(keyFile, `${(await server.issue('examples')).text}\n`);
});
afterAll(() => resources.disposeAsync());
beforeEach(async () => {
  await server.nats.manager.streams.purge(OBSERVATIONS_STREAM);
});

const run = async (program: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, [...args])).stdout.trim();

/** Records the queued observations as ingest does, and returns the number of events of each. */
const record = async (queued: readonly Queued[]): Promise<readonly number[]> => {
  const events: number[] = [];
  for (const { observation } of queued) events.push((await ingest.intake.submit(observation)).events);
  return events;
};

test('the example in TypeScript sends the catalogue of a shop that ingest records', async () => {
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
    const page = Number(new URL(request.url ?? '', 'http://shop').searchParams.get('page'));
    const products = page === 1 ? Array.from({ length: 60 }, (_, index) => product(index + 1)) : [];
    reply.setHeader('content-type', 'application/json').end(JSON.stringify({ products }));
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  resources.defer(async () => void shop.close());
  const { port } = shop.address() as AddressInfo;
  // A name of this machine that has the form of a domain.
  const shopUrl = `http://shop.localhost.example:${port}`;
  const hosts = join(folder, 'resolve.mjs');
  await writeFile(
    hosts,
    "import dns from 'node:dns';\nconst lookup = dns.lookup;\n" +
      "dns.lookup = (host, options, done) => lookup(host.endsWith('.example') ? '127.0.0.1' : host, options, done);\n",
  );
  const example = join(EXAMPLES, 'shop-catalogue.ts');
  const output = await run(
    process.execPath,
    '--import',
    hosts,
    example,
    server.url,
    'examples',
    keyFile,
    shopUrl,
  );
  expect(output).toBe('60 products sent, 0 lines refused, complete: true');
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
    const output = await run(
      'python3',
      join(EXAMPLES, 'ad_scan.py'),
      server.url,
      'examples',
      keyFile,
      scanFile,
    );
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
