import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Form = URLSearchParams;

/** Derived from a cookie that neither scripts nor other sites can read. */
export const formTokenOf = (cookie: string): string =>
  createHmac('sha256', cookie).update('form of a member page', 'utf8').digest('base64url');

/** With `Origin: null` (pages send no referrer) a browser states the origin of the form in `Sec-Fetch-Site`. */
const isOwnOrigin = ({ headers }: FastifyRequest, origin: string): boolean =>
  headers.origin === origin ||
  ((headers.origin === undefined || headers.origin === 'null') &&
    headers['sec-fetch-site'] === 'same-origin');

/** `null` when another site posted the form, or a page that another browser received. */
export const readForm = (request: FastifyRequest, baseUrl: string, cookie: string | null): Form | null => {
  const form = request.body;
  if (!(form instanceof URLSearchParams) || cookie === null) return null;
  const [expected, sent] = [Buffer.from(formTokenOf(cookie)), Buffer.from(form.get('form_token') ?? '')];
  if (expected.length !== sent.length || !timingSafeEqual(expected, sent)) return null;
  return isOwnOrigin(request, new URL(baseUrl).origin) ? form : null;
};

/** `page`: the page that opens after the sign-in, in base64url. */
export type CookieName = 'browser' | 'signed-in' | 'page';

export type Cookies = {
  read(request: FastifyRequest, name: CookieName): string | null;
  /** `maxAgeSeconds` of 0 deletes the cookie. */
  set(reply: FastifyReply, name: CookieName, value: string, maxAgeSeconds: number): void;
};

const TOKEN = /^[\w-]{43}$/;
const VALUES: Readonly<Record<CookieName, RegExp>> = {
  browser: TOKEN,
  'signed-in': TOKEN,
  page: /^[\w-]{1,2000}$/,
};

/** `__Host-` makes browsers reject cookies of other hosts of the domain. `Lax` sends cookies when an app links here. */
export const createCookies = (baseUrl: string): Cookies => {
  const isSecure = baseUrl.startsWith('https:');
  const nameOf = (name: CookieName): string => `${isSecure ? '__Host-' : ''}adintel-${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ headers }, name) => {
      const prefix = `${nameOf(name)}=`;
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
      const value = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) ?? '';
      return VALUES[name].test(value) ? value : null;
    },
    set: (reply, name, value, maxAgeSeconds) => {
      void reply.header('set-cookie', `${nameOf(name)}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`);
    },
  };
};
