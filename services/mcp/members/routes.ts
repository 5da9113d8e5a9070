import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { ERRORS, Refusal } from '#contracts/errors.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { overloadOf } from '#operations/endpoint/overload.ts';
import { parseUtf8Form } from '#platform/http/utf8.ts';
import {
  type ConsentPage,
  type ShownConnections,
  type ShownWorkspace,
  accountPage,
  codePage,
  consentPage,
  endAllPage,
  grantedScopes,
  invitationPage,
  offeredScopes,
  olderConnectionsPage,
  permissionsOf,
  signInPage,
  workspacePage,
} from '../pages/pages.ts';
import {
  type ConnectionPosition,
  type ConnectionsOf,
  ENDED_BY_MEMBER_MAX,
  PAGE_SIZE,
} from '../sign-in/connections.ts';
import type { McpDependencies } from '../calls.ts';
import { registerBrandPages } from './brand-routes.ts';
import { formTokenOf, readForm } from './forms.ts';
import {
  ACCOUNT,
  type MemberPages,
  type SignedIn,
  browserHashOf,
  findMembership,
  findSignedIn,
  sendFormRefused,
  sendMessage,
  sendOn,
  sendPage,
  sendToWanted,
  signInBrowser,
  signOutBrowser,
} from './pages-context.ts';
import { dayOf } from '../pages/layout.ts';
import type { AppRequest } from './app-requests.ts';
import { UpstreamUnavailable } from './upstream.ts';

const APPS = `${ACCOUNT}/apps`;
const END_ALL = `${ACCOUNT}/end-all`;
/** Neither ISO times nor ids of connections contain it. */
const SEPARATOR = '~';
const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Postgres rejects other texts, such as one with a zero byte, as a fault. */
const CONNECTION_ID = /^[\w-]{1,200}$/;

const writePosition = ({ allowed_at, connection_id }: ConnectionPosition): string =>
  `${allowed_at}${SEPARATOR}${connection_id}`;

/** Returns `null`, the first page, for an invalid position. */
const readPosition = (text: unknown): ConnectionPosition | null => {
  if (typeof text !== 'string') return null;
  const [allowed_at = '', connection_id = '', ...more] = text.split(SEPARATOR);
  const isPosition = ISO_TIME.test(allowed_at) && CONNECTION_ID.test(connection_id) && more.length === 0;
  return isPosition ? { allowed_at, connection_id } : null;
};

const pathOf = (path: string, fields: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(fields).toString()}`;

/** Admins and owners see and end the apps of all members. */
const isAdmin = ({ role }: Membership): boolean => role === 'admin' || role === 'owner';

const ownOf = ({ workspaceId, memberId }: Membership): ConnectionsOf => ({ workspaceId, memberId });
const visibleOf = (membership: Membership): ConnectionsOf =>
  isAdmin(membership) ? { workspaceId: membership.workspaceId } : ownOf(membership);

export type ListConnections = (
  membership: Membership,
  after?: ConnectionPosition | null,
) => Promise<ShownConnections>;

export const createConnectionList =
  ({ connections, directory }: MemberPages): ListConnections =>
  async (membership, after = null) => {
    const { workspaceId, memberId } = membership;
    const rows = await connections.list(visibleOf(membership), after);
    const others = new Set(rows.map(({ member_id }) => member_id));
    others.delete(memberId);
    const names = new Map(
      await Promise.all([...others].map(async (id) => [id, (await directory.find(id))?.name ?? id] as const)),
    );
    const last = rows.length === PAGE_SIZE ? rows.at(-1) : undefined;
    return {
      after: after === null ? null : writePosition(after),
      olderPath: last ? pathOf(APPS, { workspace: workspaceId, after: writePosition(last) }) : null,
      endAllPath: pathOf(END_ALL, { workspace: workspaceId }),
      rows: rows.map((row) => ({
        connectionId: row.connection_id,
        app: row.app,
        scopes: row.scopes,
        allowedAt: row.allowed_at,
        lastUsedAt: row.last_used_at,
        isConnected: row.connected,
        owner: names.get(row.member_id) ?? null,
      })),
    };
  };

export const registerConnectionPages = (
  app: FastifyInstance,
  pages: MemberPages,
  listConnections: ListConnections,
): void => {
  const { baseUrl, connections, cookies } = pages;

  app.get(APPS, async (request, reply) => {
    const query = request.query as { readonly workspace?: unknown; readonly after?: unknown };
    const signedIn = await findSignedIn(pages, request);
    const membership = await findMembership(pages, request, query.workspace);
    const after = readPosition(query.after);
    if (!signedIn || !membership || !after) return sendOn(reply, ACCOUNT);
    const page = olderConnectionsPage({
      membership,
      formToken: formTokenOf(signedIn.cookie),
      connections: await listConnections(membership, after),
      accountPath: ACCOUNT,
    });
    return sendPage(reply, page);
  });

  app.post(`${ACCOUNT}/end`, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const membership = await findMembership(pages, request, form.get('workspace'));
    if (!membership) return sendOn(reply, ACCOUNT);
    const connectionId = form.get('connection') ?? '';
    const row = CONNECTION_ID.test(connectionId)
      ? await connections.find(visibleOf(membership), connectionId)
      : null;
    // A connection that ended meanwhile is not found, and the page says so.
    if (row) await connections.endByMember(row, membership.memberId);
    const after = readPosition(form.get('after'));
    const { workspaceId } = membership;
    return sendOn(
      reply,
      after === null ? ACCOUNT : pathOf(APPS, { workspace: workspaceId, after: writePosition(after) }),
    );
  });

  app.get(END_ALL, async (request, reply) => {
    const { workspace } = request.query as { readonly workspace?: unknown };
    const signedIn = await findSignedIn(pages, request);
    const membership = await findMembership(pages, request, workspace);
    if (!signedIn || !membership) return sendOn(reply, ACCOUNT);
    const page = endAllPage({
      membership,
      formToken: formTokenOf(signedIn.cookie),
      isAdmin: isAdmin(membership),
      endedMax: ENDED_BY_MEMBER_MAX,
      accountPath: ACCOUNT,
    });
    return sendPage(reply, page);
  });

  app.post(END_ALL, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const membership = await findMembership(pages, request, form.get('workspace'));
    if (membership) {
      const of = form.get('of') === 'all' ? visibleOf(membership) : ownOf(membership);
      await connections.endAll(of, membership.memberId);
    }
    return sendOn(reply, ACCOUNT);
  });
};

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

export const registerAccountPages = (app: FastifyInstance, pages: MemberPages): void => {
  const { baseUrl, keys, browsers, history, cookies } = pages;
  const listConnections = createConnectionList(pages);

  const show = async (membership: Membership): Promise<ShownWorkspace> => {
    const [connections, ownKeys] = await Promise.all([listConnections(membership), keys.list(membership)]);
    return { membership, connections, keys: ownKeys };
  };

  app.get(ACCOUNT, async (request, reply) => {
    const signedIn = await findSignedIn(pages, request);
    if (!signedIn) return sendSignInPage(pages, request, reply, ACCOUNT);
    const wanted = sendToWanted(pages, request, reply, signedIn.account);
    if (wanted) return wanted;
    const { account, browser, cookie } = signedIn;
    await Promise.all(account.memberships.map((membership) => history.opened(membership, browser)));
    const page = accountPage({
      account,
      formToken: formTokenOf(cookie),
      workspaces: await Promise.all(account.memberships.map(show)),
      browsers: await browsers.list(account.accountId),
      currentSignInId: browser.signInId,
    });
    return sendPage(reply, page);
  });

  registerSignInSteps(app, pages, ACCOUNT, () => ACCOUNT);

  registerConnectionPages(app, pages, listConnections);

  app.post(`${ACCOUNT}/revoke`, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const membership = await findMembership(pages, request, form.get('workspace'));
    if (membership) await keys.revoke(membership, form.get('key') ?? '');
    return sendOn(reply, ACCOUNT);
  });

  app.post(`${ACCOUNT}/sign-out`, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const signedIn = await findSignedIn(pages, request);
    if (!signedIn) return sendOn(reply, ACCOUNT);
    const { account, browser: current } = signedIn;
    const browser = (await browsers.list(account.accountId)).find(
      ({ signInId }) => signInId === form.get('sign_in'),
    );
    if (browser) await signOutBrowser(pages, { account, browser });
    if (browser?.signInId === current.signInId) cookies.set(reply, 'signed-in', '', 0);
    return sendOn(reply, ACCOUNT);
  });
};

const sendUsedUp = (reply: FastifyReply): FastifyReply =>
  sendMessage(
    reply,
    410,
    'This invitation does not work',
    'It was used, has expired, or is not complete. A link works once, within a day.',
    'Ask the operator of this service for another one.',
  );

const tokenOf = (request: FastifyRequest): string => (request.params as { readonly token: string }).token;

export const registerInvitationPages = (app: FastifyInstance, pages: MemberPages): void => {
  const { baseUrl, invitations, directory, cookies } = pages;
  const PATH = '/signin/invitation/:token';

  app.get(PATH, async (request, reply) => {
    const cookie = ensureBrowserCookie(pages, request, reply);
    const invited = await invitations.find(tokenOf(request), browserHashOf(cookie));
    const account = invited && (await directory.find(invited.memberId));
    const workspace = account?.memberships[0]?.workspaceName;
    if (workspace === undefined) return sendUsedUp(reply);
    return sendPage(reply, invitationPage(request.url, formTokenOf(cookie), workspace));
  });

  app.post(PATH, async (request, reply) => {
    const cookie = cookies.read(request, 'browser');
    if (!readForm(request, baseUrl, cookie) || cookie === null) return sendFormRefused(reply);
    const invited = await invitations.use(tokenOf(request), browserHashOf(cookie));
    if (!invited) return sendUsedUp(reply);
    await signInBrowser(pages, request, reply, invited.memberId, 'invitation');
    return sendOn(reply, ACCOUNT);
  });
};

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

const FORM_MAX_BYTES = 16 * 1024;
/** Retry delay while the upstream provider is unavailable. */
const UPSTREAM_RETRY_SECONDS = 30;
const FORM_TYPE = 'application/x-www-form-urlencoded';

export const registerMemberPages = async (
  app: FastifyInstance,
  pages: MemberPages,
  dependencies: McpDependencies,
): Promise<void> => {
  const { host } = new URL(pages.baseUrl);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer', bodyLimit: FORM_MAX_BYTES }, parseUtf8Form);
    // Against DNS rebinding: other host names get no page.
    scope.addHook('onRequest', async (request, reply) => {
      if (request.headers.host !== host) {
        await sendMessage(reply, 403, 'Wrong address', `This service is at ${pages.baseUrl}.`);
      }
    });
    scope.setErrorHandler(async (error, request, reply) => {
      if (error instanceof Refusal && error.code === 'limit_reached') {
        return sendMessage(reply, ERRORS[error.code].status, 'A limit is reached', error.message);
      }
      if (error instanceof UpstreamUnavailable) {
        pages.log.warn({ err: error, request_id: request.id }, 'upstream sign-in unavailable');
        void reply.header('retry-after', String(UPSTREAM_RETRY_SECONDS));
        return sendMessage(
          reply,
          ERRORS.overloaded.status,
          'You cannot sign in now',
          `${error.message} Start the sign-in again in a minute.`,
        );
      }
      const refusal = overloadOf(error);
      if (refusal !== null) {
        pages.log.warn({ err: error, request_id: request.id }, 'page not done in time');
        void reply.header('retry-after', String(refusal.retryAfterSeconds));
        return sendMessage(
          reply,
          ERRORS[refusal.code].status,
          'This takes too long now',
          'Reload the page in a few seconds.',
        );
      }
      const { statusCode = 500 } = error as { readonly statusCode?: number };
      if (statusCode < 500) {
        pages.log.info({ err: error, request_id: request.id }, 'page refused');
        return sendMessage(
          reply,
          statusCode,
          'This cannot be read',
          'Go back, reload the page and try again.',
        );
      }
      pages.log.error({ err: error, request_id: request.id }, 'page failed');
      return sendMessage(
        reply,
        500,
        'Something went wrong here',
        'Reload the page. If it happens again, tell the operator of this service.',
        `Request: ${request.id}`,
      );
    });
    registerRequestPages(scope, pages);
    registerUpstreamReturn(scope, pages);
    registerInvitationPages(scope, pages);
    registerAccountPages(scope, pages);
    await registerBrandPages(scope, pages, dependencies);
  });
};
