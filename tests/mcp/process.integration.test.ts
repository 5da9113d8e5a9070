import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { proxied } from '../faults/fault-proxy.ts';
import { startProcess } from '../stack/processes.ts';
import { SUITE } from './conformance/suite.ts';
import { openTokenProxy, type TokenProxy } from './conformance/token-proxy.ts';
import { type McpStack, openMcpStack } from './mcp-stack.ts';

const ROOT = join(import.meta.dirname, '../..');

const SUITE_LIMIT_MS = 180_000;
/** Shorter than usual, so that the test does not wait long. */
const BUDGET_MS = 2_000;
/** A call has twice the time of another request. */
const CALL_BUDGET_MS = 2 * BUDGET_MS;

let stack: ApiStack;
let mcp: McpStack & AsyncDisposable;
let proxy: TokenProxy;
let key: Key;
let token: string;
let home: string;

beforeAll(async () => {
  stack = await openApiStack();
  [mcp, key] = await Promise.all([
    openMcpStack(stack),
    stack.key({ plan: 'enterprise' }),
    stack.seed(['alpha']),
  ]);
  token = await mcp.connect(key);
  proxy = await openTokenProxy(mcp.url, token);
  home = await mkdtemp(join(tmpdir(), 'conformance-'));
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

/** Scenarios of the official suite that need no fixtures of its own. All others ask for tools of the suite. */
const GENERIC: readonly [string, readonly string[]][] = [
  [
    '2026-07-28',
    [
      'tools-list',
      'resources-list',
      'prompts-list',
      'caching',
      'http-header-validation',
      'dns-rebinding-protection',
      'server-sse-multiple-streams',
      'sep-2164-resource-not-found',
    ],
  ],
  [
    '2025-11-25',
    ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection'],
  ],
];
/** A check that needs a tool of the suite's own fixture says so; any other failed check is a fault. */
const UNTESTABLE = /Error: Not testable: server does not list the diagnostic tool/g;

const conform = async (...args: readonly string[]): Promise<string> => {
  const run = promisify(execFile)(process.execPath, [SUITE ?? '', 'server', '--url', proxy.url, ...args], {
    cwd: home,
    timeout: SUITE_LIMIT_MS,
  });
  return (await run.catch((error: { stdout: string }) => error)).stdout;
};

test.skipIf(SUITE === null).each(GENERIC)(
  'conforms to revision %s where no fixture is needed',
  async (revision, scenarios) => {
    const stdout = await conform('--requirements', revision);
    const passed = [...stdout.matchAll(/^✓ ([\w-]+): ([1-9]\d*) passed, 0 failed/gm)].map(([, name]) => name);
    expect(passed, stdout).toEqual(expect.arrayContaining([...scenarios]));
  },
);

test.skipIf(SUITE === null)(
  'keeps no session: every check that needs no tool of the suite passes',
  async () => {
    const stdout = await conform('--spec-version', '2026-07-28', '--scenario', 'server-stateless');
    const [, passed, all, failed] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(stdout) ?? [];
    expect([passed, all, failed], stdout).toEqual(['24', '28', '4']);
    expect(stdout.match(UNTESTABLE)).toHaveLength(4);
  },
);

test('the process starts with plain node, refuses API keys, answers while Postgres is silent, logs JSON only, and ends on a signal', async () => {
  const port = await freePort();
  const through = await proxied(stack.environment['DATABASE_URL'] ?? '');
  await using postgres = through.proxy;
  const started = startProcess(join(ROOT, 'services/mcp/main.ts'), {
    ...stack.environment,
    DATABASE_URL: through.url,
    REQUEST_BUDGET_MS: String(BUDGET_MS),
    MCP_PORT: String(port),
    CURSOR_SECRET: 'a secret for tests only',
    MCP_SECRET: 'a secret of 32 characters for tests',
  });
  await started.says('listening');
  const reply = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.text}`, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  expect(reply.status).toBe(401);
  postgres.set('mute');
  const base = `http://127.0.0.1:${port}`;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const since = performance.now();
  const took: Record<string, number> = {};
  const noteTime = (refusal: Response): Response => {
    took[new URL(refusal.url).pathname] = performance.now() - since;
    return refusal;
  };
  const refused = await Promise.all([
    fetch(`${base}/mcp`, {
      method: 'POST',
      headers: { authorization: 'Bearer none', 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    }).then(noteTime),
    fetch(`${base}/oauth/token`, {
      method: 'POST',
      headers: form,
      body: 'grant_type=refresh_token&refresh_token=none&client_id=none',
    }),
    fetch(`${base}/account`, { headers: { cookie: `adintel-signed-in=${'x'.repeat(43)}` } }).then(noteTime),
  ]);
  expect(performance.now() - since).toBeLessThan(CALL_BUDGET_MS + 5_000);
  // A call has a longer time of its own.
  expect(took['/mcp']).toBeGreaterThan((took['/account'] ?? 0) + (CALL_BUDGET_MS - BUDGET_MS) / 2);
  for (const one of refused) {
    expect([new URL(one.url).pathname, one.status]).toEqual([new URL(one.url).pathname, 503]);
    expect(Number(one.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(await refused[1].json()).toMatchObject({ error: 'temporarily_unavailable' });
  postgres.set('pass');
  expect(await started.stop()).toBe(0);
  expect(started.output()).not.toContain(key.text);
  const lines = started.output().trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
});
