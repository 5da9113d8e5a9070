import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HistoryEntry } from '#contracts/audit/entry.ts';
import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import { ErrorBody } from '#contracts/resources/envelope.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { silentLog } from '#platform/logger.ts';
import { createSigningKey } from '#application/audit/signing-key.ts';
import type { ToldEntry } from '#services/ops/audit/history.ts';
import { buildOps } from '#services/ops/http/server.ts';
import { on } from '#tests/dsl/api.ts';
import { type ApiOptions, type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { openHostedCommands } from './fixtures/hosted-commands.ts';

const CLI = join(import.meta.dirname, '../../services/ops/cli.ts');
const TOKEN = 'the token of the operators';
const run = promisify(execFile);

const commands = openHostedCommands();
let stack: ApiStack;
let environment: Readonly<Record<string, string>>;
let root: string;
let app: ReturnType<typeof buildOps>;
let workspace_id: string;
let member_id: string;
let db: ReturnType<typeof openReadDatabase>;

const outcome = (words: readonly string[], env: Readonly<Record<string, string>> = environment) =>
  commands.run(words, env);
const ops = async <T = Record<string, string>>(...words: readonly string[]): Promise<T> => {
  const { stdout, stderr, code } = await outcome(['--json', ...words]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
};
const get = async (
  path: string,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${TOKEN}` },
) => await app.inject({ method: 'GET', url: path, headers });
const entriesOf = async (query: string): Promise<readonly ToldEntry[]> =>
  (await get(`/ops/workspaces/${workspace_id}/history?${query}`)).json<{ data: ToldEntry[] }>().data;

beforeAll(async () => {
  stack = await openApiStack();
  const { audit_signing_key } = createSigningKey();
  const vaultKey = Buffer.alloc(32, 7).toString('base64');
  environment = { ...stack.environment, MEMBER_VAULT_KEY: vaultKey, AUDIT_SIGNING_KEY: audit_signing_key };
  root = await mkdtemp(join(tmpdir(), 'audit-'));
  db = openReadDatabase(environment['DATABASE_URL'] ?? '');
  const memberVault = await openMemberVault(stack.pool, vaultKey);
  app = buildOps({
    db,
    pool: stack.pool,
    eventStore: stack.eventStore,
    nats: () => stack.nats,
    serverChecks: {},
    archiveCallsPerHour: 150,
    memberVault,
    auditSigningKey: audit_signing_key,
    token: TOKEN,
    log: silentLog(),
  });

  ({ workspace_id = '' } = await ops('workspace', 'create', '--name', 'Demo', '--plan', 'free'));
  const person = ['--name', 'Ada Example', '--email', 'ada@shop.example', '--role', 'owner'];
  ({ member_id = '' } = await ops('member', 'add', workspace_id, ...person));
  await ops('key', 'issue', workspace_id, '--member', member_id, '--name', 'ci', '--scopes', 'all');
  await ops('plan', 'set', workspace_id, 'pro');
  // Commands do not wait for projections, and the tests below read projected histories.
  await stack.projected(await stack.eventStore.head());
});
afterAll(async () => {
  await app.close();
  await db[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
  await commands[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

describe('ops audit', () => {
  test('lists entries newest first, in pages, with filters', async () => {
    type Page = { readonly entries: HistoryEntry[]; readonly cursor: string | null };
    const page = await ops<Page>('audit', 'list', workspace_id, '--limit', '3');
    expect(page.entries.map(({ type }) => type)).toEqual(['PlanChanged', 'ApiKeyIssued', 'MemberAdded']);
    expect(page.entries[0]).toMatchObject({
      sequence: 4,
      workspace_id,
      actor: { kind: 'service', id: 'ops' },
      resource: { category: 'workspace', id: workspace_id, revision: '2' },
      data: { plan: 'pro' },
    });
    const rest = await ops<Page>('audit', 'list', workspace_id, '--cursor', page.cursor ?? '');
    expect(rest).toMatchObject({ entries: [{ sequence: 1, type: 'WorkspaceCreated' }], cursor: null });
    const keys = await outcome(['audit', 'list', workspace_id, '--resource', 'apiKeys']);
    expect(keys.stdout).toMatch(
      /^sequence .*\n3 +\S+ +ApiKeyIssued +service:ops +apiKeys:ws_\S+ +The service ops issued API key “ci” \(….{4}\) to member Ada Example with 25 scopes\.\n$/,
    );
  });

  test('names the brand and the key of an entry', async () => {
    const [brand] = await stack.seed(['named-in-history']);
    const key = await stack.key();
    const tracked = await on(await stack.api()).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: brand?.id, cadence: 'weekly' },
    });
    expect(tracked.status).toBe(201);
    await stack.projected(await stack.eventStore.head());
    const { entries } = await ops<{ entries: ToldEntry[] }>('audit', 'list', key.workspaceId, '--limit', '1');
    expect(entries[0]?.sentence).toMatch(/^API key “.+” tracked brand .*[Nn]amed.+ weekly\.$/);
  });

  test('follows a history until SIGINT', async () => {
    const words = [CLI, '--json', 'audit', 'follow', workspace_id, '--after', '2', '--type', 'PlanChanged'];
    const child = spawn(process.execPath, words, { env: environment });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    expect(JSON.parse(line.toString())).toMatchObject({ sequence: 4, type: 'PlanChanged' });
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('writes exports that verify offline, and names the entry of an export that was changed', async () => {
    const publicKey = join(root, 'public.pem');
    await writeFile(publicKey, (await outcome(['audit', 'public-key'])).stdout);
    for (const format of ['ndjson', 'csv']) {
      const directory = join(root, format);
      const exported = await ops('audit', 'export', workspace_id, '--format', format, '--out', directory);
      expect(exported).toMatchObject({ entries: 4, last_sequence: 4 });
      const words = ['audit', 'verify', directory, '--public-key', publicKey];
      // An empty environment: verifying needs no server.
      expect(await outcome(words, {})).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringContaining('complete and unchanged'),
      });
      const sentences = join(directory, 'history.txt');
      const told = await readFile(sentences, 'utf8');
      expect(told).toMatch(/^2 {2}\S+ {2}The service ops added member Ada Example as owner\.$/m);
      expect(told).toMatch(/\nThe chain is whole up to entry 4, with the head hash [0-9a-f]{64}\.\n$/);
      await writeFile(sentences, told.replace('as owner', 'as viewer'));
      expect(await outcome(words, {})).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^history\.txt has \d+ bytes instead of \d+\n$/),
      });
      await writeFile(sentences, told);
      const file = join(directory, `entries.${format}`);
      const text = await readFile(file, 'utf8');
      expect(text).not.toContain('Ada Example');
      expect(await readFile(join(directory, 'people.json'), 'utf8')).toContain('ada@shop.example');
      await writeFile(file, text.replace('"free"', '"pro"').replace('""free""', '""pro""'));
      expect(await outcome(words, {})).toMatchObject({
        code: 1,
        stdout: 'entry 1 was changed: its hash does not match its content\n',
      });
    }
  });

  test('reports an invalid command in one line', async () => {
    const failed = async (...words: readonly string[]) => (await outcome(['audit', ...words])).stderr;
    expect(await failed('list', 'ws_nowhere')).toBe('Workspace not found.\n');
    expect(await failed('list', workspace_id, '--since', 'soon')).toMatch(/^Invalid parameters: `since`: /);
    expect(await failed('export', 'ws_nowhere', '--format', 'csv', '--out', join(root, 'x'))).toMatch(
      'Workspace not found',
    );
    expect(await failed('verify', join(root, 'nowhere'))).toBe(
      `Export folder not found: ${join(root, 'nowhere')}.\n`,
    );
    const { AUDIT_SIGNING_KEY: _none, ...unsigned } = environment;
    const words = ['audit', 'export', workspace_id, '--format', 'csv', '--out', join(root, 'x')];
    expect((await outcome(words, unsigned)).stderr).toMatch(
      /^AUDIT_SIGNING_KEY is not set, and exports must be signed/,
    );
  });
});

describe('ops over HTTP', () => {
  const path = (rest: string) => `/ops/workspaces/${workspace_id}/history${rest}`;

  test('requires the token on every path except health checks', async () => {
    expect((await get('/healthz', {})).json()).toEqual({ status: 'ok' });
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: TOKEN }]) {
      const refused = await get(path(''), headers);
      expect(refused.statusCode).toBe(401);
      expect(ErrorBody.parse(refused.json()).error.request_id).toBe(refused.headers['x-request-id']);
    }
    expect((await get('/nothing', {})).statusCode).toBe(401);
    expect(ErrorBody.parse((await get('/nothing')).json()).error.type).toBe('not_found');
    expect(ErrorBody.parse((await get('/%zz')).json()).error.type).toBe('bad_request');
  });

  test('returns pages of the history, with filters', async () => {
    const first = (await get(path('?limit=2'))).json<{ data: HistoryEntry[]; meta: { cursor: string } }>();
    expect(first).toMatchObject({
      data: [{ sequence: 4 }, { sequence: 3 }],
      meta: { count: 2, cursor: '3' },
    });
    const numbers = async (query: string) => (await entriesOf(query)).map(({ sequence }) => sequence);
    expect(await numbers(`limit=2&cursor=${first.meta.cursor}`)).toEqual([2, 1]);
    expect(await numbers('type=MemberAdded')).toEqual([2]);
    expect(await numbers('actor=service:ops&resource=apiKeys')).toEqual([3]);
    expect(await numbers(`resource=workspace:${workspace_id}&until=2000-01-01`)).toEqual([]);
    expect(await numbers('since=2000-01-01T00:00:00Z&limit=1')).toEqual([4]);
  });

  test('rejects invalid parameters, with details', async () => {
    for (const query of [
      'limit=0',
      'limit=201',
      'cursor=x',
      'actor=x',
      'resource=brand',
      'since=x',
      'other=1',
    ]) {
      const refused = await get(path(`?${query}`));
      expect([query, refused.statusCode]).toEqual([query, 400]);
      expect(ErrorBody.parse(refused.json()).error.details?.length).toBe(1);
    }
    expect((await get(path('?follow=true&limit=1'))).statusCode).toBe(400);
    expect((await get(path('/export'))).statusCode).toBe(400);
    expect((await get('/ops/workspaces/ws_nowhere/history')).statusCode).toBe(404);
    expect((await get('/ops/workspaces/ws_nowhere/history?follow=true')).statusCode).toBe(404);
    expect((await get('/ops/workspaces/ws_nowhere/history/export?format=csv')).statusCode).toBe(404);
  });

  test('streams new entries until the server closes', async () => {
    const { pool, eventStore } = stack;
    const without = {
      nats: () => null,
      serverChecks: {},
      archiveCallsPerHour: 150,
      memberVault: null,
      auditSigningKey: null,
    };
    const other = buildOps({ db, pool, eventStore, ...without, token: TOKEN, log: silentLog() });
    const url = await other.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(`${url}${path('?follow=true&after=3')}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const reader = (response.body ?? new ReadableStream()).getReader();
    const { value } = await reader.read();
    expect(JSON.parse(new TextDecoder().decode(value as Uint8Array))).toMatchObject({ sequence: 4 });
    const ended = reader.read().then(
      ({ done }) => done,
      () => true,
    );
    await other.close();
    expect(await ended).toBe(true);
  });

  test('sends an export as a tar archive that verifies', async () => {
    const archive = join(root, 'history.tar');
    await writeFile(archive, (await get(path('/export?format=ndjson'))).rawPayload);
    const directory = join(root, 'unpacked');
    await mkdir(directory);
    await run('tar', ['-xf', archive, '-C', directory]);
    expect(await outcome(['audit', 'verify', directory], {})).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('chain whole, signature NOT checked'),
      stderr: expect.stringContaining('Add --public-key FILE'),
    });
  });
});

describe('ops member', () => {
  type Member = { readonly member_id: string; readonly name: string | null; readonly email: string | null };
  const members = async () => await ops<Member[]>('member', 'list', workspace_id);

  test('shows a member until the member is erased; the history before and after verifies', async () => {
    const issue = ['key', 'issue', workspace_id, '--name', 'laptop', '--scopes', 'all', '--member'];
    const person = ['--name', 'Bea Example', '--email', 'bea@shop.example', '--role', 'viewer'];
    const { member_id: erased = '' } = await ops('member', 'add', workspace_id, ...person);
    const { api_key = '' } = await ops(...issue, erased);
    expect(await members()).toMatchObject([
      { member_id, name: 'Ada Example', email: 'ada@shop.example' },
      { member_id: erased, name: 'Bea Example', email: 'bea@shop.example' },
    ]);
    const before = await entriesOf('');
    const memberVault = await openMemberVault(stack.pool, environment['MEMBER_VAULT_KEY'] ?? '');
    const me = { url: '/v1/me', headers: { authorization: `Bearer ${api_key}` } };
    const named = async (options: ApiOptions) =>
      (await (await stack.api(options)).inject(me)).json<{ data: { member: object } }>().data.member;
    expect(await named({ memberVault })).toEqual({ id: erased, name: 'Bea Example' });
    expect(await named({})).toEqual({ id: erased, name: null });
    const wrongKey = await openMemberVault(stack.pool, Buffer.alloc(32, 8).toString('base64'));
    expect(await named({ memberVault: wrongKey })).toEqual({ id: erased, name: null });

    expect(await ops('member', 'erase', workspace_id, erased)).toMatchObject({
      changed: true,
      keys_revoked: 1,
      name_in_log: false,
    });
    expect(await ops('member', 'erase', workspace_id, erased)).toMatchObject({
      changed: false,
      keys_revoked: 0,
    });
    expect(await members()).toMatchObject([{ member_id, name: 'Ada Example' }]);
    expect((await (await stack.api({ memberVault })).inject(me)).statusCode).toBe(401);

    await stack.projected(await stack.eventStore.head());
    const after = await entriesOf('');
    const withoutSentence = (entries: readonly ToldEntry[]) =>
      entries.map((entry) => ({ ...entry, sentence: '' }));
    expect(withoutSentence(after.slice(-before.length))).toEqual(withoutSentence(before));
    const added = ({ type, sentence }: ToldEntry) => type === 'MemberAdded' && sentence.includes('as viewer');
    expect([before, after].map((entries) => entries.find(added)?.sentence)).toEqual([
      'The service ops added member Bea Example as viewer.',
      `The service ops added member ${erased} (erased) as viewer.`,
    ]);
    expect(after.map(({ type }) => type).slice(0, 2)).toEqual(['ApiKeyRevoked', 'MemberErased']);

    const directory = join(root, 'after');
    await ops('audit', 'export', workspace_id, '--format', 'ndjson', '--out', directory);
    expect((await outcome(['audit', 'verify', directory, '--unsigned'], {})).code).toBe(0);
    const texts = await Promise.all(
      ['entries.ndjson', 'people.json', 'history.txt'].map((name) => readFile(join(directory, name), 'utf8')),
    );
    expect(texts.join()).not.toMatch(/Bea Example|bea@/);
    expect(texts[1]).toContain('Ada Example');
    // The encrypted data is still in the event, but its key is deleted.
    let sealed = '';
    for await (const { type, data } of stack.eventStore.read<WorkspaceEvent>(workspaceStream(workspace_id))) {
      if (type === 'MemberAdded' && data.member_id === erased) sealed = data.sealed ?? '';
    }
    expect(sealed).toMatch(/^v1\./);
    expect(await memberVault.open(workspace_id, erased, sealed)).toBeNull();
    await expect(memberVault.open(workspace_id, member_id, sealed)).rejects.toThrow('authenticate');
  });

  test('rejects invalid addresses, and addresses or erasure without the vault', async () => {
    const add = ['member', 'add', workspace_id, '--name', 'Cleo', '--role', 'viewer'];
    expect((await outcome([...add, '--email', 'nowhere'])).stderr).toBe(
      'nowhere is not a valid e-mail address.\n',
    );
    const plain = stack.environment;
    expect((await outcome([...add, '--email', 'c@shop.example'], plain)).stderr).toMatch(
      /Set MEMBER_VAULT_KEY/,
    );
    expect((await outcome(['member', 'erase', workspace_id, member_id], plain)).stderr).toMatch(
      /MEMBER_VAULT_KEY/,
    );
    const { stdout } = await outcome(['--json', ...add], plain);
    const { member_id: plainly = '' } = JSON.parse(stdout) as { member_id?: string };
    expect(await ops('member', 'erase', workspace_id, plainly)).toMatchObject({ name_in_log: true });
    const otherKey = { ...plain, MEMBER_VAULT_KEY: Buffer.alloc(32, 8).toString('base64') };
    expect(await outcome(['member', 'list', workspace_id], otherKey)).toMatchObject({
      code: 1,
      stderr:
        'MEMBER_VAULT_KEY is not the key that encrypted this member. Set the key that was in use then.\n',
    });
    expect(await outcome([...add, '--email', 'c@shop.example'], otherKey)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^MEMBER_VAULT_KEY differs from the key that encrypted the stored data.*\n$/,
      ),
    });
    expect((await outcome(['member', 'erase', workspace_id, 'mem_nobody'])).stderr).toBe(
      'Member not found in this workspace.\n',
    );
  });
});
