import { type Role, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import { GRANTABLE_SCOPES } from '#domain/workspace/connection.ts';
import type { ConnectedApp } from '#contracts/events/workspace/connection.ts';
import type { Account, Membership } from '#application/sign-in/member-directory.ts';
import type { BrowserSignIn } from '#application/sign-in/browsers.ts';
import { BROWSERS_MAX } from '#domain/workspace/sign-in.ts';
import { CODE_MINUTES } from '#application/sign-in/codes.ts';
import { brandsPath } from './brand-page.ts';
import { type Html, PRODUCT, dayOf, faultOf, formOf, html, pageOf, timeOf } from './layout.ts';
import type { OwnKey } from '../members/own-keys.ts';

/** Scopes that a member grants together. */
export type Permission = {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly scopes: readonly Scope[];
  /** Writes are not preselected. */
  readonly isWrite: boolean;
};

/** Each grantable scope is in exactly one permission. */
export const PERMISSIONS: readonly Permission[] = [
  {
    id: 'corpus',
    title: 'Read what was observed',
    detail: 'Brands, ads, creatives, landing pages, rankings, operators and tools.',
    scopes: [
      'system:read',
      'brands:read',
      'categories:read',
      'rankings:read',
      'ads:read',
      'creatives:read',
      'pages:read',
      'operators:read',
      'tools:read',
      'audience:read',
    ],
    isWrite: false,
  },
  {
    id: 'workspace',
    title: 'Read this workspace',
    detail: 'Your name and role, tracked brands, alerts, briefs and reports.',
    scopes: ['me:read', 'tracking:read', 'alerts:read', 'briefs:read', 'reports:read'],
    isWrite: false,
  },
  {
    id: 'boards',
    title: 'Read saved items and notes',
    detail: 'Collections, saved items and the notes of all members.',
    scopes: ['collections:read', 'notes:read'],
    isWrite: false,
  },
  {
    id: 'tracking-write',
    title: 'Track and untrack brands',
    detail: 'Uses the slots of your plan.',
    scopes: ['tracking:write'],
    isWrite: true,
  },
  {
    id: 'collections-write',
    title: 'Save items and add them to collections',
    detail: 'All members see them.',
    scopes: ['collections:write'],
    isWrite: true,
  },
  {
    id: 'notes-write',
    title: 'Write notes',
    detail: 'In your name; all members see them.',
    scopes: ['notes:write'],
    isWrite: true,
  },
  {
    id: 'reports-write',
    title: 'Request reports',
    detail: 'Files with what happened to tracked brands.',
    scopes: ['reports:write'],
    isWrite: true,
  },
];

/** Requested scopes that the role allows. */
export const offeredScopes = (requested: readonly string[], role: Role): readonly Scope[] =>
  GRANTABLE_SCOPES.filter((scope) => requested.includes(scope) && SCOPES_OF_ROLE[role].includes(scope));

export const permissionsOf = (scopes: readonly Scope[]): readonly Permission[] =>
  PERMISSIONS.filter((permission) => permission.scopes.some((scope) => scopes.includes(scope)));

/** Ignores scopes that were not offered. */
export const grantedScopes = (offered: readonly Scope[], ticked: readonly string[]): readonly Scope[] => {
  const chosen = PERMISSIONS.filter(({ id }) => ticked.includes(id)).flatMap(({ scopes }) => scopes);
  return offered.filter((scope) => chosen.includes(scope));
};

export type ShownConnection = {
  readonly connectionId: string;
  readonly app: ConnectedApp;
  readonly scopes: readonly Scope[];
  readonly allowedAt: string;
  readonly lastUsedAt: string | null;
  /** False until the app has received its first token. */
  readonly isConnected: boolean;
  /** Another member's name; `null` for the member's own app. */
  readonly owner: string | null;
};

export type ShownConnections = {
  readonly rows: readonly ShownConnection[];
  readonly after: string | null;
  readonly olderPath: string | null;
  readonly endAllPath: string;
};

const connectionOf = (
  formToken: string,
  workspaceId: string,
  shown: ShownConnection,
  after: string | null,
): Html => {
  const { connectionId, app, scopes, allowedAt, lastUsedAt, isConnected, owner } = shown;
  const use = lastUsedAt === null ? 'not used yet' : `last used ${timeOf(new Date(lastUsedAt))}`;
  const nameId = `name-${connectionId}`;
  return html`<li><p><strong id="${nameId}"><bdi>${app.name}</bdi></strong>${
    owner === null ? null : html` of <bdi>${owner}</bdi>`
  }</p>
<p class="muted">May: ${permissionsOf(scopes)
    .map(({ title }) => title.toLowerCase())
    .join(
      ', ',
    )}. Allowed on ${dayOf(new Date(allowedAt))}; ${isConnected ? use : 'the app has not come back for it yet'}.</p>
${formOf(
  '/account/end',
  formToken,
  html`<input type="hidden" name="workspace" value="${workspaceId}">
<input type="hidden" name="connection" value="${connectionId}">${
    after === null ? null : html`<input type="hidden" name="after" value="${after}">`
  }
<button aria-describedby="${nameId}">End this connection</button>`,
)}</li>`;
};

export const connectionsOf = (
  formToken: string,
  workspaceId: string,
  { rows, after, olderPath, endAllPath }: ShownConnections,
): Html =>
  html`${
    rows.length === 0
      ? html`<p>No ${after === null ? '' : 'older '}app is connected.</p>`
      : html`<ul class="list">${rows.map((one) => connectionOf(formToken, workspaceId, one, after))}</ul>`
  }${olderPath === null ? null : html`<p><a href="${olderPath}">Show older connections</a></p>`}${
    rows.length < 2 && olderPath === null && after === null
      ? null
      : html`<p><a href="${endAllPath}">End several connections at once</a></p>`
  }`;

export const olderConnectionsPage = ({
  membership,
  formToken,
  connections,
  accountPath,
}: {
  readonly membership: Membership;
  readonly formToken: string;
  readonly connections: ShownConnections;
  readonly accountPath: string;
}): string =>
  pageOf(
    'Older connections',
    html`<h2>Apps in <bdi>${membership.workspaceName}</bdi></h2>${connectionsOf(formToken, membership.workspaceId, connections)}
<p><a href="${accountPath}">Back to your account</a></p>`,
  );

/** Admins may end the connections of all members. */
export const endAllPage = ({
  membership,
  formToken,
  isAdmin,
  endedMax,
  accountPath,
}: {
  readonly membership: Membership;
  readonly formToken: string;
  readonly isAdmin: boolean;
  /** Maximum connections that one confirmation ends. */
  readonly endedMax: number;
  readonly accountPath: string;
}): string => {
  const form = (of: 'own' | 'all', button: string): Html =>
    formOf(
      '/account/end-all',
      formToken,
      html`<input type="hidden" name="workspace" value="${membership.workspaceId}">
<input type="hidden" name="of" value="${of}"><button>${button}</button>`,
    );
  return pageOf(
    'End connections?',
    html`<p>The apps in <bdi>${membership.workspaceName}</bdi> are refused from then on. Each must ask again to be connected.</p>
<p class="muted">At most ${endedMax} connections end at once. Where more are left, the account page shows them.</p>
<div class="buttons">${form('own', 'End all my connections')}${
      isAdmin ? form('all', 'End the connections of all members') : null
    }</div>
<p><a href="${accountPath}">Back to your account, and end none</a></p>`,
  );
};

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
  return html`<h2>Brands of <bdi>${membership.workspaceName}</bdi></h2><p><a href="${brandsPath(membership.workspaceId)}">Tracked brands, with what changed</a></p>
<h2>Apps in <bdi>${membership.workspaceName}</bdi></h2>${connectionsOf(formToken, membership.workspaceId, connections)}${keysOf(formToken, workspace)}`;
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

export type SignInPage = {
  /** Forms post below this path. */
  readonly base: string;
  readonly formToken: string;
  readonly fault: string | null;
};

export type SignInWays = {
  readonly hasCodes: boolean;
  /** `null` without a sign-in of the organisation's own. */
  readonly upstreamName: string | null;
};

/** A link, because a form cannot lead to another site. */
const upstreamLink = (base: string, name: string): Html =>
  html`<p><a class="button" href="${base}/upstream">Continue with ${name}</a></p>`;

const codeForm = ({ base, formToken }: SignInPage, fault: string | null): Html =>
  formOf(
    `${base}/address`,
    formToken,
    html`<p>Enter the e-mail address of your membership. You will get a code.</p>
${faultOf(fault)}<label class="field" for="address">E-mail address</label>
<input id="address" type="email" name="address" autocomplete="username" maxlength="254" required>
<button class="main">Send a code</button>`,
  );

export const signInPage = (page: SignInPage, ways: SignInWays, appName: string | null): string =>
  pageOf(
    'Sign in',
    html`${appName === null ? null : html`<p>The app <bdi>${appName}</bdi> asks for access to ${PRODUCT}. First, sign in.</p>`}
${ways.upstreamName === null ? null : upstreamLink(page.base, ways.upstreamName)}
${ways.hasCodes ? codeForm(page, page.fault) : faultOf(page.fault)}
<h2>With an invitation link</h2>
<p class="muted">Open the link in this browser, then come back to this page and reload it. The operator of this
service makes such links. Accounts cannot be created here.</p>`,
  );

export const codePage = ({ base, formToken, fault }: SignInPage): string =>
  pageOf(
    'Enter the code',
    html`<p>If the address belongs to a member, a code of eight digits is on its way. It works in this browser only,
once, for ${CODE_MINUTES} minutes.</p>
${formOf(
  `${base}/code`,
  formToken,
  html`${faultOf(fault)}<label class="field" for="code">Code</label>
<input id="code" type="text" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="20" required>
<button class="main">Sign in</button>`,
)}
<p><a href="${base}">Use another address or send another code</a></p>`,
  );

/** Only the button uses the link up, so that viewing the page is harmless. */
export const invitationPage = (action: string, formToken: string, workspaceName: string): string =>
  pageOf(
    'Your invitation',
    html`<p>You were invited to sign in to the workspace <strong><bdi>${workspaceName}</bdi></strong>.</p>
<p>The link works once. Continue in the browser in which you want to connect your apps.</p>
${formOf(action, formToken, html`<button class="main">Sign in</button>`)}`,
  );
