import { fastify, type FastifyInstance } from 'fastify';
import { REQUEST_BUDGET_MS } from '#platform/concurrency/time-budget.ts';
import { giveTimeBudgets } from '#platform/http/request-budget.ts';
import { refuseInvalidUtf8 } from '#platform/http/utf8.ts';
import { closeIdleConnections } from '#platform/process/close-idle-connections.ts';
import { CALL_BUDGET_MS } from './calls/call-limits.ts';
import { MCP_PATH, type McpEndpoint, registerMcpEndpoint } from './transport.ts';

/** Longer than the time of a request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle timeout of load balancers, so that they close a connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Milliseconds without a byte while a request is in progress, such as of a client that reads no reply. */
const CLIENT_SILENCE_MS = 300_000;
const HEADERS_MAX_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** Interval of the check for timed-out connections. */
const TIMEOUT_CHECK_MS = 1_000;

export type AppOptions = {
  /** Proxies whose word about the address of a client counts: addresses or ranges. */
  readonly trustedProxies?: readonly string[];
  /** Milliseconds of a request, from its arrival to its reply; those of `time-budget.ts` when absent. */
  readonly requestBudgetMs?: number;
  /** The same for a request to `/mcp`; those of `call-limits.ts` when absent. */
  readonly callBudgetMs?: number;
  /** Registers further routes, such as the authorization server. */
  readonly routes?: readonly ((app: FastifyInstance) => Promise<void>)[];
};

/** Builds the HTTP server of the process. It does not listen yet. */
export const buildMcpApp = async (
  endpoint: McpEndpoint,
  {
    trustedProxies = [],
    requestBudgetMs = REQUEST_BUDGET_MS,
    callBudgetMs = CALL_BUDGET_MS,
    routes = [],
  }: AppOptions = {},
): Promise<FastifyInstance> => {
  const app = fastify({
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CLIENT_SILENCE_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    return503OnClosing: false,
    exposeHeadRoutes: false,
  });
  const closeIdle = closeIdleConnections(app.server);
  app.addHook('preClose', async () => closeIdle());
  refuseInvalidUtf8(app);
  giveTimeBudgets(app, {
    budgetOf: ({ routeOptions }) => (routeOptions.url === MCP_PATH ? callBudgetMs : requestBudgetMs),
  });
  await registerMcpEndpoint(app, endpoint);
  for (const register of routes) await register(app);
  return app;
};
