import type { FastifyInstance } from 'fastify';
import { REQUEST_BUDGET_MS, TimeUsedUp } from '#platform/concurrency/time-budget.ts';
import { createHttpServer } from '#platform/http/http-server.ts';
import { giveTimeBudgets } from '#platform/http/request-budget.ts';
import { refuseInvalidUtf8 } from '#platform/http/utf8.ts';
import { CALL_BUDGET_MS } from './calls/call-limits.ts';
import { INVALID_REQUEST, sendRpcError } from './http/guards.ts';
import { MCP_PATHS, MESSAGE_MAX_BYTES, type McpEndpoint, registerMcpEndpoint } from './transport.ts';

/** Longer than the time limit of a request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Timeout of a connection without traffic during a request, as when a client reads no reply. */
const CLIENT_SILENCE_MS = 300_000;
/** The longest path parameter is a token of 43 characters. */
const PATH_PARAMETER_MAX_LENGTH = 100;

export type AppOptions = {
  /** Proxies whose address headers are trusted: addresses or ranges. */
  readonly trustedProxies?: readonly string[];
  /** Default: `time-budget.ts`. */
  readonly requestBudgetMs?: number;
  /** Default: `call-limits.ts`. */
  readonly callBudgetMs?: number;
  /** Registers routes that belong to other parts, such as the authorization server. */
  readonly routes?: readonly ((app: FastifyInstance) => Promise<void>)[];
};

export const buildMcpApp = async (
  endpoint: McpEndpoint,
  {
    trustedProxies = [],
    requestBudgetMs = REQUEST_BUDGET_MS,
    callBudgetMs = CALL_BUDGET_MS,
    routes = [],
  }: AppOptions = {},
): Promise<FastifyInstance> => {
  const app = createHttpServer({
    bodyMaxBytes: MESSAGE_MAX_BYTES,
    pathParameterMaxLength: PATH_PARAMETER_MAX_LENGTH,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    clientSilenceMs: CLIENT_SILENCE_MS,
    trustedProxies,
    onFrameworkError: (_request, reply) =>
      void sendRpcError(reply, 400, 'The request cannot be read.', INVALID_REQUEST),
  });
  refuseInvalidUtf8(app);
  giveTimeBudgets(app, {
    budgetOf: ({ routeOptions }) =>
      MCP_PATHS.includes(routeOptions.url ?? '') ? callBudgetMs : requestBudgetMs,
    // The error handler of the route words it. Replies of the SDK and of the provider are hijacked and end by themselves.
    answerLate: (_request, reply) => {
      if (!reply.sent) void reply.send(new TimeUsedUp());
    },
  });
  await registerMcpEndpoint(app, endpoint);
  for (const register of routes) await register(app);
  return app;
};
