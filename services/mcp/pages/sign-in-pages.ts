import { CODE_MINUTES } from '#application/sign-in/codes.ts';
import { type Html, PRODUCT, faultOf, formOf, html, pageOf } from './layout.ts';

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
