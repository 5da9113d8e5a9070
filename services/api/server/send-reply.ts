import { hash } from 'node:crypto';
import { type Reply, lagHours } from '#operations/endpoint/reply.ts';
import { signNextCursor } from '#operations/endpoint/page-cursor.ts';
import { setRateHeaders } from '#application/access/request-counts.ts';
import { type Headers, send } from '#platform/http/send-json.ts';
import type { RequestContext } from './request-context.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** A result that is shared by several requests is hashed once. */
const etags = new WeakMap<Reply, string>();

/** The ETag is weak: equal results are sent with different request ids and lags. */
export const etagOf = (result: Reply): string => {
  const known = etags.get(result);
  if (known !== undefined) return known;
  const { asOf, next, freshness = '', data } = result;
  const etag = `W/"${hash('sha1', `${asOf}${next ? 1 : 0}${freshness}${data}`, 'base64url')}"`;
  etags.set(result, etag);
  return etag;
};

/** Compares weakly (RFC 9110, section 13.1.2). */
export const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => `W/${one.trim().replace(/^W\//, '')}` === etag));

/** Concatenates the body, because `data` is already JSON text. */
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

export const sendReply = (context: RequestContext, { cursors, clock }: ApiDependencies): void => {
  const { result, endpoint, request } = context;
  if (!result) throw new Error('no result to send: runHandler must run first');
  const headers: Headers = { 'x-request-id': context.requestId };
  if (context.allowance) setRateHeaders(headers, context.allowance);
  if (endpoint.corpus) {
    const etag = etagOf(result);
    headers['etag'] = etag;
    headers['cache-control'] = 'private, no-cache';
    if (matchesEtag(request.headers['if-none-match'], etag)) return send(context.reply, 304, headers, '');
  }
  if (result.position !== undefined && result.position !== null) {
    headers['x-read-position'] = result.position.toString();
  }
  if (context.replayed) headers['idempotency-replayed'] = 'true';
  const cursor = signNextCursor(context.filters, result, cursors);
  // The lag of a read counts from the arrival of the request; that of a write, from now.
  const now = endpoint.method === 'GET' ? context.now : clock.now().getTime();
  const body = envelope(context.requestId, now, result, cursor);
  send(context.reply, context.replayed?.status ?? endpoint.reply.status, headers, body);
};
