import { hash } from 'node:crypto';
import { PLANS } from '#contracts/values/plans.ts';
import { lagHours, type Reply } from '#operations/endpoint/reply.ts';
import { signNextCursor } from '#operations/endpoint/page-cursor.ts';
import { callerOf, type RequestContext } from './request-context.ts';
import { rateHeaders } from '#application/access/rate-limiter.ts';
import { type Headers, send } from '#platform/http/send-json.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** Returns the body of a successful reply. It is concatenated, because `data` is already JSON text. */
export const envelope = (requestId: string, now: number, result: Reply, cursor: string | null): string => {
  const asOf = result.asOf ?? new Date(now).toISOString();
  const lag = lagHours(result.asOf, now);
  return (
    `{"data":${result.data},"meta":{"request_id":"${requestId}","as_of":"${asOf}","lag_hours":${lag}` +
    (cursor === null ? '' : `,"cursor":"${cursor}"`) +
    (result.count === undefined ? '' : `,"count":${result.count}`) +
    (result.freshness === undefined ? '' : `,"freshness":${result.freshness}`) +
    '}}'
  );
};

/** ETags of results in use. A result that is shared by several requests is hashed once. */
const etags = new WeakMap<Reply, string>();

/** Returns a weak ETag: equal results are sent with different request ids and lags. */
const etagOf = (result: Reply): string => {
  const cached = etags.get(result);
  if (cached !== undefined) return cached;
  const { asOf, next, freshness = '', data } = result;
  const etag = `W/"${hash('sha1', `${asOf}${next ? 1 : 0}${freshness}${data}`, 'base64url')}"`;
  etags.set(result, etag);
  return etag;
};

/** Compares `if-none-match`, which may be a list, with an ETag. Weak comparison (RFC 9110, section 13.1.2). */
const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => `W/${one.trim().replace(/^W\//, '')}` === etag));

/** Sends the result: 304 when the ETag matches, otherwise the envelope with its headers. */
export const sendReply = (context: RequestContext, dependencies: ApiDependencies): void => {
  const { result, endpoint, request } = context;
  if (!result) throw new Error('no result to send: runHandler must run first');
  const headers: Headers = { 'x-request-id': context.requestId };
  if (endpoint.corpus) {
    const etag = etagOf(result);
    headers['etag'] = etag;
    headers['cache-control'] = 'private, no-cache';
    if (matchesEtag(request.headers['if-none-match'], etag)) {
      const { keyId, plan } = callerOf(context);
      const allowance = dependencies.rateLimiter.giveBack(keyId, PLANS[plan].requestsPerMinute);
      return send(context.reply, 304, Object.assign(headers, rateHeaders(allowance)), '');
    }
  }
  if (context.allowance) Object.assign(headers, rateHeaders(context.allowance));
  if (result.position !== undefined && result.position !== null) {
    headers['x-read-position'] = result.position.toString();
  }
  if (context.replayed) headers['idempotency-replayed'] = 'true';
  const cursor = signNextCursor(context.filters, result, dependencies.cursors);
  // The lag of a read counts from the arrival of the request; that of a write, from now.
  const now = endpoint.method === 'GET' ? context.now : dependencies.clock.now().getTime();
  const body = envelope(context.requestId, now, result, cursor);
  send(context.reply, context.replayed?.status ?? endpoint.reply.status, headers, body);
};
