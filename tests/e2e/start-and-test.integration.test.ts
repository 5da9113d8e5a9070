import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { inheritedEnvironment, type LocalStack } from '#platform/settings.ts';
import { createSigningKey } from '#application/audit/signing-key.ts';
import { NO_LOCAL_STACK } from '../no-local-stack.ts';

/** True for the test of the whole suite. `npm test` plays a stack that was started, and tests its secrets. */
const IS_WHOLE = inheritedEnvironment()['START_AND_TEST'] === '1';
const PROJECT = resolve(import.meta.dirname, '../..');
/** Tests of commands whose secrets `.data` holds, too. */
const OF_SECRETS = ['--project=integration', 'tests/ops/audit.integration.test.ts'];
/** Arguments of the suite without this file. */
const WHOLE = ['--exclude=tests/e2e/start-and-test.integration.test.ts'];
const READY = 'Ctrl-C stops everything in order';
const RUN_LIMIT_MS = IS_WHOLE ? 3_600_000 : 240_000;

/** Environment of a newcomer's shell, without the settings of this run. */
const environment = Object.fromEntries(
  Object.entries(inheritedEnvironment()).filter(
    ([name]) => !(name in NO_LOCAL_STACK) && !/VITEST|^NODE_ENV$/.test(name),
  ),
);

/** Copies the project without data and cache. */
const createClone = async (): Promise<string> => {
  const clone = await mkdtemp(join(tmpdir(), 'clone-'));
  for (const name of await readdir(PROJECT)) {
    if (['.git', '.data', '.cache', 'node_modules'].includes(name)) continue;
    await cp(join(PROJECT, name), join(clone, name), { recursive: true });
  }
  await symlink(join(PROJECT, 'node_modules'), join(clone, 'node_modules'));
  // The whole suite downloads a NATS server, as a newcomer does.
  if (!IS_WHOLE) {
    await mkdir(join(clone, '.cache'));
    await symlink(join(PROJECT, '.cache/nats'), join(clone, '.cache/nats'));
  }
  return clone;
};

const npm = (clone: string, ...words: readonly string[]) => {
  const child = spawn('npm', words, { cwd: clone, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()));
  return { child, ended: once(child, 'exit'), output: () => output };
};

const start = async (clone: string): Promise<{ readonly stop: () => Promise<void> }> => {
  const { child, ended, output } = npm(clone, 'start');
  await expect.poll(output, { timeout: RUN_LIMIT_MS, interval: 500 }).toContain(READY);
  return {
    stop: async () => {
      child.kill('SIGINT');
      await ended;
    },
  };
};

/** Writes the files of a stack that has ended. */
const playStart = async (clone: string): Promise<{ readonly stop: () => Promise<void> }> => {
  const server = '127.0.0.1:1';
  const local: LocalStack = {
    api_url: `http://${server}`,
    ops_url: `http://${server}`,
    mcp_url: `http://${server}`,
    intake_url: `http://${server}`,
    event_store_url: `esdb://${server}?tls=false`,
    database_url: `postgres://service:secret@${server}/ads`,
    nats_url: `nats://${server}`,
    workspace_id: 'ws',
    member_id: 'mem',
    api_key: 'key',
  };
  const { audit_signing_key } = createSigningKey();
  const secrets = { member_vault_key: Buffer.alloc(32, 9).toString('base64'), audit_signing_key };
  await mkdir(join(clone, '.data'));
  await writeFile(join(clone, '.data/local.json'), JSON.stringify(local));
  await writeFile(join(clone, '.data/secrets.json'), JSON.stringify(secrets));
  return { stop: async () => undefined };
};

const runTests = async (clone: string): Promise<void> => {
  const { ended, output } = npm(clone, 'test', '--', ...(IS_WHOLE ? WHOLE : OF_SECRETS));
  const [code] = await ended;
  expect(code, output().slice(-5_000)).toBe(0);
  expect(output()).toMatch(/[1-9]\d* passed, 0 failed/);
};

test('tests pass in a clone in which a stack was started, and leave its folder as it is', {
  timeout: RUN_LIMIT_MS,
}, async () => {
  await using resources = new AsyncDisposableStack();
  const clone = await createClone();
  resources.defer(() => rm(clone, { recursive: true, force: true }));
  const stack = await (IS_WHOLE ? start : playStart)(clone);
  resources.defer(stack.stop);
  const local = () => readFile(join(clone, '.data/local.json'), 'utf8');
  const [before, files] = [await local(), await readdir(join(clone, '.data'))];
  await runTests(clone);
  expect([await local(), await readdir(join(clone, '.data'))]).toEqual([before, files]);
});

test.runIf(IS_WHOLE)(
  'a stack starts in a clone in which tests ran, which left no data',
  { timeout: RUN_LIMIT_MS },
  async () => {
    await using resources = new AsyncDisposableStack();
    const clone = await createClone();
    resources.defer(() => rm(clone, { recursive: true, force: true }));
    await runTests(clone);
    expect(await readdir(clone)).not.toContain('.data');
    const stack = await start(clone);
    await stack.stop();
  },
);
