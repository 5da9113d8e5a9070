import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Refusal } from '#contracts/errors.ts';
import { TEST_KEY } from '#application/access/key-format.ts';
import { loadUndici } from '#platform/egress/undici.ts';
import { bearerOf } from '#platform/http/request-headers.ts';
import { REPLY_HEADERS } from './cross-origin.ts';
import type { Step } from './request-pipeline.ts';
import { addressRefusal } from './steps.ts';

/** Passes requests with a test key on to another installation. They never touch the stores of this one. */

/** Requests passed on at once, each on a connection of its own. */
const IN_FLIGHT_MAX = 128;
const CONNECT_TIMEOUT_MS = 3_000;
/** The pipeline ends earlier; this bounds a test send, which waits for a receiver. */
const ANSWER_TIMEOUT_MS = 60_000;
const SILENCE_TIMEOUT_MS = 30_000;
const RETRY_AFTER_SECONDS = 3;

/** Without cookies, `host`, `origin`, `forwarded` and headers of the connection. A key of a customer never leaves. */
const REQUEST_HEADERS = [
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'if-range',
  'min-position',
  'range',
  'traceparent',
] as const;

/** Without those of the connection, and without the decision about other origins, which this installation makes. */
const PASSED_HEADERS = [
  ...REPLY_HEADERS,
  'accept-ranges',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'cross-origin-resource-policy',
  'trailer',
  'vary',
  'www-authenticate',
  'x-content-type-options',
] as const;

const pick = (headers: IncomingHttpHeaders, names: readonly string[]) =>
  Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const])),
  );

const unavailable = (message: string, cause?: unknown): Refusal => {
  const refusal = new Refusal('overloaded', `${message} Try again.`, [], RETRY_AFTER_SECONDS);
  refusal.cause = cause;
  return refusal;
};

/** The target as it was routed here. Throws `not_found` for one that the test world could read otherwise. */
const targetOf = (sent: string): string => {
  // A target in absolute form (RFC 9112, section 3.2.2) names a host.
  const target = sent.replace(/^https?:\/\/[^/?#]*/i, '');
  const [path = ''] = target.split('?', 1);
  if (!path.startsWith('/v1/') || URL.parse(path, 'http://world')?.pathname !== path)
    throw new Refusal('not_found', 'No such resource.');
  return target;
};

export const hasTestKey = ({ headers }: FastifyRequest): boolean => TEST_KEY.isValid(bearerOf(headers) ?? '');

export type TestWorld = AsyncDisposable & {
  /** Sends the reply and returns its status. Throws `overloaded` before the reply has begun. */
  forward(request: FastifyRequest, reply: FastifyReply, requestId: string): Promise<number>;
};

/** The pool connects to `url` only. It follows no redirects and repeats nothing. */
export const openTestWorld = (url: string): TestWorld => {
  const { Pool } = loadUndici();
  const pool = new Pool(url, {
    connections: IN_FLIGHT_MAX,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: SILENCE_TIMEOUT_MS,
  });
  let inFlight = 0;
  const forward: TestWorld['forward'] = async (request, reply, requestId) => {
    if (inFlight >= IN_FLIGHT_MAX) throw unavailable('Too many requests wait for the test world.');
    const { raw } = reply;
    const left = new AbortController();
    raw.once('close', () => left.abort());
    inFlight += 1;
    try {
      const answer = await pool
        .request({
          path: targetOf(request.url),
          method: request.method,
          headers: {
            ...pick(
              request.headers,
              hasTestKey(request) ? [...REQUEST_HEADERS, 'authorization'] : REQUEST_HEADERS,
            ),
            'x-request-id': requestId,
            'x-forwarded-for': request.ip,
          },
          body: typeof request.body === 'string' ? request.body : null,
          signal: left.signal,
        })
        .catch((error: unknown) => {
          throw unavailable('The test world does not answer.', error);
        });
      // A request whose time ran out was answered then.
      if (raw.headersSent) return raw.statusCode;
      reply.hijack();
      const headers = pick(answer.headers, PASSED_HEADERS);
      const { location } = answer.headers;
      if (typeof location === 'string' && location.startsWith('/v1/')) headers['location'] = location;
      const vary = [raw.getHeader('vary'), headers['vary']].filter((one) => one !== undefined).join(', ');
      raw.writeHead(answer.statusCode, { ...headers, ...(vary === '' ? {} : { vary }) });
      try {
        await pipeline(answer.body, raw, { end: false });
        if (headers['trailer'] !== undefined) raw.addTrailers(answer.trailers);
        raw.end();
      } catch {
        raw.destroy();
      }
      return answer.statusCode;
    } finally {
      inFlight -= 1;
    }
  };
  return { forward, [Symbol.asyncDispose]: () => pool.destroy() };
};

/** The only step of a request with a test key. Keys that the test world refuses count against their address. */
export const passToTestWorld: Step = async (
  { request, reply, requestId },
  { testWorld, refusedRequests },
) => {
  if (testWorld === null) throw new Error('no test world to pass the request to');
  const key = bearerOf(request.headers) ?? '';
  const entered = refusedRequests.enter(request.ip, key);
  if (entered !== null && typeof entered !== 'string') throw addressRefusal(entered);
  let status: number;
  try {
    status = await testWorld.forward(request, reply, requestId);
  } catch (error) {
    refusedRequests.cancel(entered);
    throw error;
  }
  if (status === 401) refusedRequests.refuse(request.ip, key, entered);
  else if (status < 429) refusedRequests.accept(key, entered);
  else refusedRequests.cancel(entered);
};
