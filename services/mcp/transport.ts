import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server';
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { ERRORS } from '#contracts/errors.ts';
import { overloadOf } from '#operations/endpoint/overload.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { createRefusedRequests } from '#application/access/request-counts.ts';
import { bearerOf } from '#platform/http/request-headers.ts';
import { requestMeter } from '#platform/telemetry/metrics.ts';
import { parseUtf8Body } from '#platform/http/utf8.ts';
import type { McpCall, McpDependencies } from './calls/call.ts';
import { createCallSlots, takeRequests } from './calls/call-limits.ts';
import {
  createOriginGuard,
  INVALID_REQUEST,
  PARSE_ERROR,
  sendPreflight,
  sendRpcError,
  sendUnauthorized,
} from './http/guards.ts';
import { createMcpServer, type McpOptions } from './server.ts';
import type { VerifyAccessToken } from './sign-in/verify-access-token.ts';
import { costOfMessage } from './calls/cost-of-message.ts';

/** Users often type the path with a slash at its end. */
export const MCP_PATHS: readonly string[] = ['/mcp', '/mcp/'];
export const MESSAGE_MAX_BYTES = 64 * 1024;
const RETRY_SOON_SECONDS = '1';
const JSON_CONTENT = /^application\/json\s*(;|$)/i;

export type McpEndpoint = McpOptions & {
  readonly baseUrl: string;
  readonly allowedOrigins: readonly string[];
  readonly verifyAccessToken: VerifyAccessToken;
  readonly dependencies: McpDependencies;
  /** Only tests replace it. */
  readonly createServer?: typeof createMcpServer;
  readonly refusedPerMinute?: number;
  /** Only tests replace it. `json` (default) never streams. */
  readonly responseMode?: 'json' | 'auto';
};

type RpcMessage = { readonly method?: unknown; readonly params?: unknown };

/** Identifies a call in logs without its arguments, which may hold personal text. */
const describe = ({ method, params }: RpcMessage): { method: string; tool?: string } => {
  const name = (params as { name?: unknown } | undefined)?.name;
  return {
    method: typeof method === 'string' ? method.slice(0, 64) : 'none',
    ...(method === 'tools/call' && typeof name === 'string' ? { tool: name.slice(0, 64) } : {}),
  };
};

/** Registers `MCP_PATHS` for both revisions of the protocol. */
export const registerMcpEndpoint = async (app: FastifyInstance, endpoint: McpEndpoint): Promise<void> => {
  const { baseUrl, allowedOrigins, verifyAccessToken, dependencies, hasWrites } = endpoint;
  const { createServer = createMcpServer, responseMode = 'json', refusedPerMinute } = endpoint;
  const { log, clock, requestCounts, keyUsage } = dependencies;
  const slots = createCallSlots();
  const refusedRequests = createRefusedRequests(requestCounts, 'mcp', refusedPerMinute);
  const meter = requestMeter('mcp');
  const calls = new WeakMap<AuthInfo, McpCall>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const call = authInfo && calls.get(authInfo);
      if (!call) throw new Error('no caller: the transport must authenticate first');
      return createServer(call, { hasWrites }, dependencies);
    },
    { responseMode, onerror: (error) => log.debug({ err: error }, 'message refused') },
  );
  const serve = toNodeHandler(handler, {
    onerror: (error) => log.error({ err: error }, 'message failed'),
  });
  app.addHook('onClose', () => handler.close());

  const authInfoOf = (token: string, call: McpCall): AuthInfo => {
    const authInfo: AuthInfo = {
      token,
      clientId: call.caller.keyId,
      scopes: [...call.caller.scopes],
      resourceMetadataUrl: `${baseUrl}/.well-known/oauth-protected-resource/mcp`,
    };
    calls.set(authInfo, call);
    return authInfo;
  };

  const post = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const since = performance.now();
    const requestId = randomUUID();
    reply.raw.setHeader('x-request-id', requestId);
    let caller: Caller | null = null;
    let message: RpcMessage = {};
    reply.raw.once('close', () => {
      const seconds = (performance.now() - since) / 1_000;
      meter(reply.raw.statusCode, seconds);
      const { workspaceId, keyId } = caller ?? {};
      const identity = { request_id: requestId, workspace_id: workspaceId, connection_id: keyId };
      const outcome = { status: reply.raw.statusCode, duration_ms: Math.round(seconds * 1e5) / 100 };
      log.info({ ...identity, ...describe(message), ...outcome }, 'request');
    });

    const { authorization = '' } = request.headers;
    const token = bearerOf(request.headers);
    const counted = refusedRequests.enter(request.ip, token);
    if (counted !== null && typeof counted !== 'string') {
      const text = `Too many requests without a valid access token from this address. Try again in ${counted.resetIn} s.`;
      return sendRpcError(reply, 429, text, undefined, { 'retry-after': String(counted.resetIn) });
    }
    if (token !== undefined) {
      caller = await verifyAccessToken(token).catch((error: unknown) => {
        refusedRequests.cancel(counted);
        throw error;
      });
    }
    if (token === undefined || !caller) {
      refusedRequests.refuse(request.ip, token, counted);
      return sendUnauthorized(reply, baseUrl, authorization !== '');
    }
    refusedRequests.accept(token, counted);
    if (!JSON_CONTENT.test(request.headers['content-type'] ?? '')) {
      return sendRpcError(reply, 415, 'Send `content-type: application/json`.');
    }
    let body: unknown;
    try {
      body = JSON.parse(request.body as string);
    } catch {
      return sendRpcError(reply, 400, 'The body is not JSON.', PARSE_ERROR);
    }
    if (body === null || typeof body !== 'object' || Array.isArray(body)) {
      return sendRpcError(reply, 400, 'Send one JSON-RPC message, not a list or a value.', INVALID_REQUEST);
    }
    message = body;

    const release = slots.take(caller.keyId);
    if (!release) {
      const headers = { 'retry-after': RETRY_SOON_SECONDS };
      return sendRpcError(
        reply,
        429,
        'Too many calls at once. Wait until one has ended.',
        undefined,
        headers,
      );
    }
    reply.raw.once('close', release);
    const allowance = takeRequests(caller, costOfMessage(message), requestCounts);
    if (allowance && !allowance.allowed) {
      const text = `Rate limit exceeded. Try again in ${allowance.resetIn} s.`;
      return sendRpcError(reply, 429, text, undefined, { 'retry-after': String(allowance.resetIn) });
    }
    const call = { caller, requestId, now: clock.now().getTime() };
    keyUsage.record(caller, call.now);
    reply.hijack();
    reply.raw.setHeader('cache-control', 'no-store');
    const raw = Object.assign(request.raw, { auth: authInfoOf(token, call) });
    await serve(raw as NodeIncomingMessageLike, reply.raw, body);
    return reply;
  };

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MESSAGE_MAX_BYTES }, parseUtf8Body);
    scope.setErrorHandler((error: { readonly statusCode?: number }, request, reply) => {
      const refusal = overloadOf(error);
      if (refusal !== null) {
        const headers = { 'retry-after': String(refusal.retryAfterSeconds) };
        return sendRpcError(reply, ERRORS[refusal.code].status, refusal.message, undefined, headers);
      }
      const status = error.statusCode ?? 500;
      if (status === 413)
        return sendRpcError(reply, 413, `A message has at most ${MESSAGE_MAX_BYTES} bytes.`);
      if (status < 500) return sendRpcError(reply, 400, 'The request cannot be read.', INVALID_REQUEST);
      log.error({ err: error, request_id: request.id }, 'request failed');
      return sendRpcError(reply, 500, 'Internal error. Try again.');
    });
    scope.addHook('onRequest', createOriginGuard(baseUrl, allowedOrigins));
    for (const url of MCP_PATHS) {
      scope.post(url, post);
      scope.options(url, sendPreflight);
      scope.route({
        method: ['GET', 'DELETE'],
        url,
        handler: (_request, reply) =>
          sendRpcError(reply, 405, 'Send POST: this service keeps no sessions.', undefined, {
            allow: 'POST',
          }),
      });
    }
  });
};
