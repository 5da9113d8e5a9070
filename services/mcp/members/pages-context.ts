import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256Of } from '#application/access/key-format.ts';
import type { Browsers, BrowserSignIn } from '#application/sign-in/browsers.ts';
import type { Codes } from '#application/sign-in/codes.ts';
import type { SignInHistory } from '#application/sign-in/history.ts';
import type { Invitations } from '#application/sign-in/invitations.ts';
import type { Account, MemberDirectory, Membership } from '#application/sign-in/member-directory.ts';
import type { SignInMail } from '#application/sign-in/sign-in-mail.ts';
import type { SignInMethod } from '#contracts/events/workspace/sign-in.ts';
import { SIGN_IN_DAYS_MAX } from '#domain/workspace/sign-in.ts';
import type { Clock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Connections } from '../sign-in/connections.ts';
import { headersOf, messagePage } from '../pages/layout.ts';
import type { AppRequests } from './app-requests.ts';
import type { Cookies } from './forms.ts';
import type { OwnKeys } from './own-keys.ts';
import type { Upstream } from './upstream.ts';

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

/** `formTargets`: other origins that forms of the page may lead to. */
export const sendPage = (
  reply: FastifyReply,
  page: string,
  {
    status = 200,
    formTargets = [],
  }: { readonly status?: number; readonly formTargets?: readonly string[] } = {},
): FastifyReply => reply.code(status).headers(headersOf(formTargets)).send(page);

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
