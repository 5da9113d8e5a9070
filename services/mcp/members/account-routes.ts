import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { accountPage, type ShownWorkspace } from '../pages/account-page.ts';
import { createConnectionList, registerConnectionPages } from './connection-routes.ts';
import { invitationPage } from '../pages/sign-in-pages.ts';
import { formTokenOf, readForm } from './forms.ts';
import {
  ACCOUNT,
  browserHashOf,
  findMembership,
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
