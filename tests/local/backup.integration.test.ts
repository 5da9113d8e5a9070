import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { OtherLog, findOtherLog } from '#platform/process/wait-for-servers.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { addClient, listClients } from '#application/sign-in/authorization-tables.ts';
import { createBrowsers } from '#application/sign-in/browsers.ts';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { createAdapter } from '#services/mcp/sign-in/adapter.ts';
import { type WorkspaceEvent, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import { projections } from '#projections/index.ts';
import { createSigningKey } from '#application/audit/signing-key.ts';
import { addPerson, createWorkspaceNamed, invitePerson } from '#services/ops/workspaces.ts';
import { runProjections } from '#services/projector/run.ts';
import { seedCorpus } from '../operations/fixtures/corpus.ts';
import { openHostedCommands } from '../ops/fixtures/hosted-commands.ts';
import { createTestDatabase } from '../stack/database.ts';
import { checksums, POSITION_COLUMNS, untilPassed } from '../stack/read-models.ts';

/** Only the log and the vaults are backed up; everything else is rebuilt from them (`deploy/OPERATIONS.md`). */
const VAULT_KEY = Buffer.alloc(32, 6).toString('base64');
const PERSON = { name: 'Ada Example', email: 'ada@shop.example' };
const CAUGHT_UP_MS = 60_000;
const { audit_signing_key: AUDIT_SIGNING_KEY } = createSigningKey();

const commands = openHostedCommands();
const resources = new AsyncDisposableStack();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await resources.disposeAsync();
});

type Servers = { readonly databaseUrl: string; readonly eventStoreUrl: string };

const ops = async (
  { databaseUrl, eventStoreUrl }: Servers,
  ...words: readonly string[]
): Promise<Record<string, unknown>> => {
  const servers = {
    DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    EVENT_STORE_URL: eventStoreUrl,
    MEMBER_VAULT_KEY: VAULT_KEY,
    AUDIT_SIGNING_KEY,
  };
  const { stdout, stderr, code } = await commands.run(['--json', ...words], servers);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
};

const project = async (databaseUrl: string, eventStoreUrl: string) => {
  const ending = new AbortController();
  const running = runProjections({
    databaseUrl,
    eventStoreUrl,
    projections,
    log: silentLog(),
    signal: ending.signal,
  });
  const pool = openPool(databaseUrl, 2);
  const eventStore = openEventStore(eventStoreUrl);
  try {
    await untilPassed(pool, await eventStore.head(), CAUGHT_UP_MS);
    return await checksums(pool, projections, POSITION_COLUMNS);
  } finally {
    ending.abort();
    await running;
    await eventStore[Symbol.asyncDispose]();
    await pool.end();
  }
};

const exportHistory = async (servers: Servers, workspaceId: string, name: string) => {
  const out = join(folder, name);
  const exported = await ops(servers, 'audit', 'export', workspaceId, '--format', 'ndjson', '--out', out);
  expect(await ops(servers, 'audit', 'verify', out, '--unsigned')).toMatchObject({ faults: [] });
  const [entries, people] = await Promise.all(
    ['entries.ndjson', 'people.json'].map((file) => readFile(join(out, file), 'utf8')),
  );
  return { entries, people, count: exported['entries'], head: exported['head_hash'] };
};

const fill = async (databaseUrl: string, eventStoreUrl: string) => {
  await using opened = new AsyncDisposableStack();
  const pool = openPool(databaseUrl, 2);
  opened.defer(() => pool.end());
  await createAccessTables(pool);
  const eventStore = opened.use(openEventStore(eventStoreUrl));
  const projectionWait = opened.use(openProjectionWait(databaseUrl, pool, silentLog()));
  const memberVault = await openMemberVault(pool, VAULT_KEY);
  const operator = {
    pool,
    eventStore,
    workspaceCommands: createWorkspaceCommands({ eventStore, pool, projectionWait }),
    memberVault,
    actor: { kind: 'service', id: 'tests' },
  } as const;
  const { workspace_id } = await createWorkspaceNamed(operator, 'Kept', 'pro');
  const { member_id } = await addPerson(operator, workspace_id, PERSON, 'owner');
  const fingerprint = await (await openSecretVault(pool, VAULT_KEY)).seal(
    workspace_id,
    'webhook-secret',
    'hush',
  );
  await seedCorpus(eventStore, ['alpha', 'beta'], Date.now());
  const cookie = await signIn(pool, member_id);
  await invitePerson({ ...operator, mcpBaseUrl: 'https://mcp.test' }, workspace_id, member_id);
  return { workspace_id, member_id, fingerprint, cookie };
};

/** Rights as of a connection that lives. */
const RIGHTS = { admit: async () => true, end: async () => undefined };
const TOKENS = ['RefreshToken', 'AccessToken'] as const;

/** Signs the member in and connects an app. Returns the cookie of the browser. */
const signIn = async (pool: Database, memberId: string): Promise<string> => {
  await createBrowserSignInTables(pool);
  await addClient(pool, { client_id: 'house', name: 'House', redirect_uris: ['https://app.example/back'] });
  for (const kind of TOKENS) {
    await createAdapter(
      pool,
      RIGHTS,
    )(kind).upsert('the token itself', { grantId: 'grant', scope: 'ads:read' }, 3_600);
  }
  return createBrowsers(pool).open(memberId, 'invitation');
};

const startStore = (databaseUrl: string) => startEventStore({ databaseUrl, host: '127.0.0.1', port: 0 });

test('restores everything from a backup of the log and the vaults', async () => {
  const [before, log] = [await createTestDatabase(), await createTestDatabase()];
  resources.defer(() => before.drop());
  resources.defer(() => log.drop());
  const store = await startStore(log.url);
  const { workspace_id, member_id, fingerprint, cookie } = await fill(before.url, store.url);
  const wanted = await project(before.url, store.url);

  const lost = { databaseUrl: before.url, eventStoreUrl: store.url };
  const history = await exportHistory(lost, workspace_id, 'history');
  expect(history).toMatchObject({ count: 3, head: expect.stringMatching(/^[0-9a-f]{64}$/) });

  // Backup: the log first, then the vaults.
  const logFile = join(folder, 'log.ndjson.gz');
  const { events } = await ops(lost, 'log', 'export', logFile);
  const file = join(folder, 'vault.ndjson');
  expect(await ops(lost, 'vault', 'backup', file)).toMatchObject({ entries: 7 });
  const text = await readFile(file, 'utf8');
  for (const secret of [PERSON.name, 'hush', 'the token itself', cookie]) expect(text).not.toContain(secret);
  await expect(ops(lost, 'vault', 'backup', file)).rejects.toThrow('EEXIST');

  await store.stop();
  const [after, emptyLog] = [await createTestDatabase(), await createTestDatabase()];
  resources.defer(() => after.drop());
  resources.defer(() => emptyLog.drop());
  const restored = await startStore(emptyLog.url);
  resources.defer(() => restored.stop());
  const servers = { databaseUrl: after.url, eventStoreUrl: restored.url };
  expect(await ops(servers, 'log', 'import', logFile, '--to', restored.url)).toEqual({
    imported: events,
    complete: true,
  });
  expect(await ops(servers, 'vault', 'restore', file)).toMatchObject({ entries: 7, restored: 7 });
  expect(await ops(servers, 'vault', 'restore', file)).toMatchObject({ entries: 7, restored: 0 });
  expect(await findOtherLog(after.url, restored.url)).toBeNull();
  expect(await project(after.url, restored.url)).toEqual(wanted);
  expect(await findOtherLog(after.url, restored.url)).toBeNull();

  // An export of before stays true: a new one has the same entries, with the same hashes.
  expect(await exportHistory(servers, workspace_id, 'history-restored')).toEqual(history);

  const pool = openPool(after.url, 1);
  resources.defer(() => pool.end());
  const eventStore = resources.use(openEventStore(restored.url));
  const members = await openMemberVault(pool, VAULT_KEY);
  for await (const event of eventStore.read<WorkspaceEvent>(workspaceStream(workspace_id))) {
    if (event.type !== 'MemberAdded') continue;
    expect(await members.open(workspace_id, member_id, event.data.sealed ?? '')).toEqual(PERSON);
  }
  const secrets = await openSecretVault(pool, VAULT_KEY);
  expect(await secrets.open(workspace_id, 'webhook-secret', fingerprint)).toBe('hush');

  expect(await listClients(pool)).toMatchObject([{ client_id: 'house', name: 'House' }]);
  expect(await createBrowsers(pool).find(cookie)).toMatchObject({ accountId: member_id });
  const [refresh, access] = await Promise.all(
    TOKENS.map((kind) => createAdapter(pool, RIGHTS)(kind).find('the token itself')),
  );
  expect(refresh).toMatchObject({ grantId: 'grant', scope: 'ads:read' });
  // Access tokens live for an hour and are not part of the backup.
  expect(access).toBeUndefined();

  // The database that was not lost belongs to the old log: no process starts until it has adopted the new one.
  expect(await findOtherLog(before.url, restored.url)).toBeInstanceOf(OtherLog);
  const kept = { databaseUrl: before.url, eventStoreUrl: restored.url };
  const { dropped } = await ops(kept, 'log', 'adopt', '--yes');
  expect(dropped).toEqual(expect.arrayContaining(['access', 'ads', 'projector', 'run']));
  expect(await findOtherLog(before.url, restored.url)).toBeNull();
  expect(await project(before.url, restored.url)).toEqual(wanted);
  expect(await exportHistory(kept, workspace_id, 'history-adopted')).toEqual(history);
});
