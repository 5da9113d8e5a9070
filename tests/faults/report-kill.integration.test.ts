import { createHash } from 'node:crypto';
import { readdir, readFile, rm, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReportEvent, reportStream } from '#contracts/events/workspace/report.ts';
import type { Report } from '#contracts/resources/workspace/report.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { trackingThrough } from '../operations/fixtures/tracking.ts';
import { on } from '../dsl/api.ts';
import { startProcess } from '../stack/processes.ts';
import { until } from '../stack/wait-until.ts';

/** Rows of a report that one worker begins and another must finish, once. */
const ROWS = 60_000;
/** As in `services/worker/main.ts`. */
const LEASE_SECONDS = 15;
const LIMIT_MS = 60_000;
const POLL_MS = 2;

let stack: ApiStack;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'report-kill-'));
  stack = await openApiStack();
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Fills the read model directly, large enough that its export takes a while. */
const fillRadar = (brandId: string) =>
  stack.pool.query(
    `insert into radar.item select id, $1, '2026-05-10T00:00:00Z'::timestamptz + n * interval '1 second', 'ad_started',
       btrim(json_build_object('type', 'ad_started', 'observed_at', '2026-05-10T00:00:00.000Z',
         'destination_url', null, 'previous_destination_url', null, 'basis', null, 'stopped_on', null)::text, '{}'),
       json_build_object('id', '9' || n, 'page', null, 'format', 'video', 'title', 'A title', 'body',
         repeat('Words of an ad. ', 10), 'started_on', null, 'url', chr(1) || '/v1/ads/9' || n)::text
     from (select md5('item ' || n)::uuid as id, n from generate_series(1, $2) as n) i`,
    [brandId, ROWS],
  );

const startWorker = () =>
  startProcess('services/worker/main.ts', {
    ...stack.environment,
    DATA_DIR: folder,
  });

const filesOf = (path: string): Promise<readonly string[]> => readdir(path).catch(() => []);

const unfinishedBytes = async (path: string): Promise<number> => {
  const name = (await filesOf(path)).find((one) => one.endsWith('.part'));
  return name === undefined ? 0 : (await stat(join(path, name)).catch(() => ({ size: 0 }))).size;
};

test('a report whose worker was killed during the export is finished once by another worker', {
  timeout: 120_000,
}, async () => {
  const [app, [brand], key] = await Promise.all([stack.api(), stack.seed(['alpha']), stack.key()]);
  await fillRadar(brand?.id ?? '');
  await trackingThrough(app).track(key, brand?.id ?? '');
  const path = `/v1/workspaces/${key.workspaceId}/reports`;
  const body = { from: '2026-05-01', to: '2026-05-31' };
  const { id } = (await on(app).post(path, { key, body })).data as Report;
  const below = join(folder, 'objects', 'reports', key.workspaceId, id);

  const first = startWorker();
  const deadline = Date.now() + LIMIT_MS;
  while ((await unfinishedBytes(below)) < 100_000) {
    if (Date.now() > deadline) throw new Error(`nothing was written:\n${first.output()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  await first.kill();
  expect((await filesOf(below)).map((name) => name.split('.').at(-1))).toEqual(['part']);
  const running = (await on(app).get(`${path}/${id}`, { key })).data as Report;
  expect(running).toMatchObject({ status: 'running', download_url: null });

  const others = [startWorker(), startWorker()];
  try {
    await until('the report to be ready', LIMIT_MS, async () => {
      const { status } = (await on(app).get(`${path}/${id}`, { key })).data as Report;
      return status === 'ready';
    });
    // Longer than a lease, so that a second worker would start if it could.
    await new Promise((resolve) => setTimeout(resolve, (LEASE_SECONDS + 1) * 1_000));
  } finally {
    await Promise.all(others.map((worker) => worker.stop()));
  }

  const events: ReportEvent[] = [];
  for await (const event of stack.eventStore.read<ReportEvent>(reportStream(key.workspaceId, id)))
    events.push(event);
  const types = events.map(({ type }) => type).filter((type) => type !== 'ReportLeaseExtended');
  expect(types).toEqual(['ReportRequested', 'ReportStarted', 'ReportStarted', 'ReportFinished']);
  const ready = (await on(app).get(`${path}/${id}`, { key })).data as Report;
  expect(await filesOf(below)).toEqual(['attempt-2.csv']);
  const file = await readFile(join(below, 'attempt-2.csv'));
  expect(ready).toMatchObject({
    rows: ROWS,
    size_bytes: file.byteLength,
    sha256: createHash('sha256').update(file).digest('hex'),
  });
  expect(file.toString().split('\r\n')).toHaveLength(ROWS + 2);
});
