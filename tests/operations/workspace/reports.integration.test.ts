import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { type ReportEvent, reportStream } from '#contracts/events/workspace/report.ts';
import type { Report } from '#contracts/resources/workspace/report.ts';
import { REPORTS_PER_DAY_MAX, REPORTS_QUEUED_MAX } from '#contracts/resources/workspace/report.ts';
import { finishReport, report, startReport } from '#domain/workspace/report.ts';
import { executeCommand } from '#application/commands/command-handler.ts';
import { openFolderStore } from '#platform/object-store/open-object-store.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { on } from '#tests/dsl/api.ts';
import type { CorpusBrand } from '../fixtures/corpus.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../fixtures/stack.ts';
import { trackingThrough } from '../fixtures/tracking.ts';

let stack: ApiStack;
let app: FastifyInstance;
let folder: string;
let objectStore: ObjectStore;
let alpha: CorpusBrand;
let beta: CorpusBrand;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reports-'));
  objectStore = openFolderStore(folder);
  stack = await openApiStack();
  const [opened, brands] = await Promise.all([stack.api({ objectStore }), stack.seed(['alpha', 'beta'])]);
  [app, alpha, beta] = [opened, brands[0] as CorpusBrand, brands[1] as CorpusBrand];
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const WINDOW = { from: '2026-01-01', to: '2026-01-31' };
const pathOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/reports`;
const request = (key: Key, body: object = {}, headers: Record<string, string> = {}) =>
  on(app).post(pathOf(key), { key, headers, body: { ...WINDOW, ...body } });
const reportOf = (reply: { readonly data: never }): Report => reply.data;
const read = async (key: Key, id: string): Promise<Report> =>
  reportOf(await on(app).get(`${pathOf(key)}/${id}`, { key }));

const eventsOf = async (key: Key, id: string): Promise<readonly ReportEvent[]> => {
  const events: ReportEvent[] = [];
  for await (const event of stack.eventStore.read<ReportEvent>(reportStream(key.workspaceId, id)))
    events.push(event);
  return events;
};

const ready = async (key: Key, text = 'observed_at,type\r\n'): Promise<Report> => {
  const { id } = reportOf(await request(key));
  const worker = { worker_id: 'worker', attempt: 1 };
  const object_key = `reports/${key.workspaceId}/${id}/attempt-1.csv`;
  const source = async function* () {
    yield text;
  };
  const { bytes, sha256 } = await objectStore.write(object_key, source());
  const at = new Date().toISOString();
  const file = { object_key, bytes, sha256, rows: 0 };
  let position = 0n;
  for (const decision of [
    startReport({ worker_id: 'worker', at, lease_seconds: 60 }),
    finishReport({ ...worker, ...file, at }),
  ]) {
    const { position: recorded } = await executeCommand(stack.eventStore, {
      stream: reportStream(key.workspaceId, id),
      decider: report,
      decision,
      metadata: {
        $correlationId: id,
        $causationId: id,
        request_id: id,
        actor: { kind: 'service', id: 'worker' },
        workspace_id: key.workspaceId,
      },
      commandId: randomUUID(),
    });
    position = recorded;
  }
  await stack.projected(position);
  return read(key, id);
};

describe('requestReport 201', () => {
  test('queues a report on all tracked brands, and the next read returns it', async () => {
    const key = await stack.key();
    await trackingThrough(app).track(key, alpha.id);
    await trackingThrough(app).track(key, beta.id);
    const reply = await request(key);
    expect(reply.status).toBe(201);
    expect(reply.data).toMatchObject({
      ...WINDOW,
      status: 'queued',
      brand_ids: null,
      brands: 2,
      types: ['ad_started', 'ad_stopped', 'destination_changed'],
      download_url: null,
    });
    expect(await read(key, reportOf(reply).id)).toEqual(reply.data);
  });

  test('accepts a subset of brands and types, without duplicates', async () => {
    const key = await stack.key();
    await trackingThrough(app).track(key, alpha.id);
    await trackingThrough(app).track(key, beta.id);
    const body = { brand_ids: [beta.id.toUpperCase(), beta.id], types: ['ad_stopped', 'ad_stopped'] };
    const { data } = await request(key, body);
    expect(data).toMatchObject({ brand_ids: [beta.id], brands: 1, types: ['ad_stopped'] });
  });

  test('returns the existing report for a repeated idempotency key of the same workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const idempotency_key = 'a key, with spaces and ümlauts';
    const first = reportOf(await request(key, { idempotency_key }));
    const again = await request(key, { idempotency_key, from: '2026-01-10' });
    expect(again.data).toEqual(first);
    expect(await eventsOf(key, first.id)).toHaveLength(1);
    expect(reportOf(await request(other, { idempotency_key })).id).not.toBe(first.id);
    expect(reportOf(await request(key)).id).not.toBe(first.id);
  });

  test('creates one report for concurrent requests with one idempotency key', async () => {
    const key = await stack.key();
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => request(key, { idempotency_key: 'once' })),
    );
    expect(new Set(replies.map((reply) => reportOf(reply).id)).size).toBe(1);
    expect((await on(app).get(pathOf(key), { key })).data).toHaveLength(1);
  });
});

describe('requestReport 400', () => {
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  test.each([
    ['a window beyond 31 days', { to: '2026-02-01' }, 'to', 'window_too_long'],
    ['a window that ends before it begins', { to: '2025-12-31' }, 'to', 'window_reversed'],
    ['a window in the future', { from: tomorrow, to: tomorrow }, 'to', 'window_in_future'],
    ['a day that is none', { from: '2026-02-30' }, 'from', 'invalid_format'],
    ['a time', { from: '2026-01-01T00:00:00Z' }, 'from', 'invalid_format'],
    ['a day before any library', { from: '0000-01-01' }, 'from', 'custom'],
    ['a brand that is not tracked', { brand_ids: [randomUUID()] }, 'brand_ids.0', 'not_tracked'],
    ['a brand that is no id', { brand_ids: ['alpha'] }, 'brand_ids.0', 'invalid_format'],
    ['no brands', { brand_ids: [] }, 'brand_ids', 'too_small'],
    ['another type', { types: ['ad_paused'] }, 'types.0', 'invalid_value'],
    ['an empty idempotency key', { idempotency_key: '' }, 'idempotency_key', 'too_small'],
    ['a long idempotency key', { idempotency_key: 'k'.repeat(201) }, 'idempotency_key', 'too_big'],
  ])('rejects %s and appends no event', async (_case, body, path, code) => {
    const key = await stack.key();
    const reply = await request(key, body);
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path, code }]);
    expect((await on(app).get(pathOf(key), { key })).data).toEqual([]);
  });

  test('rejects a missing body and names all missing properties', async () => {
    const key = await stack.key();
    expect((await on(app).post(pathOf(key), { key })).status).toBe(400);
    const reply = await on(app).post(pathOf(key), { key, body: {} });
    expect(reply.error.details?.map(({ path }) => path)).toEqual(['from', 'to']);
  });
});

describe('requestReport 409', () => {
  test('rejects a header `idempotency-key` that was used with another body', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await request(key, {}, headers);
    expect((await request(key, {}, headers)).data).toEqual(first.data);
    expect((await request(key, { types: ['ad_started'] }, headers)).status).toBe(409);
  });

  test('rejects a report when too many of the workspace are queued, and when too many were requested in a day', async () => {
    const key = await stack.key();
    const fill = (status: string, count: number) =>
      stack.pool.query(
        `insert into reports.report (workspace_id, report_id, status, requested_at, claimable_at)
         select $1, gen_random_uuid(), $2, $3, '9999' from generate_series(1, $4::int)`,
        [key.workspaceId, status, new Date().toISOString(), count],
      );
    await fill('queued', REPORTS_QUEUED_MAX);
    const crowded = await request(key);
    expect([crowded.status, crowded.error.message]).toEqual([409, expect.stringContaining('queued')]);
    await stack.pool.query(`update reports.report set status = 'ready' where workspace_id = $1`, [
      key.workspaceId,
    ]);
    await fill('ready', REPORTS_PER_DAY_MAX - REPORTS_QUEUED_MAX);
    const many = await request(key);
    expect([many.status, many.error.message]).toEqual([409, expect.stringContaining('24 hours')]);
    await stack.pool.query(`update reports.report set requested_at = '2020' where workspace_id = $1`, [
      key.workspaceId,
    ]);
    expect((await request(key)).status).toBe(201);
  });
});

describe('listReports 200', () => {
  test('lists reports newest first over all pages, each with its link when ready', async () => {
    const key = await stack.key();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift(reportOf(await request(key)).id);
    ids.unshift((await ready(key)).id);
    const seen: Report[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(app).get(`${pathOf(key)}?limit=2${cursor}`, { key });
      seen.push(...(data as Report[]));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen.map(({ id }) => id)).toEqual(ids);
    expect(seen.map(({ download_url }) => download_url !== null)).toEqual([true, false, false, false]);
  });
});

describe('listReports 400', () => {
  test('rejects a cursor of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    for (let count = 0; count < 2; count += 1) await request(key);
    const { meta } = await on(app).get(`${pathOf(key)}?limit=1`, { key });
    const reply = await on(app).get(`${pathOf(other)}?limit=1&cursor=${meta.cursor}`, { key: other });
    expect(reply.status).toBe(400);
  });
});

describe('getReport 200', () => {
  test('returns a link that works without a key for a ready report', async () => {
    const key = await stack.key();
    const text = 'observed_at,type\r\n2026-01-01T00:00:00.000Z,ad_started\r\n';
    const { download_url, status, size_bytes } = await ready(key, text);
    expect([status, size_bytes]).toEqual(['ready', text.length]);
    const url = String(download_url);
    expect(url.startsWith(`${BASE_URL}/v1/reports/download/radar-2026-01-01-to-2026-01-31.csv?`)).toBe(true);
    const file = await app.inject({ method: 'GET', url: url.slice(BASE_URL.length) });
    expect(file.statusCode).toBe(200);
    expect(file.body).toBe(text);
    expect(file.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="radar-2026-01-01-to-2026-01-31.csv"',
      'content-length': String(text.length),
      'cache-control': 'private, no-store',
    });
  });

  test('signs a new link at each read, and links expire', async () => {
    const key = await stack.key();
    const { id, download_url } = await ready(key);
    const after = (minutes: number) => ({ now: () => new Date(Date.now() + minutes * 60_000) });
    const [soon, later] = await Promise.all([
      stack.api({ objectStore, clock: after(14) }),
      stack.api({ objectStore, clock: after(16) }),
    ]);
    const url = String(download_url).slice(BASE_URL.length);
    expect((await soon.inject({ method: 'GET', url })).statusCode).toBe(200);
    const expired = await on(later).get(url);
    expect(expired.status).toBe(403);
    expect(expired.error.type).toBe('forbidden');
    const fresh = reportOf(await on(later).get(`${pathOf(key)}/${id}`, { key }));
    expect(fresh.download_url).not.toBe(download_url);
    const again = String(fresh.download_url).slice(BASE_URL.length);
    expect((await later.inject({ method: 'GET', url: again })).statusCode).toBe(200);
  });

  test('rejects a link when any part of it was altered', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const [mine, foreign] = await Promise.all([ready(key), ready(other)]);
    const url = new URL(String(mine.download_url));
    const altered = (change: (copy: URL) => void): string => {
      const copy = new URL(url);
      change(copy);
      return copy.pathname + copy.search;
    };
    const object = `reports/${other.workspaceId}/${foreign.id}/attempt-1.csv`;
    for (const path of [
      altered((copy) => copy.searchParams.set('object', object)),
      altered((copy) => copy.searchParams.set('object', '../../etc/passwd')),
      altered((copy) =>
        copy.searchParams.set('expires', String(Number(copy.searchParams.get('expires')) + 1)),
      ),
      altered((copy) => copy.searchParams.set('signature', 'AAAA')),
      altered((copy) => copy.searchParams.append('signature', 'AAAA')),
      altered((copy) => copy.searchParams.delete('signature')),
      altered((copy) => {
        copy.pathname = copy.pathname.replace('radar', 'other');
      }),
    ]) {
      expect((await on(app).get(path)).status, path).toBe(403);
    }
  });

  test('replies 404 with the error body for a link whose file was deleted', async () => {
    const key = await stack.key();
    const { id, download_url } = await ready(key);
    await objectStore.removeAllBut(`reports/${key.workspaceId}/${id}`, null);
    expect((await on(app).get(String(download_url).slice(BASE_URL.length))).status).toBe(404);
  });
});

describe('getReport 404', () => {
  test('rejects an unknown report and a report of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const { id } = reportOf(await request(other));
    expect((await on(app).get(`${pathOf(key)}/${id}`, { key })).status).toBe(404);
    expect((await on(app).get(`${pathOf(other)}/${id}`, { key })).status).toBe(404);
    expect((await on(app).get(`${pathOf(key)}/${randomUUID()}`, { key })).status).toBe(404);
  });
});

test('requestReport replies 409 when concurrent changes exhaust all retries', async () => {
  const key = await stack.key();
  const crowded = await stack.api({
    eventStore: {
      ...stack.eventStore,
      load: () => Promise.reject(new Refusal('changed_meanwhile', 'Try again.')),
    },
  });
  expect((await on(crowded).post(pathOf(key), { key, body: WINDOW })).status).toBe(409);
});
