import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScrapeRequested } from '#contracts/messages/subjects.ts';
import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import {
  type DueScanDependencies,
  createScanRequestTables,
  mayBeRequested,
  noteRequested,
  requestDueScans,
} from '#services/worker/scans/scan-cadence.ts';
import { on } from '#tests/dsl/api.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';

const TRACKED_AT = '2026-05-01T00:00:00.000Z';
const NOW_MS = Date.parse('2026-05-10T00:00:00.000Z');
const METADATA = {
  $correlationId: 'tests',
  $causationId: 'tests',
  request_id: 'tests',
  actor: { kind: 'service', id: 'tests' },
} as const;
/** Brands that were never scanned, in the order in which they are due. */
const BRANDS = ['one', 'two', 'three'].map((name) => brandIdOf(`${name}.example`)).toSorted();
const SIZES = { pageSize: 2, requestsMax: 1 };

let stack: ApiStack;
let dependencies: DueScanDependencies;
let nowMs = NOW_MS;
const requested: ScrapeRequested[] = [];
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const { workspaceId: workspace_id } = await stack.key();
  const { position } = await stack.eventStore.append(
    trackingStream(workspace_id),
    -1n,
    BRANDS.map((brand_id) => ({
      type: 'BrandTracked',
      data: { workspace_id, brand_id, cadence: 'daily', tracked_at: TRACKED_AT },
    })),
    METADATA,
    'track',
  );
  await stack.projected(position);
  await createScanRequestTables(stack.pool);
  dependencies = {
    db: resources.use(openReadDatabase(stack.environment['DATABASE_URL'] ?? '')),
    database: stack.pool,
    clock: { now: () => new Date(nowMs) },
    publish: async (request) => void requested.push(request),
  };
});
afterAll(() => resources.disposeAsync());

/** Polls once a minute, and returns the numbers of the brands that were requested. */
const pollAt = async (ms: number, polls: number): Promise<readonly number[]> => {
  requested.length = 0;
  for (let poll = 0; poll < polls; poll += 1) {
    nowMs = ms + poll * MINUTE_MS;
    await requestDueScans(dependencies, SIZES);
  }
  return requested.map(({ brand_id }) => BRANDS.indexOf(brand_id));
};

test('brands that are requested in vain hold up no other, and wait twice as long each time', async () => {
  expect(await pollAt(NOW_MS, 4)).toEqual([0, 1, 2]);
  expect(await pollAt(NOW_MS + 5 * HOUR_MS, 4)).toEqual([]);
  expect(await pollAt(NOW_MS + 7 * HOUR_MS, 4)).toEqual([0, 1, 2]);
  expect(await pollAt(NOW_MS + 18 * HOUR_MS, 4)).toEqual([]);
  expect(await pollAt(NOW_MS + 20 * HOUR_MS, 4)).toEqual([0, 1, 2]);
});

test('domains of accepted brand requests are requested with their pages, once for all workspaces', async () => {
  const app = await stack.api();
  const domain = 'asked.example';
  const keys = [await stack.key({ plan: 'free' }), await stack.key()] as const;
  for (const [index, key] of keys.entries()) {
    const body = { domain, page_id: `10485760012345${index}` };
    await on(app).post(`/v1/workspaces/${key.workspaceId}/brand-requests`, { key, body });
  }
  const waiting = { key: keys[0], body: { domain: 'waiting.example' } };
  await on(app).post(`/v1/workspaces/${keys[0].workspaceId}/brand-requests`, waiting);
  await stack.projected(await stack.eventStore.head());

  expect(await pollAt(NOW_MS + 21 * HOUR_MS, 2)).toEqual([-1]);
  expect(requested).toEqual([
    {
      brand_id: brandIdOf(domain),
      brand_domain: domain,
      cadence: 'weekly',
      pages: ['104857600123450', '104857600123451'],
      requested_at: new Date(NOW_MS + 21 * HOUR_MS).toISOString(),
    },
  ]);
  expect(await pollAt(NOW_MS + 28 * HOUR_MS, 2)).toEqual([-1]);
});

test('the wait ends with a scan, and is never longer than three days', async () => {
  const brand = { brand_id: brandIdOf('four.example'), scanned_at: null };
  const request = (scanned_at: string | null): Promise<void> =>
    inTransaction(stack.pool, (client) =>
      noteRequested(client, [{ ...brand, scanned_at }], new Date(NOW_MS)),
    );
  const waits = async (hours: number, scanned_at: string | null = null): Promise<boolean> => {
    const at = new Date(NOW_MS + hours * HOUR_MS);
    return (await mayBeRequested(stack.pool, [{ ...brand, scanned_at }], at)).length === 0;
  };
  for (let count = 0; count < 12; count += 1) await request(null);
  expect(await waits(71)).toBe(true);
  expect(await waits(73)).toBe(false);
  const scanned_at = '2026-05-09T00:00:00.000Z';
  expect(await waits(0, scanned_at)).toBe(false);
  await request(scanned_at);
  expect(await waits(5, scanned_at)).toBe(true);
  expect(await waits(7, scanned_at)).toBe(false);
});
