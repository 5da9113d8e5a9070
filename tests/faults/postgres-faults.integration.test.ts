import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { type FaultProxy, proxied } from './fault-proxy.ts';
import { type ServiceProcess, startProcess } from '../stack/processes.ts';

/** A real API process, with a proxy between it and Postgres. No fault may leave a request unanswered, or outlast itself. */

/** Milliseconds in which each request is answered. */
const ANSWER_MS = 10_000;
/** Milliseconds after the end of a fault in which requests succeed again. */
const HEALED_MS = 2_000;
/** Milliseconds until dead idle connections are replaced: 5 s to a question, 5 s for its answer. */
const FOUND_MS = 12_000;
const READS = 12;
const WRITES = 3;

let stack: ApiStack;
let proxy: FaultProxy;
let api: ServiceProcess;
let call: (method: 'GET' | 'POST') => Promise<{ status: number; retryAfter: string | null; ms: number }>;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const through = await proxied(stack.environment['DATABASE_URL'] ?? '');
  proxy = resources.use(through.proxy);
  const port = await freePort();
  api = startProcess('services/api/main.ts', {
    ...stack.environment,
    DATABASE_URL: through.url,
    API_PORT: String(port),
    CURSOR_SECRET: 'a secret for tests only',
  });
  resources.defer(async () => void (await api.stop()));
  const key = await stack.key();
  await stack.seed(['alpha']);
  await api.says('"listening"');
  const base = `http://127.0.0.1:${port}/v1`;
  const headers = { authorization: `Bearer ${key.text}` };
  const post = (): Promise<Response> =>
    fetch(`${base}/workspaces/${key.workspaceId}/notes`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({ subject_type: 'ad', subject_key: '100000000000001', body: 'kept' }),
    });
  call = async (method) => {
    const since = performance.now();
    const reply = method === 'GET' ? await fetch(`${base}/brands/alpha-com`, { headers }) : await post();
    await reply.text();
    return {
      status: reply.status,
      retryAfter: reply.headers.get('retry-after'),
      ms: performance.now() - since,
    };
  };
  expect((await call('GET')).status).toBe(200);
});
afterAll(() => resources.disposeAsync());

const burst = () => [
  ...Array.from({ length: READS }, () => call('GET')),
  ...Array.from({ length: WRITES }, () => call('POST')),
];

const expectAnswered = async (requests: readonly ReturnType<typeof call>[]): Promise<void> => {
  for (const { status, retryAfter, ms } of await Promise.all(requests)) {
    expect([200, 201, 503]).toContain(status);
    expect(ms).toBeLessThan(ANSWER_MS);
    if (status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
  }
};

/** Waits until all of many requests succeed. Fails when it takes longer than the limit. */
const expectHealed = async (limitMs = HEALED_MS): Promise<void> => {
  const since = performance.now();
  const succeeded = async (): Promise<boolean> =>
    (await Promise.all(burst())).every(({ status }) => status !== 503);
  await expect.poll(succeeded, { timeout: limitMs + ANSWER_MS }).toBe(true);
  expect(performance.now() - since).toBeLessThan(limitMs);
};

describe('every request is answered, and requests succeed soon afterwards, while Postgres', () => {
  test.for(['mute', 'one-way', 'cut'] as const)('is behind a network that is %s', async (mode) => {
    const under = burst();
    proxy.set(mode);
    await expectAnswered([...under, ...burst()]);
    // New connections meet the same fault.
    await expectAnswered([call('GET'), call('POST')]);
    proxy.set('pass');
    await expectHealed();
  });

  test('loses all connections without a word', async () => {
    proxy.halfOpen();
    await expectAnswered(burst());
    await expectHealed(FOUND_MS);
  });

  test.for([false, true])('resets all connections, in the middle of an answer: %s', async (midAnswer) => {
    const under = burst();
    proxy.reset(midAnswer);
    await expectAnswered([...under, ...burst()]);
    await expectHealed();
  });

  test('answers slowly', async () => {
    proxy.set('slow');
    await expectAnswered(burst());
    proxy.set('pass');
    await expectHealed();
  });

  test('goes away again and again, and the process never ends or logs a fault of its own', () => {
    expect(api.child.exitCode).toBeNull();
    expect(api.output()).not.toContain('request failed');
  });
});
