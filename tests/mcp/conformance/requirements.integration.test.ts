import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApiStack } from '../../operations/fixtures/stack.ts';
import { openMcpStack } from '../mcp-stack.ts';
import { createFixtureServer } from './fixture-server.ts';
import { openTokenProxy } from './token-proxy.ts';

/**
 * The transport of this service with the server that the official suite asks for: everything that a revision requires,
 * as frozen at its release. `process.integration.test.ts` runs the suite against the service's own tools.
 */
const SUITE = join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
const RUN_LIMIT_MS = 180_000;

/** Calls that the server would have to make to the client while it answers. The service never does, and serves no stream. */
const ASKS_CLIENT = 'asks the client during a call';
/** The service answers with one JSON value. Progress is optional, and is not sent. */
const NO_STREAM = 'progress needs a stream';
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
let folder: string;

beforeAll(async () => {
  const stack = resources.use(await openApiStack());
  const mcp = resources.use(await openMcpStack(stack, { createServer: createFixtureServer }));
  const token = await mcp.connect(await stack.key({ plan: 'enterprise' }));
  ({ url } = resources.use(await openTokenProxy(mcp.url, token)));
  folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => resources.disposeAsync());

test.concurrent.each(REVISIONS)(
  'the transport meets the requirements of revision %s',
  async (revision, count, expected) => {
    const run = promisify(execFile)(
      process.execPath,
      [SUITE, 'server', '--url', url, '--requirements', revision],
      { cwd: folder, timeout: RUN_LIMIT_MS },
    );
    // The exit code is 1 when a check failed. The output then says which.
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const [, summary = ''] = stdout.split('=== SUMMARY ===');
    const [scored = '', others = ''] = summary.split('Not scored for');
    const isOther = new Set([...others.matchAll(/^ +[✓✗] ([\w-]+)/gm)].map(([, name]) => name));
    const results = [...scored.matchAll(/^([✓✗]) ([\w-]+): /gm)].filter(([, , name]) => !isOther.has(name));
    expect(results, stdout).toHaveLength(count);
    const failed = results.filter(([, mark]) => mark === '✗').map(([, , name]) => name);
    expect(new Set(failed), stdout).toEqual(new Set(Object.keys(expected)));
  },
);
