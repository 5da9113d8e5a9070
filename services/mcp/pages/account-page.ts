import type { BrowserSignIn } from '#application/sign-in/browsers.ts';
import { BROWSERS_MAX } from '#domain/workspace/sign-in.ts';
import type { Account, Membership } from '#application/sign-in/member-directory.ts';
import type { OwnKey } from '../members/own-keys.ts';
import { connectionsOf, type ShownConnections } from './connections-page.ts';
import { type Html, formOf, html, pageOf, timeOf } from './layout.ts';

export type ShownWorkspace = {
  readonly membership: Membership;
  readonly connections: ShownConnections;
  readonly keys: readonly OwnKey[];
};

const METHOD_WORDS = {
  code: 'with a code by e-mail',
  invitation: 'with an invitation link',
  upstream: 'with your organisation',
} as const;

const keyOf = (formToken: string, workspaceId: string, key: OwnKey): Html => {
  const { keyId, name, lastFour, lastUsedAt } = key;
  const use = lastUsedAt === null ? 'never used' : `last used ${timeOf(new Date(lastUsedAt))}`;
  return html`<li><p><strong id="key-${keyId}"><bdi>${name}</bdi></strong> (ends in <bdi>${lastFour}</bdi>): ${use}.</p>
${formOf(
  '/account/revoke',
  formToken,
  html`<input type="hidden" name="workspace" value="${workspaceId}">
<input type="hidden" name="key" value="${keyId}">
<button aria-describedby="key-${keyId}">Revoke this key</button>`,
)}</li>`;
};

const keysOf = (formToken: string, { membership, keys }: ShownWorkspace): Html | null =>
  keys.length === 0
    ? null
    : html`<h2>Your API keys in <bdi>${membership.workspaceName}</bdi></h2>
<p class="muted">A program that uses a revoked key is refused from then on.</p>
<ul class="list">${keys.map((one) => keyOf(formToken, membership.workspaceId, one))}</ul>`;

const workspaceOf = (formToken: string, workspace: ShownWorkspace): Html => {
  const { membership, connections } = workspace;
  return html`<h2>Apps in <bdi>${membership.workspaceName}</bdi></h2>${connectionsOf(formToken, membership.workspaceId, connections)}${keysOf(formToken, workspace)}`;
};

export const accountPage = ({
  account,
  formToken,
  workspaces,
  browsers,
  currentSignInId,
}: {
  readonly account: Account;
  readonly formToken: string;
  readonly workspaces: readonly ShownWorkspace[];
  readonly browsers: readonly BrowserSignIn[];
  readonly currentSignInId: string;
}): string =>
  pageOf(
    'Your account',
    html`<p>Signed in as <strong><bdi>${account.email ?? account.name ?? 'a member without a readable name'}</bdi></strong>.
To connect another app, start in the app; if its page is open already, reload it.</p>
${workspaces.map((one) => workspaceOf(formToken, one))}
<h2>Browsers</h2><ul class="list">${browsers.map(
      ({ signInId, method, signedInAt, usedAt }) =>
        html`<li><p id="browser-${signInId}">${signInId === currentSignInId ? 'This browser' : 'Another browser'}: signed in
${METHOD_WORDS[method]} on ${timeOf(signedInAt)}, last used ${timeOf(usedAt)}.</p>
${formOf(
  '/account/sign-out',
  formToken,
  html`<input type="hidden" name="sign_in" value="${signInId}">
<button aria-describedby="browser-${signInId}">Sign out</button>`,
)}</li>`,
    )}</ul>${
      browsers.length === BROWSERS_MAX
        ? html`<p class="muted">The ${browsers.length} browsers used last are shown.</p>`
        : null
    }`,
  );
