import type { ConnectedApp } from '#contracts/events/workspace/connection.ts';
import type { Scope } from '#contracts/values/access.ts';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { type Html, dayOf, formOf, html, pageOf, timeOf } from './layout.ts';
import { permissionsOf } from './permissions.ts';

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
