import { z } from 'zod';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { type Route, requestOnce } from '#platform/http-client/request-once.ts';
import { accountWarning, tokenDaysLeft } from '#application/collecting/library-account.ts';
import { type SecretVault, openSecretVault } from '#application/vault/secret-vault.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { printRecord } from '#platform/command-line.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { environmentWithLocalStack, readSettings } from '#platform/settings.ts';
import { createArchiveClient, withoutSecrets } from '../ads-archive/archive-client.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import {
  FIRST_ACCOUNT,
  readAccount,
  readAppSecret,
  readToken,
  requireOtherApp,
  storeToken,
} from '../ads-archive/account-store.ts';
import { ADS_ARCHIVE, TokenSettings } from '../settings.ts';
import { withDatabase } from './with-database.ts';

const ANSWER_MAX_BYTES = 100_000;
const Exchanged = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() });

export type ExchangeOptions = Route & {
  readonly origin: string;
  readonly version: string;
  readonly userAgent: string;
  readonly appId: string;
  readonly appSecret: string;
};

/** Exchanges a token for a longer-lived one. The platform takes the secret in the URL only; errors omit it. */
export const exchangeToken = async (
  options: ExchangeOptions,
  token: string,
  signal: AbortSignal,
): Promise<{ readonly token: string; readonly seconds: number | null }> => {
  const { origin, version, userAgent, appId, appSecret } = options;
  const parameters = new URLSearchParams({
    grant_type: 'fb_exchange_token',
    client_id: appId,
    client_secret: appSecret,
    fb_exchange_token: token,
  });
  const url = new URL(`/${version}/oauth/access_token?${parameters.toString()}`, origin);
  let answer = '';
  try {
    const { body } = await requestOnce(options, url, {
      headers: { 'user-agent': userAgent, accept: 'application/json' },
      maxBytes: ANSWER_MAX_BYTES,
      overflow: 'fail',
      signal,
    });
    answer = body.toString('utf8');
    const exchanged = Exchanged.safeParse(JSON.parse(answer));
    if (exchanged.success) {
      return { token: exchanged.data.access_token, seconds: exchanged.data.expires_in ?? null };
    }
  } catch (error) {
    if (answer === '') answer = (error as Error).message;
  }
  const shown = withoutSecrets(answer, [token, appSecret]);
  throw new Refusal(
    'invalid_input',
    `The platform did not exchange the token: ${shown}. The old one is kept.`,
  );
};

/** Page of the platform itself, for the test call of a new token. */
const TRIED_PAGE = '20531316728';
/** Tokens have letters, digits and few signs. */
const TOKEN = /^[\w|.-]{20,2000}$/;
const APP_SECRET = /^\w{16,200}$/;
const APP_ID = /^\d{5,20}$/;
const ACCOUNT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
const USER_AGENT = `ad-intelligence/${packageJson.version}`;

type Access = {
  readonly database: Database;
  readonly vault: SecretVault;
  readonly route: Route;
  readonly settings: ReturnType<typeof readTokenSettings>;
};

const readTokenSettings = () => readSettings(TokenSettings, environmentWithLocalStack());

/** Opens what the commands need, runs one and closes it. */
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
    const vault = await openSecretVault(database, ...MEMBER_VAULT_KEY);
    await run({ database, vault, settings, route: { egress, via: COLLECT_VIA ?? null } });
  });

/** Throws `Refusal('invalid_input')` when the platform rejects the token. */
const tryToken = async ({ route }: Access, token: string, appSecret: string | null): Promise<void> => {
  const client = createArchiveClient({
    ...route,
    ...ADS_ARCHIVE,
    userAgent: USER_AGENT,
    token,
    appSecret,
    reached: false,
  });
  const request = { pass: 'active', pageIds: [TRIED_PAGE], countries: ['DE'], since: null } as const;
  const { answer } = await client.call({ ...request, limit: 1, after: null }, new AbortController().signal);
  // A limited account accepted the token.
  if (answer.kind === 'page' || answer.kind === 'limited' || answer.kind === 'reduce') return;
  throw new Refusal(
    'invalid_input',
    `The library API did not accept the token: ${answer.detail}. Nothing was stored.`,
  );
};

const noToken = (name: string): Refusal =>
  new Refusal(
    'not_found',
    name === FIRST_ACCOUNT
      ? 'No token is stored. Pipe one into: collect token set'
      : `The account ${name} has no token. Pipe one into: collect token set --account ${name} --app-id ID`,
  );

const printAccount = async ({ database }: Access, name: string, command: Command): Promise<void> => {
  const now = new Date();
  const account = await readAccount(database, now, name);
  if (account === null) throw noToken(name);
  const { access, percent } = account.state;
  printRecord(command, {
    account: name,
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

type SetOptions = { readonly expires?: string; readonly account: string; readonly appId?: string };

const readInput = async (): Promise<{ readonly token: string; readonly appSecret: string | null }> => {
  if (process.stdin.isTTY) console.error('Paste the token and end with Enter and Ctrl-D.');
  const [token = '', appSecret = null, ...more] = (await text(process.stdin)).trim().split(/\s*\n\s*/);
  if (!TOKEN.test(token) || more.length > 0) {
    throw new Refusal(
      'invalid_input',
      'Standard input holds no token. Pipe the token alone on one line, and the secret of its app on a second one if it has one.',
    );
  }
  if (appSecret !== null && !APP_SECRET.test(appSecret)) {
    throw new Refusal('invalid_input', 'The second line of standard input is no secret of an app.');
  }
  return { token, appSecret };
};

const setToken = async (access: Access, options: SetOptions, command: Command): Promise<void> => {
  const { database, vault, settings } = access;
  const { account: name } = options;
  const expiresAt = endOf(options.expires);
  if (!ACCOUNT_NAME.test(name)) {
    throw new Refusal('invalid_input', '--account takes lower-case letters, digits and hyphens, up to 40.');
  }
  const stored = await readAccount(database, new Date(), name);
  const appId =
    options.appId ?? (name === FIRST_ACCOUNT ? settings.ADS_ARCHIVE_APP?.id : stored?.appId) ?? null;
  if (appId === null && name !== FIRST_ACCOUNT) {
    throw new Refusal(
      'invalid_input',
      'A further account needs an app of its own, because tokens of one app share its limits. Name it with --app-id.',
    );
  }
  if (appId !== null && !APP_ID.test(appId)) {
    throw new Refusal('invalid_input', '--app-id takes the digits of an app id.');
  }
  if (appId !== null) await requireOtherApp(database, name, appId);
  const { token, appSecret } = await readInput();
  await tryToken(access, token, appSecret ?? (await secretOf(access, name)));
  await storeToken(database, vault, { token, expiresAt, now: new Date(), name, appId, appSecret });
  await printAccount(access, name, command);
};

/** `null` when calls carry no proof of the app. */
const secretOf = async ({ database, vault, settings }: Access, name: string): Promise<string | null> => {
  const stored = await readAccount(database, new Date(), name);
  const account = stored ?? { name, secretFingerprint: null };
  return readAppSecret(vault, account, settings.ADS_ARCHIVE_APP?.secret ?? null);
};

const exchangeStored = async (access: Access, name: string, command: Command): Promise<void> => {
  const { database, vault, route, settings } = access;
  const account = await readAccount(database, new Date(), name);
  const token = account === null ? null : await readToken(vault, account);
  const appId = account?.appId ?? (name === FIRST_ACCOUNT ? settings.ADS_ARCHIVE_APP?.id : null) ?? null;
  const appSecret = await secretOf(access, name);
  if (name === FIRST_ACCOUNT && (appId === null || appSecret === null)) {
    throw new Refusal('invalid_input', 'An exchange needs the app. Set ADS_ARCHIVE_APP.');
  }
  if (token === null) throw noToken(name);
  if (appId === null || appSecret === null) {
    throw new Refusal(
      'invalid_input',
      `An exchange needs the secret of the app of ${name}. Pipe token and secret into: collect token set --account ${name}`,
    );
  }
  const options = { ...route, ...ADS_ARCHIVE, userAgent: USER_AGENT, appId, appSecret };
  const exchanged = await exchangeToken(options, token, new AbortController().signal);
  await tryToken(access, exchanged.token, appSecret);
  const now = new Date();
  const expiresAt = exchanged.seconds === null ? null : new Date(now.getTime() + exchanged.seconds * 1_000);
  await storeToken(database, vault, { token: exchanged.token, expiresAt, now, name });
  await printAccount(access, name, command);
};

export const registerTokenCommands = (program: Command): void => {
  const token = program.command('token').description('the tokens of the official library API');
  const ofAccount = ['--account <name>', 'account; each further one is another app', FIRST_ACCOUNT] as const;
  token
    .command('set')
    .description(
      'try the token on standard input once, and store it encrypted; a second line is the secret of its app',
    )
    .option('--expires <date>', 'day on which the token ends; 60 days from now when absent')
    .option(...ofAccount)
    .option(
      '--app-id <id>',
      'app of the account; the one of ADS_ARCHIVE_APP for the first account when absent',
    )
    .action((options: SetOptions, command: Command) =>
      withAccess((access) => setToken(access, options, command)),
    );
  token
    .command('exchange')
    .description('exchange the stored token for one that is valid longer')
    .option(...ofAccount)
    .action(({ account }: { account: string }, command: Command) =>
      withAccess((access) => exchangeStored(access, account, command)),
    );
  token
    .command('status')
    .description('show whether the account is open, its usage, and when the token ends')
    .option(...ofAccount)
    .action(({ account }: { account: string }, command: Command) =>
      withAccess((access) => printAccount(access, account, command)),
    );
};
