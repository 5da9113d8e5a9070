import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { on } from '../dsl/api.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { openHostedCommands } from './fixtures/hosted-commands.ts';

/** Workspace commands. The first of them and those about pipes run as operators run them: in a process of their own. */
const CLI = join(import.meta.dirname, '../../services/ops/cli.ts');
const run = promisify(execFile);

const commands = openHostedCommands();
let stack: ApiStack;
const ops = async (...words: readonly string[]): Promise<Record<string, string>> => {
  const { stdout, stderr, code } = await commands.run(['--json', ...words], stack.environment);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, string>;
};
const opsProcess = async (...words: readonly string[]): Promise<Record<string, string>> => {
  const { stdout } = await run(process.execPath, [CLI, '--json', ...words], { env: stack.environment });
  return JSON.parse(stdout) as Record<string, string>;
};
const failureWith = (
  environment: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<{ stderr: string; code: number }> => commands.run(words, { ...stack.environment, ...environment });
const failure = (...words: readonly string[]) => failureWith({}, ...words);

beforeAll(async () => {
  stack = await openApiStack();
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

describe('ops', () => {
  test('creates a workspace, a member and a working key, sets the plan and revokes the key', async () => {
    const app = await stack.api();
    const { workspace_id = '' } = await opsProcess('workspace', 'create', '--name', 'Demo', '--plan', 'free');
    const { member_id = '' } = await ops('member', 'add', workspace_id, '--name', 'Ada', '--role', 'editor');
    const issued = await ops(
      'key',
      'issue',
      workspace_id,
      '--member',
      member_id,
      '--name',
      'ci',
      '--scopes',
      'all',
    );
    const key = issued['api_key'] ?? '';
    const me = await on(app).get('/v1/me', { key });
    expect(me.data).toMatchObject({ workspace_id, workspace_name: 'Demo', role: 'editor', plan: 'free' });
    expect((me.data as { scopes: string[] }).scopes).not.toContain('apiKeys:write');

    await ops('plan', 'set', workspace_id, 'pro');
    expect((await on(app).get('/v1/me', { key })).data).toMatchObject({
      plan: 'pro',
      requests_per_minute: 1_000,
    });

    const listed = (await ops('workspace', 'list')) as unknown as object[];
    expect(listed).toMatchObject([{ workspace_id, name: 'Demo', plan: 'pro', members: 1 }]);

    expect(await ops('key', 'revoke', workspace_id, issued['key_id'] ?? '')).toMatchObject({ changed: true });
    expect((await on(app).get('/v1/me', { key })).status).toBe(401);
    expect(await ops('key', 'revoke', workspace_id, issued['key_id'] ?? '')).toMatchObject({
      changed: false,
    });
    const keys = (await ops('key', 'list', workspace_id)) as unknown as Record<string, unknown>[];
    expect(keys).toMatchObject([
      { key_id: issued['key_id'], name: 'ci', last_four: key.slice(-4), revoked_at: expect.any(String) },
    ]);
    expect(JSON.stringify(keys)).not.toContain(key);
    expect(Object.keys(keys[0] ?? {})).not.toContain('sha256');
  });

  test('reports a rejected command in one line', async () => {
    await expect(opsProcess('plan', 'set', 'ws_nowhere', 'pro')).rejects.toMatchObject({
      code: 1,
      stderr: 'Workspace not found.\n',
    });
    const { workspace_id = '' } = await ops('workspace', 'create', '--name', 'Other');
    const { member_id = '' } = await ops('member', 'add', workspace_id, '--name', 'Bea', '--role', 'viewer');
    const refused = await failure(
      'key',
      'issue',
      workspace_id,
      '--member',
      member_id,
      '--name',
      'x',
      '--scopes',
      'tracking:write',
    );
    expect(refused).toMatchObject({
      code: 1,
      stderr: 'The member or the calling key lacks these scopes: tracking:write. Leave them out.\n',
    });
  });

  test('rejects names that the API rejects, and unknown ids', async () => {
    const names = ['', 'two\nlines', 'x'.repeat(101)];
    const refused = await Promise.all(names.map((name) => failure('workspace', 'create', '--name', name)));
    expect(new Set(refused.map(({ stderr }) => stderr))).toEqual(
      new Set(['A name must be one line of 1 to 100 characters.\n']),
    );
    const nowhere = { code: 1, stderr: 'Workspace not found.\n' };
    const person = ['--name', 'Ada', '--role', 'viewer'];
    const [members, keys, added, parked] = await Promise.all([
      failure('member', 'list', 'ws_nowhere'),
      failure('key', 'list', 'ws_nowhere'),
      failure('member', 'add', 'ws_nowhere', ...person),
      failure('projections', 'parked', 'list', 'radr'),
    ]);
    expect([members, keys, added]).toMatchObject([nowhere, nowhere, nowhere]);
    expect(parked).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Projection radr not found\./),
    });
  });

  test('reports a backup file that is missing, exists already or is invalid', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ops-'));
    const file = join(folder, 'vault.ndjson');
    const errorLines = async (...words: string[]) => (await failure(...words)).stderr.split('\n');
    expect(await errorLines('vault', 'restore', file)).toEqual([
      `ENOENT: no such file or directory, open '${file}'.`,
      '',
    ]);
    await writeFile(file, 'no backup\n');
    expect(await errorLines('vault', 'backup', file)).toEqual([
      `EEXIST: file already exists, open '${file}'.`,
      '',
    ]);
    expect(await errorLines('vault', 'restore', file)).toEqual([
      'Line 1 is not a line of a vault backup. Nothing was restored. Check the file.',
      '',
    ]);
    await rm(folder, { recursive: true });
  });

  test('exits without an error when the reader of its output closes the pipe', async () => {
    const words = [process.execPath, CLI, 'log', 'find', '--category', 'workspace'];
    const { stdout, stderr } = await run('sh', ['-c', '"$@" | true', 'sh', ...words], {
      env: stack.environment,
    });
    expect([stdout, stderr]).toEqual(['', '']);
  });

  test('names the server that does not respond, without a stack trace', async () => {
    const nowhere = '127.0.0.1:1';
    const url = new URL(stack.environment['DATABASE_URL'] ?? '');
    url.pathname = '/elsewhere';
    const faults = await Promise.all([
      failureWith({ DATABASE_URL: `postgres://nobody@${nowhere}/x` }, 'workspace', 'list'),
      failureWith({ DATABASE_URL: url.href }, 'workspace', 'list'),
      failureWith({ EVENT_STORE_URL: `esdb://${nowhere}?tls=false` }, 'log', 'find', '--category', 'brand'),
    ]);
    expect(faults.map(({ code }) => code)).toEqual([1, 1, 1]);
    const firstLines = faults.map(({ stderr }) => stderr.split('\n')[0]);
    expect(firstLines[0]).toBe(
      `Postgres does not respond: connect ECONNREFUSED ${nowhere}. Check DATABASE_URL.`,
    );
    expect(firstLines[1]).toBe(
      'Postgres does not respond: database "elsewhere" does not exist. Check DATABASE_URL.',
    );
    expect(firstLines[2]).toMatch(/^The event store does not respond: .*ECONNREFUSED/);
    for (const { stderr } of faults) expect(stderr).not.toMatch(/^ {4}at /m);
  });
});
