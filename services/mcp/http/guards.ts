import type { FastifyReply, FastifyRequest } from 'fastify';
import { READ_SCOPES_OFFERED } from './offered-scopes.ts';

/** JSON-RPC codes of requests that reach no server. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
const REFUSED = -32000;

/** Sends a JSON-RPC error without an id, because the request was not read or not accepted. */
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

/**
 * Sends 401 with where to sign in (RFC 9728, section 5.1). No `error` when no token was sent (RFC 6750, section 3.1).
 */
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

/**
 * Checks `Host` and `Origin` against DNS rebinding: the host of the base URL, and, where a browser sends an origin,
 * that of the base URL or an allowed one.
 */
export const createOriginGuard = (baseUrl: string, allowedOrigins: readonly string[]) => {
  const { host, origin: own } = new URL(baseUrl);
  const origins = new Set([own, ...allowedOrigins]);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { origin } = request.headers;
    if (request.headers.host !== host) {
      await sendRpcError(reply, 403, `The host of this service is ${host}.`);
    } else if (origin !== undefined && !origins.has(origin)) {
      await sendRpcError(reply, 403, 'This origin may not call this service (`MCP_ALLOWED_ORIGINS`).');
    }
  };
};
