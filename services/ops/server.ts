import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { ERRORS, Refusal } from '#contracts/errors.ts';
import type { Log } from '#platform/log.ts';
import type { AuditRoom } from './audit/history.ts';
import { registerHistoryRoutes } from './history-routes.ts';

/** What operators and auditors ask over HTTP. The port is no public one; the token is one for all of it. */
export type OpsServerInput = AuditRoom & { readonly token: string; readonly log: Log };

/** The only path that needs no token. */
const HEALTH_PATH = '/healthz';

/** Of hashes, so that neither the length nor the bytes of the token show in how long it takes. */
const isToken = (authorization: string | undefined, token: string): boolean =>
  timingSafeEqual(hash('sha256', authorization ?? '', 'buffer'), hash('sha256', `Bearer ${token}`, 'buffer'));

const refusalOf = (error: unknown, log: Log, requestId: string): Refusal => {
  if (error instanceof Refusal) return error;
  const { statusCode = 500, message } = error as Error & { statusCode?: number };
  if (statusCode >= 400 && statusCode < 500) return new Refusal('invalid_input', message);
  log.error({ err: error, request_id: requestId }, 'request failed');
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
export const buildOps = ({ token, log, ...room }: OpsServerInput): FastifyInstance => {
  const ending = new AbortController();
  const app = fastify({
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // A broken address is met before any hook.
    frameworkErrors: (error, request, reply) => {
      void refuse(error, log, request, reply);
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    if (request.url !== HEALTH_PATH && !isToken(request.headers.authorization, token)) {
      throw new Refusal('unauthorized', 'Send the operator token as `authorization: Bearer …`.');
    }
  });
  app.addHook('onResponse', async ({ id, method, url }, reply) => {
    if (url !== HEALTH_PATH) log.info({ request_id: id, method, url, status: reply.statusCode }, 'request');
  });
  app.setErrorHandler((error, request, reply) => refuse(error, log, request, reply));
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'There is no such path.');
  });
  app.get(HEALTH_PATH, () => ({ status: 'ok' }));
  registerHistoryRoutes(app, room, ending.signal);
  app.addHook('preClose', async () => ending.abort());
  return app;
};
