import { parse } from 'csv-parse/sync';
import type { FastifyInstance } from 'fastify';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReportEvent, reportStream } from '#contracts/events/workspace/report.ts';
import { type Report, REPORT_COLUMNS } from '#contracts/resources/workspace/report.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { openFolderStore, openObjectStore } from '#platform/object-store/open-object-store.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { exportReports, type ReportExports } from '#services/worker/reports/report-worker.ts';
import { type CorpusBrand, registered, seedBrand } from '../operations/fixtures/corpus.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { trackingThrough } from '../operations/fixtures/tracking.ts';
import { on } from '../dsl/api.ts';
import { startBucket } from '../stack/bucket.ts';
import { until } from '../stack/wait-until.ts';

const LIMIT_MS = 60_000;
const FORMULA_NAME = '=HYPERLINK("http://elsewhere.example")';

let stack: ApiStack;
let app: FastifyInstance;
let folder: string;
let objectStore: ObjectStore;
let brands: readonly CorpusBrand[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'worker-reports-'));
  objectStore = openFolderStore(folder);
  stack = await openApiStack();
  [app, brands] = await Promise.all([stack.api({ objectStore }), stack.seed(['alpha', 'beta'])]);
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a worker's export loop in this process until disposed. */
const startWorker = (options: Partial<ReportExports> = {}): AsyncDisposable => {
  const ending = new AbortController();
  const db = openReadDatabase(stack.environment['DATABASE_URL'] ?? '');
  const exporting = exportReports({
    db,
    eventStore: stack.eventStore,
    objectStore,
    clock: systemClock,
    log: silentLog(),
    signal: ending.signal,
    workerId: 'worker',
    leaseSeconds: 60,
    ...options,
  });
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await exporting;
      await db[Symbol.asyncDispose]();
    },
  };
};

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const pathOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/reports`;

const request = async (key: Key, body: object = {}): Promise<string> => {
  const wanted = { from: dayBefore(9), to: dayBefore(0), ...body };
  const reply = await on(app).post(pathOf(key), { key, body: wanted });
  expect(reply.status).toBe(201);
  return (reply.data as Report).id;
};

const read = async (key: Key, id: string): Promise<Report> =>
  (await on(app).get(`${pathOf(key)}/${id}`, { key })).data;

const untilStatus = async (key: Key, id: string, status: Report['status']): Promise<Report> => {
  await until(`report ${status}`, LIMIT_MS, async () => (await read(key, id)).status === status);
  return read(key, id);
};

const eventsOf = async (key: Key, id: string): Promise<readonly ReportEvent[]> => {
  const events: ReportEvent[] = [];
  for await (const event of stack.eventStore.read<ReportEvent>(reportStream(key.workspaceId, id)))
    events.push(event);
  return events;
};

const tracking = async (...ids: readonly string[]): Promise<Key> => {
  const key = await stack.key();
  for (const id of ids) await trackingThrough(app).track(key, id);
  return key;
};

describe('exportReports', () => {
  test('writes the radar of the window as CSV, matching the event', async () => {
    await using _ = startWorker();
    const key = await tracking(...brands.map(({ id }) => id));
    const id = await request(key);
    const ready = await untilStatus(key, id, 'ready');
    const url = String(ready.download_url).slice(BASE_URL.length);
    const { body } = await app.inject({ method: 'GET', url });
    expect(createHash('sha256').update(body).digest('hex')).toBe(ready.sha256);
    expect(Buffer.byteLength(body)).toBe(ready.size_bytes);
    expect(body.split('\r\n')[0]).toBe(REPORT_COLUMNS.join(','));
    const rows = parse<Record<string, string>>(body, { columns: true });
    expect(rows).toHaveLength(8);
    expect(ready.rows).toBe(8);
    const radar = (await on(app).get(`/v1/workspaces/${key.workspaceId}/radar?days=9&limit=100`, { key }))
      .data as { id: string }[];
    expect(new Set(rows.map((row) => row['item_id']))).toEqual(new Set(radar.map((item) => item.id)));
    expect(rows.find(({ type }) => type === 'destination_changed')).toMatchObject({
      destination_url: 'https://shop.example.com/sale',
      previous_destination_url: 'https://shop.example.com/0',
      page_id: '104857600',
      stopped_on: '',
      correction: '',
    });
  });

  test('writes to a bucket too, with a link to the object', async () => {
    await using bucket = await startBucket();
    const inBucket = await openObjectStore({ DATA_DIR: folder, OBJECT_STORE_URL: bucket.url });
    await using _ = startWorker({ objectStore: inBucket });
    const server = await stack.api({ objectStore: inBucket });
    const key = await tracking(...brands.map(({ id }) => id));
    const { download_url, sha256, rows } = await untilStatus(key, await request(key), 'ready');
    expect(rows).toBe(8);
    const url = String(download_url).slice(BASE_URL.length);
    const { body, headers } = await server.inject({ method: 'GET', url });
    expect(createHash('sha256').update(body).digest('hex')).toBe(sha256);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
  });

  test('exports only the requested days, brands and types, and only the header when nothing matches', async () => {
    await using _ = startWorker();
    const [first = ''] = brands.map(({ id }) => id);
    const key = await tracking(...brands.map(({ id }) => id));
    const some = await request(key, { brand_ids: [first], types: ['ad_started'] });
    const none = await request(key, { to: dayBefore(3) });
    expect(await untilStatus(key, some, 'ready')).toMatchObject({ rows: 2, failure: null });
    expect(await untilStatus(key, none, 'ready')).toMatchObject({
      rows: 0,
      size_bytes: REPORT_COLUMNS.join(',').length + 2,
    });
  });

  test('escapes cells that look like formulas, and marks withdrawn items', async () => {
    await using _ = startWorker();
    const brand = registered('formula.com', new Date().toISOString(), { name: FORMULA_NAME });
    await seedBrand(stack.eventStore, brand);
    const { brand_id } = brand.data;
    const text = 'a\t"b"\r\n';
    const occurrence = JSON.stringify({
      type: 'ad_started',
      observed_at: new Date().toISOString(),
      destination_url: `@${text}`,
      previous_destination_url: null,
      basis: null,
      stopped_on: null,
    });
    const about = { id: '1', page: null, format: 'video', started_on: null };
    const ad = JSON.stringify({ ...about, title: `+${text}`, body: `-${text}` });
    const item = '0f6a1d52-8a3c-5d7e-b1f4-6c2e9a0b7d99';
    await until('the brand to be projected', LIMIT_MS, async () => {
      const { rowCount } = await stack.pool.query('select from radar.brand where brand_id = $1', [brand_id]);
      return rowCount === 1;
    });
    await stack.pool.query('insert into radar.item values ($1, $2, now(), $3, $4, $5)', [
      item,
      brand_id,
      'ad_started',
      occurrence.slice(1, -1),
      ad,
    ]);
    await stack.pool.query('update radar.item set is_withdrawn = true where id = $1', [item]);
    const key = await tracking(brand_id);
    const ready = await untilStatus(key, await request(key), 'ready');
    const url = String(ready.download_url).slice(BASE_URL.length);
    const [row] = parse<Record<string, string>>((await app.inject({ method: 'GET', url })).body, {
      columns: true,
    });
    expect(row).toMatchObject({
      brand_name: `'${FORMULA_NAME}`,
      title: `'+a\t"b"\r\n`,
      body: `'-a\t"b"\r\n`,
      // A link with control characters is not served.
      destination_url: '',
      correction: 'withdrawn',
    });
  });

  test('gives a report to one of two workers', async () => {
    const key = await tracking(brands[0]?.id ?? '');
    const ids = [];
    for (let count = 0; count < 6; count += 1) ids.push(await request(key));
    await using workers = new AsyncDisposableStack();
    workers.use(startWorker({ workerId: 'one' }));
    workers.use(startWorker({ workerId: 'two' }));
    for (const id of ids) {
      await untilStatus(key, id, 'ready');
      expect((await eventsOf(key, id)).map(({ type }) => type)).toEqual([
        'ReportRequested',
        'ReportStarted',
        'ReportFinished',
      ]);
    }
  });

  test('fails after three attempts with a reason, and leaves no objects', async () => {
    const key = await tracking(brands[0]?.id ?? '');
    const id = await request(key);
    const full = Object.assign(new Error('ENOSPC: no space left on device'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    // A fast clock, so that the test does not wait for retries.
    const since = Date.now();
    const clock = { now: () => new Date(since + (Date.now() - since) * 20) };
    await using _ = startWorker({
      clock,
      leaseClock: clock,
      objectStore: {
        ...objectStore,
        write: (objectKey, source) =>
          objectStore.write(
            objectKey,
            (async function* () {
              for await (const chunk of source) yield chunk;
              throw full;
            })(),
          ),
      },
    });
    const failed = await untilStatus(key, id, 'failed');
    expect(failed).toMatchObject({ failure: 'Not enough storage space for the file.', download_url: null });
    expect((await eventsOf(key, id)).map(({ type }) => type)).toEqual([
      'ReportRequested',
      'ReportStarted',
      'ReportAttemptFailed',
      'ReportStarted',
      'ReportAttemptFailed',
      'ReportStarted',
      'ReportFailed',
    ]);
    expect(await readdir(join(folder, 'reports', key.workspaceId, id))).toEqual([]);
  });

  test('renews the lease of a slow export, which keeps its report, also from a host whose clock is ahead', async () => {
    const key = await tracking(brands[0]?.id ?? '');
    const id = await request(key);
    const extensions = async (): Promise<number> =>
      (await eventsOf(key, id)).filter(({ type }) => type === 'ReportLeaseExtended').length;
    // Slower than a lease, which is renewed three times in its duration.
    const slowly: ObjectStore = {
      ...objectStore,
      write: (objectKey, source) =>
        objectStore.write(
          objectKey,
          (async function* () {
            for await (const chunk of source) yield chunk;
            await until('the lease to be renewed', LIMIT_MS, async () => (await extensions()) > 3);
          })(),
        ),
    };
    await using workers = new AsyncDisposableStack();
    workers.use(startWorker({ workerId: 'one', leaseSeconds: 3, objectStore: slowly }));
    await until('the first worker to begin', LIMIT_MS, async () => (await eventsOf(key, id)).length > 1);
    const ahead = { now: () => new Date(Date.now() + 600_000) };
    workers.use(startWorker({ workerId: 'two', leaseSeconds: 3, clock: ahead }));
    await untilStatus(key, id, 'ready');
    const events = await eventsOf(key, id);
    expect(events.filter(({ type }) => type === 'ReportStarted')).toHaveLength(1);
    expect(await extensions()).toBeGreaterThan(3);
    expect(events.at(-1)).toMatchObject({ type: 'ReportFinished', data: { worker_id: 'one', attempt: 1 } });
  });
});
