import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConnectedApp } from '#contracts/events/workspace/connection.ts';
import { SCOPES_OF_ROLE } from '#contracts/values/access.ts';
import type { Account } from '#application/sign-in/member-directory.ts';
import { APP_NAME_MAX_LENGTH, GRANTABLE_SCOPES } from '#domain/workspace/connection.ts';
import { describeApp, formTargetOf } from '#services/mcp/members/app-requests.ts';
import {
  PERMISSIONS,
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
} from '#services/mcp/pages/pages.ts';
import { escapeHtml, headersOf, html, messagePage } from '#services/mcp/pages/layout.ts';

/** A text that leaves every context of HTML in which it is not escaped. */
const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;</style></title>`;

const membership = {
  workspaceId: HOSTILE,
  workspaceName: HOSTILE,
  memberId: HOSTILE,
  role: 'owner',
  plan: 'pro',
} as const;
const account: Account = {
  accountId: HOSTILE,
  name: HOSTILE,
  email: HOSTILE,
  memberships: [membership, { ...membership, workspaceId: 'ws_2' }],
};
const app: ConnectedApp = {
  id: HOSTILE,
  name: HOSTILE,
  identified_by: 'registration',
  redirect_host: HOSTILE,
};
const step = { base: HOSTILE, formToken: HOSTILE, fault: HOSTILE };
const consent = { base: HOSTILE, formToken: HOSTILE, account, app };
const details = {
  membership,
  permissions: PERMISSIONS,
  expiresAt: HOSTILE,
  accountUrl: HOSTILE,
  fault: HOSTILE,
};
const browser = {
  signInId: HOSTILE,
  accountId: HOSTILE,
  method: 'code',
  signedInAt: new Date(0),
  usedAt: new Date(0),
} as const;
const connection = {
  connectionId: HOSTILE,
  app,
  scopes: GRANTABLE_SCOPES,
  allowedAt: new Date(0).toISOString(),
  lastUsedAt: null,
  isConnected: false,
  owner: HOSTILE,
};
const key = { keyId: HOSTILE, name: HOSTILE, lastFour: HOSTILE, lastUsedAt: new Date(0).toISOString() };
const shownConnections = { rows: [connection], after: HOSTILE, olderPath: HOSTILE, endAllPath: HOSTILE };
const pages: Readonly<Record<string, string>> = {
  signIn: signInPage(step, { hasCodes: true, upstreamName: HOSTILE }, HOSTILE),
  code: codePage(step),
  invitation: invitationPage(HOSTILE, HOSTILE, HOSTILE),
  workspace: workspacePage(consent, HOSTILE),
  consent: consentPage(consent, details),
  account: accountPage({
    account,
    formToken: HOSTILE,
    workspaces: [{ membership, connections: shownConnections, keys: [key] }],
    browsers: [browser],
    currentSignInId: HOSTILE,
  }),
  older: olderConnectionsPage({
    membership,
    formToken: HOSTILE,
    connections: shownConnections,
    accountPath: HOSTILE,
  }),
  endAll: endAllPage({ membership, formToken: HOSTILE, isAdmin: true, endedMax: 1, accountPath: HOSTILE }),
  message: messagePage(HOSTILE, HOSTILE),
};

describe.each(Object.entries(pages))('the page %s', (_name, page) => {
  test('shows hostile texts as text, and has no script, image or remote resource', () => {
    expect(page).toContain(escapeHtml(HOSTILE));
    const own = page.replaceAll(escapeHtml(HOSTILE), '');
    expect(own).not.toMatch(/alert\(|onerror/);
    expect(own).not.toMatch(/<(script|img|link|iframe|object|svg)\b|\son[a-z]+=|javascript:/i);
    expect(page.match(/<style>/g)).toHaveLength(1);
  });

  test('has a language, one heading of the first level, and a label for every field', () => {
    expect(page).toContain('<html lang="en">');
    expect(page.match(/<h1>/g)).toHaveLength(1);
    const fields = page.match(/<input (?!type="(?:hidden|radio|checkbox)")[^>]*>/g) ?? [];
    for (const field of fields) expect(page).toContain(`for="${/ id="([^"]+)"/.exec(` ${field}`)?.[1]}"`);
  });
});

test('a template escapes every text, in any order', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const made = html`<p title="${text}">${text}${[html`${text}`]}${null}</p>`.html;
      expect(made.match(/[<>]/g)).toHaveLength(4);
      expect(made.match(/"/g)).toHaveLength(2);
      expect(made.isWellFormed()).toBe(true);
    }),
  );
});

test('pages may not be framed, stored, or run a script, and name no referrer', () => {
  const headers = headersOf(['https://app.example']);
  const policy = headers['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' https://app.example");
  expect(policy).not.toMatch(/unsafe|script-src/);
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
});

describe('an app', () => {
  const describeNamed = (clientName: string, redirectUri = 'https://app.example/back') =>
    describeApp({ clientId: 'reg_client', clientName }, redirectUri);

  test('is named by itself in at most sixty visible characters on one line', () => {
    const bidi = '\u{202E}txe\u{202C}\u{200B}\u{E0041}';
    expect(describeNamed(` Good\n\n${bidi} app `).name).toBe('Good txe app');
    expect(describeNamed('').name).toBe('An app without a name');
    expect(describeNamed('\u{200B}').name).toBe('An app without a name');
    expect(Array.from(describeNamed('x'.repeat(500)).name)).toHaveLength(APP_NAME_MAX_LENGTH);
  });

  test('is verified only by a document at its own address', () => {
    expect(describeNamed('Claude').identified_by).toBe('registration');
    expect(describeApp({ clientId: 'known' }, 'https://app.example/').identified_by).toBe('operator');
    const document = describeApp({ clientId: 'https://app.example/client.json' }, 'https://app.example/');
    const page = consentPage({ ...consent, app: document }, details);
    expect(page).toContain('verified: app.example');
    expect(pages['consent']).toContain('not verified: it named itself');
  });

  test.each([
    ['https://app.example/back?x=1', 'app.example', 'https://app.example'],
    ['http://127.0.0.1:3000/cb', 'loopback', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000/cb', 'loopback', 'http://[::1]:3000'],
    ['cursor://anysphere.cursor-mcp/oauth', 'loopback', 'cursor:'],
  ])('that returns to %s is shown with its host', (redirectUri, host, target) => {
    expect(describeNamed('App', redirectUri).redirect_host).toBe(host);
    expect(formTargetOf(redirectUri)).toBe(target);
  });

  test('on this computer is shown with a warning', () => {
    const local = { ...consent, app: { ...app, redirect_host: 'loopback' } };
    expect(consentPage(local, details)).toContain('a program on this computer');
    expect(pages['consent']).not.toContain('a program on this computer');
  });
});

describe('permissions', () => {
  test('contain each scope that can be granted once, and writes are not ticked', () => {
    expect(PERMISSIONS.flatMap(({ scopes }) => scopes).toSorted()).toEqual(GRANTABLE_SCOPES.toSorted());
    for (const { id, isWrite } of PERMISSIONS) {
      expect(pages['consent']).toContain(`name="permission" value="${id}"${isWrite ? '>' : ' checked>'}`);
    }
  });

  test('are bounded by the role, by what the app asked for, and by what is ticked', () => {
    const asked = [...GRANTABLE_SCOPES, 'apiKeys:write', 'alerts:write', 'unknown'];
    expect(offeredScopes(asked, 'owner')).toEqual(GRANTABLE_SCOPES);
    const viewer = offeredScopes(asked, 'viewer');
    expect(viewer.every((scope) => SCOPES_OF_ROLE.viewer.includes(scope))).toBe(true);
    expect(permissionsOf(viewer).some(({ isWrite }) => isWrite)).toBe(false);
    const ticked = ['corpus', 'notes-write', 'unknown'];
    expect(grantedScopes(offeredScopes(['brands:read', 'me:read'], 'owner'), ticked)).toEqual([
      'brands:read',
    ]);
    expect(grantedScopes(viewer, ticked)).not.toContain('notes:write');
  });
});
