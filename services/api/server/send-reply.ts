import type { FastifyReply } from 'fastify';
import { hash } from 'node:crypto';
import { PLANS } from '#contracts/values/plans.ts';
import type { Reply } from '#operations/endpoint/reply.ts';
import { callerOf, type RequestContext } from './request-context.ts';
import { type Allowance, WINDOW_SECONDS } from '#operations/dependencies/rate-limiter.ts';
import type { ApiDependencies } from '../dependencies.ts';

const HOUR_MS = 3_600_000;
export const JSON_CONTENT = 'application/json; charset=utf-8';

export type Headers = Record<string, string | number>;

/** `x-ratelimit-*` of the specification, and the fields of draft-ietf-httpapi-ratelimit-headers. */
export const rateHeaders = ({ limit, remaining, resetAt, resetIn }: Allowance): Headers => ({
  'x-ratelimit-limit': limit,
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': resetAt,
  'ratelimit-policy': `"minute";q=${limit};w=${WINDOW_SECONDS}`,
  ratelimit: `"minute";r=${remaining};t=${resetIn}`,
});

/** The JSON text of a success. Assembled by hand: `data` comes as text and is not looked into again. */
export const envelope = (requestId: string, now: number, answer: Reply, cursor: string | null): string => {
  const asOf = answer.asOf ?? new Date(now).toISOString();
  // Rounded down to hundredths. An observer's clock may be ahead of ours; an age is never negative.
  const lag =
    answer.asOf === null ? 0 : Math.max(0, Math.floor((now - Date.parse(asOf)) / (HOUR_MS / 100)) / 100);
  return (
    `{"data":${answer.data},"meta":{"request_id":"${requestId}","as_of":"${asOf}","lag_hours":${lag}` +
    (cursor === null ? '' : `,"cursor":"${cursor}"`) +
    (answer.count === undefined ? '' : `,"count":${answer.count}`) +
    (answer.freshness === undefined ? '' : `,"freshness":${answer.freshness}`) +
    '}}'
  );
};

/** Of answers on their way: one that is shared by many requests is hashed once. */
const etags = new WeakMap<Reply, string>();

/** Weak: the same figures in an envelope with another request id and lag. */
const etagOf = (answer: Reply): string => {
  const known = etags.get(answer);
  if (known !== undefined) return known;
  const { asOf, next, freshness = '', data } = answer;
  const etag = `W/"${hash('sha1', `${asOf}${next ? 1 : 0}${freshness}${data}`, 'base64url')}"`;
  etags.set(answer, etag);
  return etag;
};

/** RFC 9110, section 13.1.2: weak comparison with any of a list. */
const matches = (given: string | undefined, etag: string): boolean =>
  given !== undefined &&
  (given.trim() === '*' || given.split(',').some((one) => `W/${one.trim().replace(/^W\//, '')}` === etag));

/** Head and body in one write. Text of ASCII alone is copied as it is instead of being encoded. */
export const send = (reply: FastifyReply, status: number, headers: Headers, body: string): void => {
  const bytes = Buffer.byteLength(body);
  if (status !== 304) {
    headers['content-type'] = JSON_CONTENT;
    headers['content-length'] = bytes;
  }
  reply.hijack();
  reply.raw.writeHead(status, headers).end(body, bytes === body.length ? 'latin1' : 'utf8');
};

export const sendReply = (context: RequestContext, dependencies: ApiDependencies): void => {
  const { answer, endpoint, request } = context;
  if (!answer) throw new Error('a handler answers before the answer is sent');
  const headers: Headers = { 'x-request-id': context.requestId };
  if (endpoint.corpus) {
    const etag = etagOf(answer);
    headers['etag'] = etag;
    headers['cache-control'] = 'private, no-cache';
    if (matches(request.headers['if-none-match'], etag)) {
      const { keyId, plan } = callerOf(context);
      const allowance = dependencies.rateLimiter.giveBack(keyId, PLANS[plan].requestsPerMinute);
      return send(context.reply, 304, Object.assign(headers, rateHeaders(allowance)), '');
    }
  }
  if (context.allowance) Object.assign(headers, rateHeaders(context.allowance));
  if (answer.position !== undefined && answer.position !== null) {
    headers['x-read-position'] = answer.position.toString();
  }
  if (context.replayed) headers['idempotency-replayed'] = 'true';
  const cursor = answer.next ? dependencies.cursors.sign(context.filters, answer.next) : null;
  // A read shows what there was when it was asked for; a write, what it has just done.
  const now = endpoint.method === 'GET' ? context.now : dependencies.clock.now().getTime();
  const body = envelope(context.requestId, now, answer, cursor);
  send(context.reply, context.replayed?.status ?? endpoint.reply.status, headers, body);
};
