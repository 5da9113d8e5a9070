import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { ERRORS, Refusal } from '#contracts/errors.ts';
import type { Log } from '#platform/logger.ts';
import { PRIVATE_HEADERS } from './reply.ts';
import type { AuditDependencies } from '../audit/history.ts';
import { registerConsole } from './routes/console.ts';
import { type DeliveryDependencies, registerDeliveryRoutes } from './routes/deliveries.ts';
import { type HealthDependencies, registerHealthRoutes } from './routes/health.ts';
import { registerHistoryRoutes } from './routes/history.ts';
import { registerLogRoutes } from './routes/log.ts';
import { registerParkedRoutes } from './routes/parked.ts';
import { registerProjectionRoutes } from './routes/projections.ts';
import { serverFault } from '../cli/describe-error.ts';
import { registerWorkspaceRoutes } from './routes/workspaces.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a token, and is not logged: what an orchestrator asks, and the files of the console. */
    readonly open?: boolean;
  }
}

/** What operators and auditors ask over HTTP. The port is no public one; the token is one for all of it. */
export type OpsServerInput = AuditDependencies &
  DeliveryDependencies &
  HealthDependencies & {
    readonly token: string;
    /** Accepted too, while tokens change. */
    readonly secondToken?: string | undefined;
    readonly log: Log;
  };

/** A body of an operator names ids, or says since when. */
const BODY_MAX_BYTES = 64 * 1024;
const HEADERS_MAX_BYTES = 16 * 1024;
/** An operator's request is in by then; what is followed is an answer, and has no limit. */
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 5_000;
/** How often connections are looked at for these. */
const TIMEOUT_CHECK_MS = 1_000;

/** Of hashes, so that neither the length nor the bytes of the token show in how long it takes. */
const isToken = (authorization: string | undefined, token: string): boolean =>
  timingSafeEqual(hash('sha256', authorization ?? '', 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer'));

const refusalOf = (error: unknown, log: Log, requestId: string): Refusal => {
  if (error instanceof Refusal) return error;
  const { statusCode = 500, message, name } = error as Error & { statusCode?: number };
  if (statusCode >= 400 && statusCode < 500) return new Refusal('invalid_input', message);
  // Nobody is left to read this but one who asked while the process is being ended.
  if (name === 'AbortError') return new Refusal('internal', 'This process is ending. Ask again.');
  log.error({ err: error, request_id: requestId }, 'request failed');
  const fault = serverFault(error);
  if (fault !== null) return new Refusal('internal', fault);
  return new Refusal('internal', 'Something failed here. Try again and report the request_id.');
};

/** The error body of the API. */
const refuse = (error: unknown, log: Log, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const { code, message, details } = refusalOf(error, log, request.id);
  const { type, status } = ERRORS[code];
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  return reply
    .status(status)
    .header('x-request-id', request.id)
    .send({
      error: { type, message, status, request_id: request.id, ...(details.length > 0 ? { details } : {}) },
    });
};

/** Not yet listening. Closing it ends what is being followed, and leaves what it was given open. */
export const buildOps = ({ token, secondToken, log, ...dependencies }: OpsServerInput): FastifyInstance => {
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
    // A broken address is met before any hook.
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
  app.addHook('onResponse', async ({ id, method, url, routeOptions }, reply) => {
    if (routeOptions.config.open) return;
    log.info({ request_id: id, method, url, status: reply.statusCode }, 'request');
  });
  app.setErrorHandler((error, request, reply) => refuse(error, log, request, reply));
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'There is no such path.');
  });
  registerHealthRoutes(app, dependencies);
  registerConsole(app);
  registerWorkspaceRoutes(app, dependencies, ending.signal);
  registerHistoryRoutes(app, { ...dependencies, log }, ending.signal);
  registerDeliveryRoutes(app, dependencies);
  registerProjectionRoutes(app, dependencies);
  registerParkedRoutes(app, dependencies);
  registerLogRoutes(app, dependencies, ending.signal);
  app.addHook('preClose', async () => ending.abort());
  return app;
};
