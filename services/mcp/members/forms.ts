import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

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
