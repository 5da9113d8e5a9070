import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { accountWarning, tokenDaysLeft } from '#application/collecting/library-account.ts';
import { openSecretVault, type SecretVault } from '#application/vault/secret-vault.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import type { Route } from '#platform/http-client/request-once.ts';
import { printRecord } from '#platform/command-line/output.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { environmentWithLocalStack, readSettings } from '#platform/settings.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { readAccount, readToken, storeToken } from '../ads-archive/account-store.ts';
import { createArchiveClient } from '../ads-archive/archive-client.ts';
import { exchangeToken } from '../ads-archive/exchange-token.ts';
import { TokenSettings } from '../settings.ts';
import { withDatabase } from './with-database.ts';

/** Page of the platform itself. A new token is tried with one call for it. */
const TRIED_PAGE = '20531316728';
/** Tokens have letters, digits and few signs. */
const TOKEN = /^[\w|.-]{20,2000}$/;
const USER_AGENT = `ad-intelligence/${packageJson.version}`;

type Access = {
  readonly database: Database;
  readonly vault: SecretVault;
  readonly route: Route;
  readonly settings: ReturnType<typeof readTokenSettings>;
};

const readTokenSettings = () => readSettings(TokenSettings, environmentWithLocalStack());

/** Opens Postgres, the vault and the way to the platform, runs one command and closes them. */
const withAccess = (run: (access: Access) => Promise<void>): Promise<void> =>
  withDatabase(async (database) => {
    const settings = readTokenSettings();
    const { MEMBER_VAULT_KEY, EGRESS_ALLOW_LOOPBACK, EGRESS_OWN_ADDRESSES, COLLECT_VIA } = settings;
    if (MEMBER_VAULT_KEY === undefined) {
      throw new Refusal(
        'invalid_input',
        'Tokens are stored encrypted only. Set MEMBER_VAULT_KEY to base64 of 32 bytes.',
      );
    }
    await using egress = openEgress({
      allowLoopback: EGRESS_ALLOW_LOOPBACK,
      ownAddresses: EGRESS_OWN_ADDRESSES,
    });
    const vault = await openSecretVault(database, MEMBER_VAULT_KEY, settings.MEMBER_VAULT_KEY_SECOND);
    await run({ database, vault, settings, route: { egress, via: COLLECT_VIA ?? null } });
  });

/** Makes one call with a token. Throws `Refusal('invalid_input')` when the platform does not accept it. */
const tryToken = async ({ route, settings }: Access, token: string): Promise<void> => {
  const client = createArchiveClient({
    ...route,
    origin: settings.ADS_ARCHIVE_URL,
    version: settings.ADS_ARCHIVE_VERSION,
    userAgent: USER_AGENT,
    token,
    appSecret: settings.ADS_ARCHIVE_APP_SECRET ?? null,
  });
  const request = { pass: 'active', pageIds: [TRIED_PAGE], countries: ['DE'], since: null } as const;
  const { answer } = await client.call({ ...request, limit: 1, after: null }, new AbortController().signal);
  // A limited account has accepted its token.
  if (answer.kind === 'page' || answer.kind === 'limited' || answer.kind === 'reduce') return;
  throw new Refusal(
    'invalid_input',
    `The library API did not accept the token: ${answer.detail}. Nothing was stored.`,
  );
};

const printAccount = async ({ database }: Access, command: Command): Promise<void> => {
  const now = new Date();
  const account = await readAccount(database, now);
  if (account === null)
    throw new Refusal('not_found', 'No token is stored. Pipe one into: collect token set');
  const { access, percent } = account.state;
  printRecord(command, {
    access: access.kind,
    shut_until: access.kind === 'shut' ? new Date(access.untilMs).toISOString() : null,
    usage_percent: percent,
    token_ends_at: account.expiresAt.toISOString(),
    token_days_left: tokenDaysLeft(account, now),
    warning: accountWarning(account, now),
  });
};

const endOf = (date: string | undefined): Date | null => {
  if (date === undefined) return null;
  const end = new Date(date);
  if (Number.isNaN(end.getTime()) || end <= new Date()) {
    throw new Refusal('invalid_input', `--expires ${date} is no day in the future. Write it as YYYY-MM-DD.`);
  }
  return end;
};

const setToken = async (access: Access, expires: string | undefined, command: Command): Promise<void> => {
  const expiresAt = endOf(expires);
  if (process.stdin.isTTY) console.error('Paste the token and end with Enter and Ctrl-D.');
  const token = (await text(process.stdin)).trim();
  if (!TOKEN.test(token)) {
    throw new Refusal('invalid_input', 'Standard input holds no token. Pipe the token alone, on one line.');
  }
  await tryToken(access, token);
  await storeToken(access.database, access.vault, { token, expiresAt, now: new Date() });
  await printAccount(access, command);
};

const exchangeStored = async (access: Access, command: Command): Promise<void> => {
  const { database, vault, route, settings } = access;
  const { ADS_ARCHIVE_APP_ID: appId, ADS_ARCHIVE_APP_SECRET: appSecret } = settings;
  if (appId === undefined || appSecret === undefined) {
    throw new Refusal(
      'invalid_input',
      'An exchange needs the app. Set ADS_ARCHIVE_APP_ID and ADS_ARCHIVE_APP_SECRET.',
    );
  }
  const account = await readAccount(database, new Date());
  const token = account === null ? null : await readToken(vault, account);
  if (token === null) throw new Refusal('not_found', 'No token is stored. Pipe one into: collect token set');
  const { ADS_ARCHIVE_URL: origin, ADS_ARCHIVE_VERSION: version } = settings;
  const options = { ...route, origin, version, userAgent: USER_AGENT, appId, appSecret };
  const exchanged = await exchangeToken(options, token, new AbortController().signal);
  await tryToken(access, exchanged.token);
  const now = new Date();
  const expiresAt = exchanged.seconds === null ? null : new Date(now.getTime() + exchanged.seconds * 1_000);
  await storeToken(database, vault, { token: exchanged.token, expiresAt, now });
  await printAccount(access, command);
};

/** `collect token set|exchange|status` */
export const registerTokenCommands = (program: Command): void => {
  const token = program.command('token').description('the token of the official library API');
  token
    .command('set')
    .description('try the token on standard input once, and store it encrypted')
    .option('--expires <date>', 'day on which the token ends; 60 days from now when absent')
    .action((options: { expires?: string }, command: Command) =>
      withAccess((access) => setToken(access, options.expires, command)),
    );
  token
    .command('exchange')
    .description('exchange the stored token for one that is valid longer')
    .action((_options: object, command: Command) => withAccess((access) => exchangeStored(access, command)));
  token
    .command('status')
    .description('show whether the account is open, its usage, and when the token ends')
    .action((_options: object, command: Command) => withAccess((access) => printAccount(access, command)));
};
