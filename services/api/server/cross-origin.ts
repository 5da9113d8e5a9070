import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** Lets pages of other origins call the API (https://fetch.spec.whatwg.org/#http-cors-protocol). */

const ANY = '*';

export const CORS_ORIGINS = z
  .string()
  .default(ANY)
  .transform((text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  )
  .pipe(
    z
      .array(
        z.union([z.literal(ANY), z.url().refine((url) => new URL(url).origin === url, 'Not an origin.')]),
      )
      .max(100),
  )
  .describe(
    'Origins whose pages may call the API, as `https://app.example,https://other.example`; `*` allows all, since a page needs a key in any case and cookies do not count; empty allows none.',
  );

/** Headers of this service, and those of HTTP that tell of a reply. Scripts may read them. */
export const REPLY_HEADERS = [
  'deprecation',
  'etag',
  'idempotency-replayed',
  'link',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'sunset',
  'x-as-of',
  'x-as-of-events',
  'x-as-of-late-events',
  'x-next-since-token',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-read-position',
  'x-request-id',
] as const;
const EXPOSED = REPLY_HEADERS.join(', ');

/** Headers of requests besides those that scripts may always send. */
const REQUESTED = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'min-position',
  'traceparent',
  'x-request-id',
].join(', ');

/** The longest that a browser keeps one. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** Sends no `access-control-allow-credentials`: a browser never adds what its user did not give to the page. */
export const registerCrossOrigin = (app: FastifyInstance, origins: readonly string[]): void => {
  if (origins.length === 0) return;
  const isAny = origins.includes(ANY);
  const allowed = new Set(origins);
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    if (!isAny) reply.raw.setHeader('vary', 'origin');
    if (origin !== undefined && (isAny || allowed.has(origin))) {
      reply.raw.setHeader('access-control-allow-origin', isAny ? ANY : origin);
      reply.raw.setHeader('access-control-expose-headers', EXPOSED);
    }
    done();
  });
};

/** Answers `OPTIONS`, with what a preflight asks for when pages of its origin may call the API. */
export const replyToOptions = (request: FastifyRequest, reply: FastifyReply, methods: string): void => {
  reply.hijack();
  const { raw } = reply;
  raw.setHeader('allow', methods);
  if (
    request.headers['access-control-request-method'] !== undefined &&
    raw.hasHeader('access-control-allow-origin')
  ) {
    raw.setHeader('access-control-allow-methods', methods);
    raw.setHeader('access-control-allow-headers', REQUESTED);
    raw.setHeader('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS);
  }
  raw.writeHead(204).end();
};
