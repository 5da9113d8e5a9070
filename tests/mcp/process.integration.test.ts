import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { startProcess } from '../stack/processes.ts';
import { openTokenProxy, type TokenProxy } from './conformance/token-proxy.ts';
import { type McpStack, openMcpStack } from './mcp-stack.ts';

const ROOT = join(import.meta.dirname, '../..');
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

let stack: ApiStack;
let mcp: McpStack & AsyncDisposable;
let proxy: TokenProxy;

beforeAll(async () => {
  stack = await openApiStack();
  [mcp] = await Promise.all([openMcpStack(stack), stack.seed(['alpha'])]);
  const token = await mcp.connect(await stack.key({ plan: 'enterprise' }));
  proxy = await openTokenProxy(mcp.url, token);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

/** Scenarios of the official suite that need no fixtures of its own. Each costs the start of a process. */
const SCENARIOS: readonly [string, string][] = [
  ['2026-07-28', 'server-stateless'],
  ['2026-07-28', 'caching'],
  ['2026-07-28', 'http-header-validation'],
  ['2026-07-28', 'sep-2164-resource-not-found'],
  ['2025-11-25', 'server-initialize'],
];
/** A check that needs a tool of the suite's own fixture says so; any other failed check is a fault. */
const UNTESTABLE = /Error: Not testable: server does not list the diagnostic tool/g;
/** Checks of `server-stateless` that need such tools. */
const UNTESTABLE_CHECKS: Readonly<Record<string, number>> = { 'server-stateless': 4 };

test.each(SCENARIOS)('conforms to revision %s: %s', async (revision, scenario) => {
  const args = ['server', '--url', proxy.url, '--spec-version', revision, '--scenario', scenario];
  const run = promisify(execFile)(process.execPath, [SUITE, ...args], { cwd: ROOT });
  // The exit code is 1 when a check failed. The output then says which.
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const [, passed = '0', all = '0', failed = '-1'] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(stdout) ?? [];
  const untestable = stdout.match(UNTESTABLE)?.length ?? 0;
  expect(Number(passed), stdout).toBeGreaterThan(0);
  expect(Number(failed), stdout).toBe(untestable);
  expect(untestable).toBe(UNTESTABLE_CHECKS[scenario] ?? 0);
  expect(Number(passed) + Number(failed)).toBe(Number(all));
});

test('the process starts with plain node, refuses API keys, and ends on a signal', async () => {
  const key = await stack.key();
  const port = await freePort();
  const started = startProcess(join(ROOT, 'services/mcp/main.ts'), {
    ...stack.environment,
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
  expect(await started.stop()).toBe(0);
  expect(started.output()).not.toContain(key.text);
});
