import { escape } from 'es-toolkit/string/escape';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Only `html` creates it. */
export type Html = { readonly html: string };

type Part = string | number | Html | readonly Html[] | null;

export const escapeHtml = (text: string): string => escape(text.toWellFormed());

const render = (part: Part): string => {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'html' in part ? part.html : part.map((one) => one.html).join('');
};

/** Escapes each inserted text. Attributes in a template must be quoted. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: strings.map((text, i) => text + render(parts[i] ?? null)).join(''),
});

export const PRODUCT = 'Ad intelligence';

const STYLE = readFileSync(new URL('./pages.css', import.meta.url), 'utf8');
const STYLE_SOURCE = `'sha256-${hash('sha256', STYLE, 'base64')}'`;

/**
 * `formTargets`: other origins or schemes that a form may lead to. `hasFiles`: the page has scripts, styles and pictures
 * of this service.
 */
export const headersOf = (
  formTargets: readonly string[] = [],
  hasFiles = false,
): Readonly<Record<string, string>> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}${hasFiles ? " 'self'" : ''}`,
    ...(hasFiles ? ["script-src 'self'", "img-src 'self'", "connect-src 'self'"] : []),
    "base-uri 'none'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/** `head`: links to files of the page; its headers must allow them. */
export const pageOf = (title: string, body: Html, head: Html | null = null): string =>
  `<!doctype html>\n${
    html`<html lang="en"><head><meta charset="utf-8"><title>${title} – ${PRODUCT}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<style>${{ html: STYLE }}</style>${head}</head>
<body><header>${PRODUCT}</header><main><h1>${title}</h1>${body}</main></body></html>`.html
  }`;

/** The token proves that the form came from a page of this service. */
export const formOf = (action: string, formToken: string, content: Html): Html =>
  html`<form method="post" action="${action}"><input type="hidden" name="form_token" value="${formToken}">${content}</form>`;

export const faultOf = (fault: string | null): Html | null =>
  fault === null ? null : html`<p class="fault" role="alert">${fault}</p>`;

export const messagePage = (title: string, ...paragraphs: readonly string[]): string =>
  pageOf(title, html`${paragraphs.map((text) => html`<p>${text}</p>`)}`);

export const requestFaultPage = ({
  error,
  description,
}: {
  readonly error: string;
  readonly description: string;
}): string =>
  messagePage(
    'This request cannot be answered',
    'The app sent a request that this service does not accept. Start again from the app.',
    `${error}: ${description}`,
  );

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
export const dayOf = (time: Date): string => DAY.format(time);
export const timeOf = (time: Date): string => `${TIME.format(time)} UTC`;
