import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { sha256Of } from '#application/access/key-format.ts';
import { type BrowserSignIn, type Browsers, createBrowsers } from '#application/sign-in/browsers.ts';
import { type Codes, type SignInMail, createCodes, createSignInMail } from '#application/sign-in/codes.ts';
import { type SignInHistory, createSignInHistory } from '#application/sign-in/history.ts';
import { type Invitations, createInvitations } from '#application/sign-in/invitations.ts';
import {
  type Account,
  type MemberDirectory,
  type Membership,
  createMemberDirectory,
} from '#application/sign-in/member-directory.ts';
import type { SignInMethod } from '#contracts/events/workspace/sign-in.ts';
import { SIGN_IN_DAYS_MAX } from '#domain/workspace/sign-in.ts';
import type { Clock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { createBrowserSignInTables, deleteExpiredSignIns } from '#application/sign-in/tables.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { openAddressIndex } from '#application/vault/address-index.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import { type EmailSettings, openEmailChannel } from '#platform/channels/email.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { ChangingSecret } from '#platform/settings.ts';
import type { Connections } from '../sign-in/connections.ts';
import { headersOf, messagePage } from '../pages/layout.ts';
import { type AppRequests, createAppRequests } from './app-requests.ts';
import { type Cookies, createCookies } from './forms.ts';
import { type OwnKeys, createOwnKeys } from './own-keys.ts';
import { type Upstream, createUpstream } from './upstream.ts';
import { type Accounts, resourceOf } from '../sign-in/provider.ts';

export type MemberPages = {
  readonly baseUrl: string;
  readonly connectionDays: number;
  readonly requests: AppRequests;
  readonly connections: Connections;
  readonly keys: OwnKeys;
  readonly directory: MemberDirectory;
  readonly browsers: Browsers;
  readonly invitations: Invitations;
  readonly history: SignInHistory;
  /** `null` without codes: no vault, or `SIGN_IN=upstream`. */
  readonly codes: { readonly codes: Codes; readonly mail: SignInMail } | null;
  readonly upstream: Upstream | null;
  readonly cookies: Cookies;
  readonly clock: Clock;
  readonly log: Log;
};

/** A member who is signed in to this browser. */
export type SignedIn = {
  readonly browser: BrowserSignIn;
  readonly account: Account;
  readonly cookie: string;
};

const DAY_SECONDS = 86_400;
export const ACCOUNT = '/account';

/** `formTargets` and `hasFiles` as in `headersOf`. */
export const sendPage = (
  reply: FastifyReply,
  page: string,
  {
    status = 200,
    formTargets = [],
    hasFiles = false,
  }: { readonly status?: number; readonly formTargets?: readonly string[]; readonly hasFiles?: boolean } = {},
): FastifyReply => reply.code(status).headers(headersOf(formTargets, hasFiles)).send(page);

export const sendMessage = (
  reply: FastifyReply,
  status: number,
  title: string,
  ...paragraphs: readonly string[]
): FastifyReply => sendPage(reply, messagePage(title, ...paragraphs), { status });

/** The form came from elsewhere, or the browser keeps no cookies. */
export const sendFormRefused = (reply: FastifyReply): FastifyReply =>
  sendMessage(
    reply,
    403,
    'This page is out of date',
    'Go back, reload the page and try again. Cookies must be allowed for this site.',
  );

/** 303 redirects with GET, so that a reload does not post again. */
export const sendOn = (reply: FastifyReply, path: string): FastifyReply =>
  reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(path, 303);

const WANTED_SECONDS = 3_600;
/** Longer addresses are not kept: browsers and servers limit cookies. */
const WANTED_MAX_LENGTH = 1_200;
/** A path below the pages of a workspace, as browsers send it. */
const PAGE_OF_WORKSPACE = new RegExp(
  String.raw`^${ACCOUNT}/workspaces/(ws_\w+)/brands(/[\w-]*)?(\?[\w.~%&=+:-]*)?$`,
);

/** Sends a browser to the sign-in, which goes on to the page that it asked for. */
export const sendToSignIn = (
  { cookies }: MemberPages,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  if (request.url.length <= WANTED_MAX_LENGTH && PAGE_OF_WORKSPACE.test(request.url))
    cookies.set(reply, 'page', Buffer.from(request.url).toString('base64url'), WANTED_SECONDS);
  return sendOn(reply, ACCOUNT);
};

/** Sends a member to the page that the browser asked for before. `null` when it asked for none of their workspaces. */
export const sendToWanted = (
  { cookies }: MemberPages,
  request: FastifyRequest,
  reply: FastifyReply,
  { memberships }: Account,
): FastifyReply | null => {
  const kept = cookies.read(request, 'page');
  if (kept === null || request.method !== 'GET') return null;
  cookies.set(reply, 'page', '', 0);
  const wanted = Buffer.from(kept, 'base64url').toString();
  const [, of] = PAGE_OF_WORKSPACE.exec(wanted) ?? [];
  return memberships.some(({ workspaceId }) => workspaceId === of) ? sendOn(reply, wanted) : null;
};

/** Ends the sign-in of an erased member. */
export const findSignedIn = async (pages: MemberPages, request: FastifyRequest): Promise<SignedIn | null> => {
  const cookie = pages.cookies.read(request, 'signed-in');
  const browser = cookie === null ? null : await pages.browsers.find(cookie);
  if (cookie === null || !browser) return null;
  const account = await pages.directory.find(browser.accountId);
  if (account) return { browser, account, cookie };
  await pages.browsers.end(browser.accountId, browser.signInId);
  return null;
};

export const findMembership = async (
  pages: MemberPages,
  request: FastifyRequest,
  workspaceId: unknown,
): Promise<Membership | undefined> =>
  (await findSignedIn(pages, request))?.account.memberships.find((one) => one.workspaceId === workspaceId);

/** Sets a new cookie and ends an earlier sign-in of this browser. */
export const signInBrowser = async (
  pages: MemberPages,
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: string,
  method: SignInMethod,
): Promise<void> => {
  const earlier = await findSignedIn(pages, request);
  if (earlier) await signOutBrowser(pages, earlier);
  const token = await pages.browsers.open(accountId, method);
  pages.cookies.set(reply, 'signed-in', token, SIGN_IN_DAYS_MAX * DAY_SECONDS);
  pages.cookies.set(reply, 'browser', '', 0);
};

/** The event comes first, then the end in every process. */
export const signOutBrowser = async (
  { history, browsers }: MemberPages,
  { account, browser }: Pick<SignedIn, 'account' | 'browser'>,
): Promise<void> => {
  await history.closed(account.memberships, browser.signInId);
  await browsers.end(account.accountId, browser.signInId);
};

export const browserHashOf = (cookie: string): string => sha256Of(cookie);

export type SignInSettings = EmailSettings & {
  readonly SIGN_IN: 'codes' | 'upstream';
  readonly UPSTREAM_ISSUER?: string | undefined;
  readonly UPSTREAM_CLIENT_ID?: string | undefined;
  readonly UPSTREAM_CLIENT_SECRET?: string | undefined;
  readonly MEMBER_VAULT_KEY?: ChangingSecret | undefined;
};

export type SignInDependencies = {
  readonly baseUrl: string;
  readonly connectionDays: number;
  readonly pool: Database;
  readonly db: ReadDatabase;
  readonly memberVault: MemberVault | null;
  readonly workspaceCommands: WorkspaceCommands;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly log: Log;
};

export type MemberSignIn = AsyncDisposable & {
  readonly accounts: Accounts;
  /** Deletes expired rows. Returns how many. */
  tidy(): Promise<number>;
  pages(provider: Provider): MemberPages;
};

export const openMemberSignIn = async (
  dependencies: SignInDependencies,
  settings: SignInSettings,
): Promise<MemberSignIn> => {
  const { baseUrl, pool, clock, log, connections, connectionDays } = dependencies;
  const {
    UPSTREAM_ISSUER: issuer,
    UPSTREAM_CLIENT_ID: clientId,
    UPSTREAM_CLIENT_SECRET: clientSecret,
  } = settings;
  const { MEMBER_VAULT_KEY: vaultKeys } = settings;
  await createBrowserSignInTables(pool);
  const index = vaultKeys === undefined ? null : await openAddressIndex(pool, ...vaultKeys);
  if (settings.SIGN_IN === 'upstream' && issuer === undefined) {
    throw new Error('SIGN_IN=upstream needs UPSTREAM_ISSUER. Set it, or leave SIGN_IN out.');
  }
  if (issuer !== undefined && (clientId === undefined || clientSecret === undefined || index === null)) {
    throw new Error('UPSTREAM_ISSUER needs UPSTREAM_CLIENT_ID, UPSTREAM_CLIENT_SECRET and MEMBER_VAULT_KEY.');
  }
  const directory = createMemberDirectory(dependencies);
  const channel = openEmailChannel(settings, clock);
  const mail = createSignInMail(channel, directory, log);
  return {
    accounts: { find: async (accountId) => ((await directory.has(accountId)) ? { accountId } : null) },
    tidy: () => deleteExpiredSignIns(pool),
    pages: (provider) => ({
      baseUrl,
      connectionDays,
      requests: createAppRequests(provider, resourceOf(baseUrl)),
      connections,
      keys: createOwnKeys(dependencies),
      directory,
      browsers: createBrowsers(pool),
      invitations: createInvitations(pool),
      history: createSignInHistory(dependencies),
      codes: index && settings.SIGN_IN === 'codes' ? { codes: createCodes(pool, index), mail } : null,
      upstream:
        index && issuer !== undefined && clientId !== undefined && clientSecret !== undefined
          ? createUpstream({ pool, index, log }, { issuer, clientId, clientSecret, baseUrl })
          : null,
      cookies: createCookies(baseUrl),
      clock,
      log,
    }),
    [Symbol.asyncDispose]: async () => {
      await mail[Symbol.asyncDispose]();
      channel[Symbol.dispose]();
    },
  };
};
