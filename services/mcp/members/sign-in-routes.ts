import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { codePage, signInPage } from '../pages/sign-in-pages.ts';
import { formTokenOf, readForm } from './forms.ts';
import {
  browserHashOf,
  type MemberPages,
  sendFormRefused,
  sendMessage,
  sendOn,
  sendPage,
  signInBrowser,
} from './pages-context.ts';

const BROWSER_COOKIE_SECONDS = 3_600;
const COOKIE_BYTES = 32;
const Address = z.string().trim().max(254).pipe(z.email());

const LIMITED = 'Too many codes were requested for this address or from this network. Try again in an hour.';
const INVALID_ADDRESS = 'This is not an e-mail address. Check it and try again.';
const NO_CODE = 'This code has expired, was used, or was withdrawn. Send another code.';

export const ensureBrowserCookie = (
  { cookies }: MemberPages,
  request: FastifyRequest,
  reply: FastifyReply,
): string => {
  const value = cookies.read(request, 'browser') ?? randomBytes(COOKIE_BYTES).toString('base64url');
  cookies.set(reply, 'browser', value, BROWSER_COOKIE_SECONDS);
  return value;
};

type Shown = {
  readonly appName?: string | null;
  readonly fault?: string | null;
  readonly status?: number;
};

export const sendSignInPage = (
  pages: MemberPages,
  request: FastifyRequest,
  reply: FastifyReply,
  base: string,
  { appName = null, fault = null, status = 200 }: Shown = {},
): FastifyReply => {
  const formToken = formTokenOf(ensureBrowserCookie(pages, request, reply));
  const ways = { hasCodes: pages.codes !== null, upstreamName: pages.upstream?.name ?? null };
  return sendPage(reply, signInPage({ base, formToken, fault }, ways, appName), { status });
};

const sendCodePage = (
  pages: MemberPages,
  request: FastifyRequest,
  reply: FastifyReply,
  base: string,
  fault: string | null,
): FastifyReply => {
  const formToken = formTokenOf(ensureBrowserCookie(pages, request, reply));
  return sendPage(reply, codePage({ base, formToken, fault }), { status: fault === null ? 200 : 400 });
};

/** Registers address, code and upstream below a page. `baseOf` returns the path of that page. */
export const registerSignInSteps = (
  app: FastifyInstance,
  pages: MemberPages,
  prefix: string,
  baseOf: (request: FastifyRequest) => string,
): void => {
  const { baseUrl, cookies, codes: ways, directory, history, log, upstream } = pages;

  if (ways) {
    const { codes, mail } = ways;
    app.post(`${prefix}/address`, async (request, reply) => {
      const cookie = cookies.read(request, 'browser');
      const form = readForm(request, baseUrl, cookie);
      if (!form || cookie === null) return sendFormRefused(reply);
      const address = Address.safeParse(form.get('address'));
      const base = baseOf(request);
      const again = (fault: string, status: number) =>
        sendSignInPage(pages, request, reply, base, { fault, status });
      if (!address.success) return again(INVALID_ADDRESS, 400);
      const browserHash = browserHashOf(cookie);
      const sent = await codes.issue({ browserHash, address: address.data, ip: request.ip });
      if (sent.outcome === 'limited') return again(LIMITED, 429);
      mail.send(sent);
      return sendOn(reply, `${base}/code`);
    });

    app.get(`${prefix}/code`, (request, reply) => sendCodePage(pages, request, reply, baseOf(request), null));

    /** Runs after the reply, so that its duration does not reveal whether the address has a member. */
    const recordBlock = async (accountId: string, attemptId: string): Promise<void> => {
      try {
        const account = await directory.find(accountId);
        if (account) await history.blocked(account.memberships, attemptId);
      } catch (error) {
        log.error({ err: error, attempt_id: attemptId }, 'blocked sign-in not recorded');
      }
    };

    app.post(`${prefix}/code`, async (request, reply) => {
      const cookie = cookies.read(request, 'browser');
      const form = readForm(request, baseUrl, cookie);
      if (!form || cookie === null) return sendFormRefused(reply);
      const base = baseOf(request);
      const again = (fault: string) => sendCodePage(pages, request, reply, base, fault);
      const checked = await codes.check(browserHashOf(cookie), (form.get('code') ?? '').slice(0, 40));
      switch (checked.outcome) {
        case 'none':
          return again(NO_CODE);
        case 'wrong':
          return again(`This is not the code. Tries left: ${checked.triesLeft}.`);
        case 'blocked':
          void recordBlock(checked.accountId, checked.attemptId);
          return again('This is not the code, and it was the last try. Send another code.');
        case 'right': {
          if (!(await directory.find(checked.accountId))) return again(NO_CODE);
          await signInBrowser(pages, request, reply, checked.accountId, 'code');
          return sendOn(reply, base);
        }
      }
    });
  }

  if (upstream) {
    app.get(`${prefix}/upstream`, async (request, reply) => {
      const cookie = ensureBrowserCookie(pages, request, reply);
      return reply.redirect(await upstream.start(browserHashOf(cookie), baseOf(request)), 303);
    });
  }
};

export const registerUpstreamReturn = (app: FastifyInstance, pages: MemberPages): void => {
  const { upstream, cookies, directory, baseUrl } = pages;
  if (!upstream) return;
  app.get('/signin/upstream/callback', async (request, reply) => {
    const cookie = cookies.read(request, 'browser');
    const url = new URL(request.url, baseUrl);
    const returned = cookie === null ? null : await upstream.finish(browserHashOf(cookie), url);
    const account = returned && returned.accountId !== null ? await directory.find(returned.accountId) : null;
    if (!returned || !account) {
      return sendMessage(
        reply,
        403,
        'You are not signed in',
        `${upstream.name} did not confirm the address of a member. Ask an administrator of your workspace, then start again from your app.`,
      );
    }
    await signInBrowser(pages, request, reply, account.accountId, 'upstream');
    return sendOn(reply, returned.returnTo);
  });
};
