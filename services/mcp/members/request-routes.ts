import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#contracts/errors.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { dayOf } from '../pages/layout.ts';
import { type ConsentPage, consentPage, workspacePage } from '../pages/consent-page.ts';
import { grantedScopes, offeredScopes, permissionsOf } from '../pages/permissions.ts';
import type { AppRequest } from './app-requests.ts';
import { formTokenOf, readForm } from './forms.ts';
import {
  findSignedIn,
  type MemberPages,
  sendFormRefused,
  sendMessage,
  sendOn,
  sendPage,
  type SignedIn,
  signOutBrowser,
} from './pages-context.ts';
import { registerSignInSteps, sendSignInPage } from './sign-in-routes.ts';

const uidOf = (request: FastifyRequest): string => (request.params as { readonly uid: string }).uid;
const baseOf = (request: FastifyRequest): string => `/signin/${encodeURIComponent(uidOf(request))}`;

const sendGone = (reply: FastifyReply): FastifyReply =>
  sendMessage(
    reply,
    400,
    'This request has ended',
    'It was answered, has expired after 15 minutes, or began in another browser.',
    'Start again from your app. What you allowed before is listed in your account.',
  );

export const registerRequestPages = (app: FastifyInstance, pages: MemberPages): void => {
  const { baseUrl, requests, connections, history, cookies, clock, connectionDays, log } = pages;

  const find = async (request: FastifyRequest, reply: FastifyReply): Promise<AppRequest | null> => {
    const found = await requests.find(request.raw, reply.raw);
    return found?.uid === uidOf(request) ? found : null;
  };
  const findRecent = async (
    request: FastifyRequest,
    { signedInSince }: AppRequest,
  ): Promise<SignedIn | null> => {
    const signedIn = await findSignedIn(pages, request);
    const isRecent =
      signedInSince === null || (signedIn?.browser.signedInAt.getTime() ?? 0) >= signedInSince * 1_000;
    return isRecent ? signedIn : null;
  };
  const sendConsent = (
    reply: FastifyReply,
    found: AppRequest,
    { account, cookie }: SignedIn,
    workspaceId: string | null,
    fault: string | null = null,
  ): FastifyReply => {
    const page: ConsentPage = {
      base: `/signin/${found.uid}`,
      formToken: formTokenOf(cookie),
      account,
      app: found.app,
    };
    const options = { status: fault === null ? 200 : 400, formTargets: [found.returnsTo] };
    const [only] = account.memberships;
    const membership =
      account.memberships.length === 1
        ? only
        : account.memberships.find((one) => one.workspaceId === workspaceId);
    if (!membership) return sendPage(reply, workspacePage(page, fault), options);
    const permissions = permissionsOf(offeredScopes(found.scopes, membership.role));
    const none =
      permissions.length === 0
        ? 'Your role in this workspace allows nothing of what the app asks for.'
        : null;
    const expiresAt = dayOf(new Date(clock.now().getTime() + connectionDays * DAY_MS));
    const accountUrl = `${baseUrl}/account`;
    return sendPage(
      reply,
      consentPage(page, { membership, permissions, expiresAt, accountUrl, fault: fault ?? none }),
      options,
    );
  };

  app.get('/signin/:uid', async (request, reply) => {
    const found = await find(request, reply);
    if (!found) return sendGone(reply);
    const signedIn = await findRecent(request, found);
    if (!signedIn) {
      return sendSignInPage(pages, request, reply, baseOf(request), { appName: found.app.name });
    }
    const { accountId } = signedIn.account;
    if (!found.isConsent || found.accountId !== accountId) {
      return sendOn(reply, await requests.signIn(request.raw, reply.raw, accountId));
    }
    const { workspace } = request.query as { readonly workspace?: unknown };
    return sendConsent(reply, found, signedIn, typeof workspace === 'string' ? workspace : null);
  });

  registerSignInSteps(app, pages, '/signin/:uid', baseOf);

  app.post('/signin/:uid/switch', async (request, reply) => {
    const cookie = cookies.read(request, 'signed-in');
    if (!readForm(request, baseUrl, cookie)) return sendFormRefused(reply);
    const signedIn = await findSignedIn(pages, request);
    if (signedIn) await signOutBrowser(pages, signedIn);
    cookies.set(reply, 'signed-in', '', 0);
    return sendOn(reply, baseOf(request));
  });

  const allow = async (
    request: FastifyRequest,
    reply: FastifyReply,
    found: AppRequest,
    signedIn: SignedIn,
    { workspaceId, memberId, role }: Membership,
    ticked: readonly string[],
  ): Promise<FastifyReply> => {
    const scopes = grantedScopes(offeredScopes(found.scopes, role), ticked);
    if (scopes.length === 0) {
      const fault = 'Tick at least one permission, or deny.';
      return sendConsent(reply, found, signedIn, workspaceId, fault);
    }
    const { connectionId, app: client } = found;
    // The event first: without it, no token of the grant is accepted.
    await connections.allow({ connectionId, workspaceId, memberId, app: client, scopes, role });
    return sendOn(reply, await requests.allow(request.raw, reply.raw, scopes));
  };

  app.post('/signin/:uid/consent', async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const found = await find(request, reply);
    if (!found) return sendGone(reply);
    const signedIn = await findRecent(request, found);
    if (!signedIn || !found.isConsent || found.accountId !== signedIn.account.accountId) {
      return sendOn(reply, baseOf(request));
    }
    const { account, browser } = signedIn;
    const membership = account.memberships.find(({ workspaceId }) => workspaceId === form.get('workspace'));
    if (!membership) return sendOn(reply, baseOf(request));
    await history.opened(membership, browser);
    try {
      if (form.get('answer') === 'allow') {
        return await allow(request, reply, found, signedIn, membership, form.getAll('permission'));
      }
      const { workspaceId, memberId } = membership;
      await connections.deny({ connectionId: found.connectionId, workspaceId, memberId, app: found.app });
      return sendOn(reply, await requests.deny(request.raw, reply.raw));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      log.info({ connection_id: found.connectionId, reason: error.message }, 'consent refused');
      const title =
        error.code === 'limit_reached' ? 'A limit is reached' : 'This request was answered already';
      return sendMessage(reply, 409, title, error.message);
    }
  });
};
