import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApiStack } from '../../operations/fixtures/stack.ts';
import { openMcpStack } from '../mcp-stack.ts';
import { createFixtureServer } from './fixture-server.ts';
import { SUITE } from './suite.ts';
import { openTokenProxy } from './token-proxy.ts';

/** The cases use the server that the suite asks for; `process.integration.test.ts` uses the service's own tools. */
const RUN_LIMIT_MS = 180_000;

/** The older revision needs a session for the client's reply, and the service has none; the newer does not. */
const ASKS_CLIENT = 'asks the client during a call';
/** The service answers with one JSON value; `the transport streams` below passes the scenario with a stream. */
const NO_STREAM = 'progress needs a stream';
/** Scenarios that fail, with the reason. A scenario that passes again must leave the list. */
const REVISIONS: readonly [string, number, Readonly<Record<string, string>>][] = [
  ['2026-07-28', 37, { 'tools-call-with-progress': NO_STREAM }],
  [
    '2025-11-25',
    30,
    {
      'tools-call-sampling': ASKS_CLIENT,
      'tools-call-elicitation': ASKS_CLIENT,
      'elicitation-sep1034-defaults': ASKS_CLIENT,
      'elicitation-sep1330-enums': ASKS_CLIENT,
    },
  ],
];

const resources = new AsyncDisposableStack();
let url: string;
let streamingUrl: string;
let folder: string;

beforeAll(async () => {
  const stack = resources.use(await openApiStack());
  const key = await stack.key({ plan: 'enterprise' });
  const open = async (responseMode: 'json' | 'auto'): Promise<string> => {
    const options = { createServer: createFixtureServer, responseMode };
    const mcp = resources.use(await openMcpStack(stack, options));
    return resources.use(await openTokenProxy(mcp.url, await mcp.connect(key))).url;
  };
  [url, streamingUrl] = await Promise.all([open('json'), open('auto')]);
  folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => resources.disposeAsync());

/** Exit code 1 means a failed check, which the output names. */
const runSuite = async (...args: readonly string[]): Promise<string> => {
  const run = promisify(execFile)(process.execPath, [SUITE ?? '', 'server', ...args], {
    cwd: folder,
    timeout: RUN_LIMIT_MS,
  });
  return (await run.catch((error: { stdout: string }) => error)).stdout;
};

test.skipIf(SUITE === null)(
  'where the transport streams, progress conforms to revision 2026-07-28',
  async () => {
    const scenario = ['--spec-version', '2026-07-28', '--scenario', 'tools-call-with-progress'];
    const stdout = await runSuite('--url', streamingUrl, ...scenario);
    expect(stdout).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
  },
);

test.skipIf(SUITE === null).concurrent.each(REVISIONS)(
  'the transport meets the requirements of revision %s',
  async (revision, count, expected) => {
    const stdout = await runSuite('--url', url, '--requirements', revision);
    const [, summary = ''] = stdout.split('=== SUMMARY ===');
    const [scored = '', others = ''] = summary.split('Not scored for');
    const isOther = new Set([...others.matchAll(/^ +[✓✗] ([\w-]+)/gm)].map(([, name]) => name));
    const results = [...scored.matchAll(/^([✓✗]) ([\w-]+): /gm)].filter(([, , name]) => !isOther.has(name));
    expect(results, stdout).toHaveLength(count);
    const failed = results.filter(([, mark]) => mark === '✗').map(([, , name]) => name);
    expect(new Set(failed), stdout).toEqual(new Set(Object.keys(expected)));
  },
);
