import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { SCOPES } from '#contracts/values/access.ts';

/** Initial scopes: all reads except those of API keys. Clients ask for writes when they need them. */
export const READ_SCOPES_OFFERED = SCOPES.filter(
  (scope) => scope.endsWith(':read') && scope !== 'apiKeys:read',
);

/** JSON-RPC codes of requests that reach no server. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
const REFUSED = -32000;

export const sendRpcError = (
  reply: FastifyReply,
  status: number,
  message: string,
  code: number = REFUSED,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply =>
  reply
    .code(status)
    .headers({ 'cache-control': 'no-store', ...headers })
    .send({ jsonrpc: '2.0', id: null, error: { code, message } });

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '')}"`;

/** RFC 9728, section 5.1. Without a token no `error` is sent (RFC 6750, section 3.1). */
export const sendUnauthorized = (
  reply: FastifyReply,
  baseUrl: string,
  isTokenSent: boolean,
): FastifyReply => {
  const parameters = [
    ...(isTokenSent
      ? ['error="invalid_token"', 'error_description="The access token is not valid here."']
      : []),
    `resource_metadata=${quoted(`${baseUrl}/.well-known/oauth-protected-resource/mcp`)}`,
    `scope=${quoted(READ_SCOPES_OFFERED.join(' '))}`,
  ];
  return sendRpcError(reply, 401, 'Sign in: this needs an access token of this service.', REFUSED, {
    'www-authenticate': `Bearer ${parameters.join(', ')}`,
  });
};

/** Headers that clients of both revisions send. */
const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-session-id',
  'last-event-id',
  'mcp-method',
  'mcp-name',
].join(', ');
const EXPOSED_HEADERS = [
  'www-authenticate',
  'mcp-session-id',
  'mcp-protocol-version',
  'retry-after',
  'x-request-id',
].join(', ');
/** Chromium caches a preflight no longer. */
const PREFLIGHT_KEPT_SECONDS = 7_200;

/** Runs after the origin guard (Fetch standard, section 3.3). */
export const sendPreflight = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply
    .code(204)
    .headers({
      'access-control-allow-methods': 'POST, GET, DELETE',
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': String(PREFLIGHT_KEPT_SECONDS),
    })
    .send();

/** Checks `Host` and `Origin` against DNS rebinding. Pages of `baseUrl` and of allowed origins may read replies. */
export const createOriginGuard = (baseUrl: string, allowedOrigins: readonly string[]) => {
  const { host, origin: own } = new URL(baseUrl);
  const origins = new Set([own, ...allowedOrigins]);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { origin } = request.headers;
    // On the raw reply, because the protocol writes its replies to that.
    reply.raw.setHeader('vary', 'origin');
    if (request.headers.host !== host) {
      await sendRpcError(reply, 403, `The host of this service is ${host}.`);
    } else if (origin !== undefined && !origins.has(origin)) {
      await sendRpcError(reply, 403, 'This origin may not call this service (`MCP_ALLOWED_ORIGINS`).');
    } else if (origin !== undefined) {
      reply.raw.setHeader('access-control-allow-origin', origin);
      reply.raw.setHeader('access-control-expose-headers', EXPOSED_HEADERS);
    }
  };
};

const MINUTE_MS = 60_000;
/** Above this, the least recently seen address is dropped. */
const ADDRESSES_MAX = 50_000;

/** Each process counts alone: this limit only stops floods. */
export type AddressLimit = {
  /** Returns 0, or the seconds to wait. */
  take(address: string): number;
};

/** Creates a limit of requests per minute and address. `now`: the monotonic clock, in milliseconds. */
export const createAddressLimit = (
  perMinute: number,
  now: () => number = () => performance.now(),
): AddressLimit => {
  const windows = new LRUCache<string, { readonly endsAt: number; count: number }>({ max: ADDRESSES_MAX });
  return {
    take: (address) => {
      const at = now();
      const current = windows.get(address);
      if (!current || current.endsAt <= at) {
        windows.set(address, { endsAt: at + MINUTE_MS, count: 1 });
        return 0;
      }
      current.count += 1;
      return current.count <= perMinute ? 0 : Math.ceil((current.endsAt - at) / 1_000);
    },
  };
};
