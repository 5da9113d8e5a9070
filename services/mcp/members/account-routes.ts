import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { LISTED_MAX, type ListedConnection } from '../sign-in/connections.ts';
import { accountPage, type ShownWorkspace } from '../pages/account-page.ts';
import { invitationPage } from '../pages/sign-in-pages.ts';
import { type Form, formTokenOf, readForm } from './forms.ts';
import {
  browserHashOf,
  findSignedIn,
  type MemberPages,
  sendFormRefused,
  sendMessage,
  sendOn,
  sendPage,
  signInBrowser,
  signOutBrowser,
} from './pages-context.ts';
import { ensureBrowserCookie, registerSignInSteps, sendSignInPage } from './sign-in-routes.ts';

const ACCOUNT = '/account';

/** Admins and owners see and end the apps of all members of their workspace. */
const isAdmin = ({ role }: Membership): boolean => role === 'admin' || role === 'owner';

/** Registers the page of a signed-in member. */
export const registerAccountPages = (app: FastifyInstance, pages: MemberPages): void => {
  const { baseUrl, connections, keys, directory, browsers, history, cookies } = pages;

  const listVisible = (membership: Membership): Promise<readonly ListedConnection[]> =>
    connections.list(membership.workspaceId, isAdmin(membership) ? undefined : membership.memberId);

  const show = async (membership: Membership): Promise<ShownWorkspace> => {
    const [rows, ownKeys] = await Promise.all([listVisible(membership), keys.list(membership)]);
    const others = new Set(rows.map(({ member_id }) => member_id));
    others.delete(membership.memberId);
    const names = new Map(
      await Promise.all([...others].map(async (id) => [id, (await directory.find(id))?.name ?? id] as const)),
    );
    return {
      membership,
      keys: ownKeys,
      isCut: rows.length === LISTED_MAX,
      connections: rows.map((row) => ({
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

  app.get(ACCOUNT, async (request, reply) => {
    const signedIn = await findSignedIn(pages, request);
    if (!signedIn) return sendSignInPage(pages, request, reply, ACCOUNT);
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

  /** Finds the membership of the signed-in person that a form names. */
  const membershipOf = async (request: FastifyRequest, form: Form): Promise<Membership | undefined> => {
    const signedIn = await findSignedIn(pages, request);
    return signedIn?.account.memberships.find((one) => one.workspaceId === form.get('workspace'));
  };

  app.post(`${ACCOUNT}/revoke`, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const membership = await membershipOf(request, form);
    if (membership) await keys.revoke(membership, form.get('key') ?? '');
    return sendOn(reply, ACCOUNT);
  });

  app.post(`${ACCOUNT}/end`, async (request, reply) => {
    const form = readForm(request, baseUrl, cookies.read(request, 'signed-in'));
    if (!form) return sendFormRefused(reply);
    const membership = await membershipOf(request, form);
    if (!membership) return sendOn(reply, ACCOUNT);
    const rows = await listVisible(membership);
    const row = rows.find(({ connection_id }) => connection_id === form.get('connection'));
    const { memberId } = membership;
    // An app that has ended meanwhile is not in the list; the page then shows so.
    if (row) {
      const reason = row.member_id === memberId ? 'member' : 'admin';
      await connections.endAs(row, reason, { kind: 'member', id: memberId });
    }
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

/** Registers the page of an invitation link. */
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
