import type { ConnectedApp } from '#contracts/events/workspace/connection.ts';
import type { Account, Membership } from '#application/sign-in/member-directory.ts';
import { type Html, PRODUCT, faultOf, formOf, html, pageOf } from './layout.ts';
import type { Permission } from './permissions.ts';

export type ConsentPage = {
  readonly base: string;
  readonly formToken: string;
  readonly account: Account;
  readonly app: ConnectedApp;
};

/** `redirect_host` of an app on the member's own computer. */
export const LOOPBACK = 'loopback';

const claimOf = ({ id, identified_by }: ConnectedApp): string => {
  switch (identified_by) {
    case 'document':
      return `verified: ${new URL(id).host}`;
    case 'operator':
      return 'added by the operator of this service';
    case 'registration':
      return 'not verified: it named itself';
  }
};

const returnOf = ({ redirect_host }: ConnectedApp): Html =>
  redirect_host === LOOPBACK
    ? html`<p class="warning">The access goes to a program on this computer. Go on only if you started it yourself, just
now.</p>`
    : html`<p>The access goes to <strong><bdi>${redirect_host}</bdi></strong>. Go on only if you know this address.</p>`;

const whoOf = ({ base, formToken, account }: ConsentPage): Html => {
  const who = account.email ?? account.name ?? 'a member without a readable name';
  return formOf(
    `${base}/switch`,
    formToken,
    html`<p class="muted">Signed in as <strong><bdi>${who}</bdi></strong></p><p><button>Use another account</button></p>`,
  );
};

const appOf = (app: ConnectedApp): Html =>
  html`<p><strong><bdi>${app.name}</bdi></strong> (${claimOf(app)}) asks for access to ${PRODUCT} in your name.</p>`;

export const workspacePage = (page: ConsentPage, fault: string | null): string =>
  pageOf(
    'Choose a workspace',
    html`${appOf(page.app)}${faultOf(fault)}
<form method="get" action="${page.base}"><fieldset><legend>The app gets access to one workspace:</legend>
${page.account.memberships.map(
  ({ workspaceId, workspaceName, role }) =>
    html`<label class="choice"><input type="radio" name="workspace" value="${workspaceId}" required>
<span><bdi>${workspaceName}</bdi><span>Your role: ${role}</span></span></label>`,
)}</fieldset><button class="main">Continue</button></form>
<h2>Your account</h2>${whoOf(page)}`,
  );

const choiceOf = ({ id, title, detail, isWrite }: Permission): Html =>
  html`<label class="choice"><input type="checkbox" name="permission" value="${id}"${isWrite ? null : html` checked`}>
<span>${title}<span>${detail}</span></span></label>`;

const groupOf = (legend: string, permissions: readonly Permission[]): Html | null =>
  permissions.length === 0
    ? null
    : html`<fieldset><legend>${legend}</legend>${permissions.map(choiceOf)}</fieldset>`;

/** Reads are preselected, writes are not. */
export const consentPage = (
  page: ConsentPage,
  {
    membership,
    permissions,
    expiresAt,
    accountUrl,
    fault,
  }: {
    readonly membership: Membership;
    readonly permissions: readonly Permission[];
    readonly expiresAt: string;
    readonly accountUrl: string;
    readonly fault: string | null;
  },
): string =>
  pageOf(
    'Allow this app?',
    html`${appOf(page.app)}${returnOf(page.app)}
<dl><dt>Workspace</dt><dd><bdi>${membership.workspaceName}</bdi> (your role: ${membership.role})</dd>
<dt>Until</dt><dd>${expiresAt} at the latest. You can end it at any time at <a href="${accountUrl}">${accountUrl}</a>.</dd></dl>
${formOf(
  `${page.base}/consent`,
  page.formToken,
  html`<input type="hidden" name="workspace" value="${membership.workspaceId}">${faultOf(fault)}
${groupOf(
  'It may read',
  permissions.filter(({ isWrite }) => !isWrite),
)}
${groupOf(
  'It may change, only if you tick it',
  permissions.filter(({ isWrite }) => isWrite),
)}
<p class="muted">It never sees API keys and cannot delete anything but the tracking of a brand.</p>
<div class="buttons"><button class="main" name="answer" value="allow">Allow</button>
<button name="answer" value="deny">Deny</button></div>`,
)}
${page.account.memberships.length > 1 ? html`<p><a href="${page.base}">Choose another workspace</a></p>` : null}
<h2>Your account</h2>${whoOf(page)}`,
  );
