import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createClient } from '#contracts/client/client.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';

/** Starts plain node, which only strips types. Vitest transforms TypeScript, so other tests miss faults of a start. */
const MAIN = join(import.meta.dirname, '../../services/api/main.ts');
/** Limit of a start: with twelve processes per core, one has taken more than half a minute. */
const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 150_000;

let stack: ApiStack;
beforeAll(async () => {
  stack = await openApiStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const start = (environment: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [MAIN], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  // A failed test leaves no process behind.
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: Record<string, unknown>[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as Record<string, unknown>));
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString();
  });
  return { child, lines, errors: () => errors };
};

test('the process starts with empty tables, serves, logs no secrets, and shuts down cleanly', {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const key = await stack.key();
  await stack.seed(['alpha']);
  const port = await freePort();
  const { child, lines } = start({
    ...stack.environment,
    API_PORT: String(port),
    CURSOR_SECRET: 'a secret for tests only',
  });
  await expect
    .poll(() => lines.some(({ msg }) => msg === 'listening'), { timeout: START_TIMEOUT_MS })
    .toBe(true);
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl, apiKey: key.text });
  const { data: body } = await client.GET('/v1/brands/{brandId}', {
    params: { path: { brandId: 'alpha' } },
  });
  expect(body?.data.url).toBe(`${baseUrl}/v1/brands/alpha`);
  const posted = await client.POST('/v1/workspaces/{ws}/tracked-brands', {
    params: { path: { ws: key.workspaceId } },
    body: { brand_id: body?.data.id ?? '' },
  });
  expect(posted.response.status).toBe(201);
  await expect.poll(() => lines.filter(({ msg }) => msg === 'request').length).toBe(2);
  expect(lines.find(({ msg }) => msg === 'request')).toMatchObject({
    request_id: body?.meta.request_id,
    operation: 'getBrand',
    status: 200,
  });
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
  expect(JSON.stringify(lines)).not.toContain(key.text);
});

test('the process starts, is ready, reads and writes while NATS, a standby and the object store are gone', {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const key = await stack.key();
  const [port, operatorPort, gone] = [await freePort(), await freePort(), await freePort()];
  const { child, lines } = start({
    ...stack.environment,
    NATS_URL: `nats://127.0.0.1:${gone}`,
    READ_DATABASE_URL: `postgres://reader@127.0.0.1:${gone}/ads`,
    OBJECT_STORE_URL: `s3://KEY:SECRET@127.0.0.1:${gone}/bucket?tls=false`,
    API_PORT: String(port),
    METRICS_PORT: String(operatorPort),
    CURSOR_SECRET: 'a secret for tests only',
  });
  await expect
    .poll(() => lines.some(({ msg }) => msg === 'listening'), { timeout: START_TIMEOUT_MS })
    .toBe(true);
  const readiness = await fetch(`http://127.0.0.1:${operatorPort}/readyz`);
  expect(readiness.status).toBe(200);
  const { status, missing } = (await readiness.json()) as { status: string; missing: { what: string }[] };
  expect(status).toBe('degraded');
  expect(missing.map(({ what }) => what).toSorted()).toEqual(['nats', 'object_store', 'read_standby']);
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: key.text });
  const params = { path: { ws: key.workspaceId } };
  const body = { subject_type: 'ad' as const, subject_key: '100000000000001', body: 'without NATS' };
  const written = await client.POST('/v1/workspaces/{ws}/notes', { params, body });
  expect(written.response.status).toBe(201);
  expect((await client.GET('/v1/workspaces/{ws}/notes', { params })).response.status).toBe(200);
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
});

test('the process reports all invalid settings at once', async () => {
  const { child, errors } = start({ API_PORT: '70000', CURSOR_SECRET: 'short' });
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).not.toBe(0);
  for (const name of ['DATABASE_URL', 'EVENT_STORE_URL', 'NATS_URL', 'API_PORT', 'CURSOR_SECRET']) {
    expect(errors()).toContain(name);
  }
});
