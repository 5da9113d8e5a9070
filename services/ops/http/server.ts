import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { ERRORS, Refusal } from '#contracts/errors.ts';
import { TimeUsedUp } from '#platform/concurrency/time-budget.ts';
import { giveTimeBudgets } from '#platform/http/request-budget.ts';
import { parseJsonAsUtf8, refuseInvalidUtf8 } from '#platform/http/utf8.ts';
import type { Log } from '#platform/logger.ts';
import { serverFaultOf } from '#platform/server-fault.ts';
import {
  type DeliveryDependencies,
  PRIVATE_HEADERS,
  registerCollectionRoutes,
  registerDeliveryRoutes,
  registerHistoryRoutes,
  registerLogRoutes,
  registerParkedRoutes,
  registerProjectionRoutes,
} from './routes.ts';
import type { AuditDependencies } from '../audit/history.ts';
import { registerConsole } from './console.ts';
import { type HealthDependencies, registerHealthRoutes } from './health.ts';
import { describeServerError } from '#platform/command-line.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Time limit of the route; `null` for streams, which have limits of their own. */
    readonly budgetMs?: number | null;
    /** Needs no token, and is not logged: health checks and the files of the console. */
    readonly open?: boolean;
  }
}

/** The port must not be public: one token gives access to everything. */
export type OpsServerInput = AuditDependencies &
  DeliveryDependencies &
  HealthDependencies & {
    readonly token: string;
    /** Second accepted token, for rotation. */
    readonly secondToken?: string | undefined;
    readonly log: Log;
    /** Default: `BUDGET_MS`. */
    readonly requestBudgetMs?: number;
  };

/** Time from arrival to reply; longer than a search of the log. */
const BUDGET_MS = 30_000;
/** Seconds after which a request may be sent again whose time was used up. */
const RETRY_SECONDS = 3;
const BODY_MAX_BYTES = 64 * 1024;
const HEADERS_MAX_BYTES = 16 * 1024;
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 5_000;
const TIMEOUT_CHECK_MS = 1_000;

/** Compares hashes in constant time, so that timing reveals neither length nor bytes of the token. */
const isToken = (authorization: string | undefined, token: string): boolean =>
  timingSafeEqual(hash('sha256', authorization ?? '', 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer'));

const timeIsOut = (): Refusal =>
  new Refusal(
    'overloaded',
    'The request was not done in time, because a server is slow or does not answer. Try again.',
    [],
    RETRY_SECONDS,
  );

const SERVER_FAULT = 'A server does not answer, or cannot serve the request now. Try again.';

const refusalOf = (error: unknown, log: Log, requestId: string): Refusal => {
  if (error instanceof Refusal) return error;
  if (error instanceof TimeUsedUp) return timeIsOut();
  const { statusCode = 500, message, name } = error as Error & { statusCode?: number };
  if (statusCode >= 400 && statusCode < 500) return new Refusal('invalid_input', message);
  // The client has disconnected, or the process is shutting down. Only in the second case does the client read this.
  if (name === 'AbortError') return new Refusal('internal', 'This process is shutting down. Try again.');
  const fault = describeServerError(error);
  if (serverFaultOf(error) !== null) {
    log.warn({ err: error, request_id: requestId }, 'request refused because of a server');
    return new Refusal('overloaded', fault ?? SERVER_FAULT, [], RETRY_SECONDS);
  }
  log.error({ err: error, request_id: requestId }, 'request failed');
  if (fault !== null) return new Refusal('internal', fault);
  return new Refusal('internal', 'Internal error. Try again; if it persists, report the `request_id`.');
};

const refuse = (error: unknown, log: Log, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const { code, message, details, retryAfterSeconds } = refusalOf(error, log, request.id);
  const { type, status } = ERRORS[code];
  if (retryAfterSeconds !== null) void reply.header('retry-after', String(retryAfterSeconds));
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  return reply
    .status(status)
    .header('x-request-id', request.id)
    .send({
      error: { type, message, status, request_id: request.id, ...(details.length > 0 ? { details } : {}) },
    });
};

/** Creates the server without listening. Closing it ends its streams, but does not close its dependencies. */
export const buildOps = ({
  token,
  secondToken,
  log,
  requestBudgetMs = BUDGET_MS,
  ...dependencies
}: OpsServerInput): FastifyInstance => {
  const isOperator = (authorization: string | undefined): boolean =>
    isToken(authorization, token) || (secondToken !== undefined && isToken(authorization, secondToken));
  const ending = new AbortController();
  const app = fastify({
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    exposeHeadRoutes: false,
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    frameworkErrors: (error, request, reply) => {
      void refuse(error, log, request, reply);
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    if (!request.routeOptions.config.open) void reply.headers(PRIVATE_HEADERS);
    if (!request.routeOptions.config.open && !isOperator(request.headers.authorization)) {
      throw new Refusal('unauthorized', 'Send the operator token as `authorization: Bearer …`.');
    }
  });
  refuseInvalidUtf8(app);
  parseJsonAsUtf8(app);
  giveTimeBudgets(app, {
    budgetOf: ({ routeOptions: { config } }) =>
      config.budgetMs === undefined ? requestBudgetMs : config.budgetMs,
    answerLate: (request, reply) => void refuse(timeIsOut(), log, request, reply),
  });
  app.addHook('onResponse', async ({ id, method, url, routeOptions }, reply) => {
    if (routeOptions.config.open) return;
    log.info({ request_id: id, method, url, status: reply.statusCode }, 'request');
  });
  app.setErrorHandler((error, request, reply) => refuse(error, log, request, reply));
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'Path not found.');
  });
  registerHealthRoutes(app, dependencies);
  registerConsole(app);
  registerHistoryRoutes(app, { ...dependencies, log, requestBudgetMs }, ending.signal);
  registerDeliveryRoutes(app, dependencies);
  registerProjectionRoutes(app, dependencies);
  registerParkedRoutes(app, dependencies);
  registerCollectionRoutes(app, dependencies);
  registerLogRoutes(app, dependencies, ending.signal);
  app.addHook('preClose', async () => ending.abort());
  return app;
};
