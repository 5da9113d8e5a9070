import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '#contracts/values/time.ts';
import { type ArchiveWorld, createArchiveWorld } from '#tests/world/archive-world.ts';
import { accountWarning } from '#application/collecting/library-account.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import {
  readAccount,
  readAppSecret,
  readToken,
  saveAccountState,
  storeToken,
} from '#services/collector/ads-archive/account-store.ts';
import { createCollectorTables } from '#services/collector/collector-tables.ts';
import { openHostedCommands } from '#tests/ops/fixtures/hosted-commands.ts';
import { openPlayedSites, type PlayedSites } from '#tests/platform/http-client/played-sites.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');
const APP_SECRET = 'an_app_secret_of_the_test';
const TOKEN = 'EAAfirsttokenfirsttokenfirst';
const NEXT_TOKEN = 'EAAnexttokennexttokennexttoken';

let database: Database;
let url: string;
let played: PlayedSites;
let world: ArchiveWorld;
const resources = new AsyncDisposableStack();
const commands = resources.use(openHostedCommands({ program: 'collect' }));
beforeAll(async () => {
  const created = await createTestDatabase();
  resources.defer(() => created.drop());
  url = created.url;
  database = openPool(url, 2);
  resources.defer(() => database.end());
  played = resources.use(await openPlayedSites());
  await createCollectorTables(database);
});
afterAll(() => resources.disposeAsync());
beforeEach(async () => {
  await database.query('truncate collecting.account');
  world = createArchiveWorld(() => new Date());
  world.tokens.add(TOKEN);
  played.sites.set('graph.facebook.com', (path, { headers }) => {
    const { pathname, searchParams } = new URL(path, 'https://graph.facebook.com');
    if (pathname.endsWith('/oauth/access_token')) {
      const isGood =
        searchParams.get('client_secret') === APP_SECRET && searchParams.get('fb_exchange_token') === TOKEN;
      if (!isGood)
        return { status: 400, body: JSON.stringify({ error: { message: `bad ${path}`, code: 1 } }) };
      return { body: JSON.stringify({ access_token: NEXT_TOKEN, expires_in: 5_000_000 }) };
    }
    return world.answer({ path, authorization: headers.authorization }) ?? undefined;
  });
});

type Ended = { readonly code: number; readonly out: string; readonly error: string };

const environmentOf = () => ({
  DATABASE_URL: url,
  DATA_DIR: '/nonexistent',
  MEMBER_VAULT_KEY: VAULT_KEY,
  COLLECT_VIA: played.origin,
  EGRESS_ALLOW_LOOPBACK: 'true',
});

const token = async (
  args: readonly string[],
  input = '',
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> => {
  const words = ['--json', 'token', ...args];
  const { code, stdout, stderr } = await commands.run(words, { ...environmentOf(), ...environment }, input);
  return { code, out: stdout, error: stderr };
};

const tokenAlone = (args: readonly string[], input: string): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...inheritedEnvironment(), ...environmentOf() };
    const command = ['services/collector/cli.ts', '--json', 'token', ...args];
    const child = execFile(process.execPath, command, { cwd: ROOT, env }, (_error, out, error) =>
      resolve({ code: child.exitCode ?? -1, out, error }),
    );
    child.stdin?.end(input);
  });

const stored = async (): Promise<string> => {
  const { rows } = await database.query<{ text: string }>(
    `select string_agg(text, ' ') as text from (
       select row_to_json(a)::text as text from collecting.account a
       union all select row_to_json(s)::text || encode(s.sealed, 'escape') from vault.secret s) all_rows`,
  );
  return rows[0]?.text ?? '';
};

describe('`collect token`', () => {
  test('stores a token that the platform accepts, encrypted, and shows it nowhere', async () => {
    const set = await tokenAlone(['set'], `${TOKEN}\n`);
    expect(set).toMatchObject({ code: 0, error: '' });
    expect(JSON.parse(set.out)).toMatchObject({ access: 'open', token_days_left: 59, warning: null });
    expect(world.calls).toHaveLength(1);
    const vault = await openSecretVault(database, VAULT_KEY);
    const account = await readAccount(database, new Date());
    expect(account && (await readToken(vault, account))).toBe(TOKEN);
    expect([set.out, await stored(), world.calls[0]?.path].join(' ')).not.toContain(TOKEN);
  });

  test('exchanges the stored token, and removes the old one from the account', async () => {
    world.tokens.add(NEXT_TOKEN);
    await token(['set'], TOKEN);
    const app = { ADS_ARCHIVE_APP: `1000001|${APP_SECRET}` };
    const wrong = await token(['exchange'], '', { ADS_ARCHIVE_APP: '1000001|another-secret-of-16' });
    expect(wrong.code).toBe(1);
    expect(wrong.error).toContain('did not exchange the token');
    expect(wrong.error).not.toMatch(/EAA\w|another-secret/);
    const exchanged = await token(['exchange'], '', app);
    expect(exchanged).toMatchObject({ code: 0, error: '' });
    expect(JSON.parse(exchanged.out)).toMatchObject({ token_days_left: 57 });
    const vault = await openSecretVault(database, VAULT_KEY);
    const account = await readAccount(database, new Date());
    expect(account && (await readToken(vault, account))).toBe(NEXT_TOKEN);
  });

  test('keeps each account with the secret of its app, and refuses a second account of one app', async () => {
    world.tokens.add(NEXT_TOKEN);
    const app = ['--account', 'second', '--app-id', '1000002'];
    const first = await token(['set', '--app-id', '1000001'], TOKEN);
    expect(first).toMatchObject({ code: 0, error: '' });
    const without = await token(['set', '--account', 'second'], NEXT_TOKEN);
    expect(without).toMatchObject({ code: 1, error: expect.stringContaining('Name it with --app-id') });
    const same = await token(['set', '--account', 'second', '--app-id', '1000001'], NEXT_TOKEN);
    expect(same).toMatchObject({ code: 1, error: expect.stringContaining('a second one adds nothing') });
    const set = await token(['set', ...app], `${NEXT_TOKEN}\n${APP_SECRET}\n`);
    expect(set).toMatchObject({ code: 0, error: '' });
    expect(JSON.parse(set.out)).toMatchObject({ account: 'second', access: 'open' });
    expect(world.calls.at(-1)?.path).toContain('appsecret_proof=');
    const vault = await openSecretVault(database, VAULT_KEY);
    const account = await readAccount(database, new Date(), 'second');
    expect(account && (await readAppSecret(vault, account, null))).toBe(APP_SECRET);
    expect(account && (await readToken(vault, account))).toBe(NEXT_TOKEN);
    expect(set.out + (await stored())).not.toMatch(new RegExp(`${NEXT_TOKEN}|${APP_SECRET}`));
  });

  test.each([
    ['no token', '', {}, 'holds no token'],
    ['three lines', `${TOKEN}\n${APP_SECRET}\n${TOKEN}`, {}, 'holds no token'],
    ['a second line that is no secret', `${TOKEN}\nno secret`, {}, 'no secret of an app'],
    ['a token that is refused', 'EAAunknowntokenunknowntoken', {}, 'did not accept the token'],
    ['no vault key', TOKEN, { MEMBER_VAULT_KEY: '' }, 'Set MEMBER_VAULT_KEY'],
  ])('with %s stores nothing and says what to do', async (_name, input, environment, reason) => {
    const ended = await token(['set'], input, environment);
    expect(ended.code).toBe(1);
    expect(ended.error).toContain(reason);
    expect(ended.error + ended.out).not.toMatch(/EAA\w/);
    expect(await readAccount(database, new Date())).toBeNull();
  });
});

describe('the stored account', () => {
  const now = new Date('2026-05-10T08:00:00Z');
  const days = (count: number): Date => new Date(now.getTime() + count * DAY_MS);

  test('warns from ten days before its token ends, after that, and when it is off', async () => {
    const vault = await openSecretVault(database, VAULT_KEY);
    await storeToken(database, vault, { token: TOKEN, expiresAt: days(30), now });
    const warning = async (at: Date): Promise<string | null> => {
      const account = await readAccount(database, at);
      return account === null ? null : accountWarning(account, at);
    };
    expect(await warning(days(20))).toBeNull();
    expect(await warning(days(20.5))).toContain('ends in 9 days');
    expect(await warning(days(31))).toContain('has ended');
    const account = await readAccount(database, now);
    await saveAccountState(
      database,
      account ?? { name: '', fingerprint: '' },
      { access: { kind: 'off', reason: 'code 190' }, percent: 3 },
      now,
    );
    expect(await warning(now)).toContain('off: code 190');
  });

  test('is open after a new token, and keeps it when the state of the old one is stored late', async () => {
    const vault = await openSecretVault(database, VAULT_KEY);
    await storeToken(database, vault, { token: TOKEN, expiresAt: null, now });
    const old = await readAccount(database, now);
    if (old === null) throw new Error('no account');
    const off = { access: { kind: 'off', reason: 'code 190' }, percent: 40 } as const;
    await saveAccountState(database, old, off, now);
    expect((await readAccount(database, now))?.state).toEqual(off);
    // A usage older than an hour says nothing any more.
    expect((await readAccount(database, days(1)))?.state.percent).toBeNull();
    await storeToken(database, vault, { token: NEXT_TOKEN, expiresAt: null, now });
    await saveAccountState(database, old, off, now);
    expect((await readAccount(database, now))?.state.access).toEqual({ kind: 'open' });
  });
});
