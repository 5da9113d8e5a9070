import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** Fields of a posted form. A field can occur several times, such as ticked permissions. */
export type Form = URLSearchParams;

/** Returns the token of the forms shown to a browser. It follows from a cookie that no script and no other site reads. */
export const formTokenOf = (cookie: string): string =>
  createHmac('sha256', cookie).update('form of a member page', 'utf8').digest('base64url');

/**
 * Checks that a form was posted from a page of this service. A browser that sends `Origin: null`, because pages send
 * no referrer, says in `Sec-Fetch-Site` where the form was; browsers without that header name their origin.
 */
const isOwnOrigin = ({ headers }: FastifyRequest, origin: string): boolean =>
  headers.origin === origin ||
  ((headers.origin === undefined || headers.origin === 'null') &&
    headers['sec-fetch-site'] === 'same-origin');

/** Returns the posted form, or `null` when another site posted it, or a page that was shown to another browser. */
export const readForm = (request: FastifyRequest, baseUrl: string, cookie: string | null): Form | null => {
  const form = request.body;
  if (!(form instanceof URLSearchParams) || cookie === null) return null;
  const [expected, sent] = [Buffer.from(formTokenOf(cookie)), Buffer.from(form.get('form_token') ?? '')];
  if (expected.length !== sent.length || !timingSafeEqual(expected, sent)) return null;
  return isOwnOrigin(request, new URL(baseUrl).origin) ? form : null;
};
