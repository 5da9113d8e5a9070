import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { Refusal } from '#contracts/errors.ts';
import { openCallers } from '#application/access/key-lease-cache.ts';
import { createKeyUsage } from '#application/access/key-usage.ts';
import { requestMeter } from '#platform/telemetry/metrics.ts';
import { createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { openSigningSecrets } from '#application/vault/signing-secrets.ts';
import { createCursors } from '#operations/dependencies/cursors.ts';
import { registerDocumentation } from './docs-page.ts';
import { createDownloadLinks } from '#operations/dependencies/download-links.ts';
import { registerDownloads } from './download-route.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { createRequestContext, type RequestContext } from './request-context.ts';
import { createIdempotencyStore } from '../idempotency/idempotency-store.ts';
import {
  READ_PIPELINE,
  refusalPipeline,
  runPipeline,
  type Step,
  WRITE_PIPELINE,
} from './request-pipeline.ts';
import { createRateLimiter } from '#operations/dependencies/rate-limiter.ts';
import { requestIdOf } from './request-id.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { createScrapeRequests } from '#operations/dependencies/scrape-requests.ts';
import { JSON_CONTENT } from './send-reply.ts';
import { errorBody, sendError } from './send-error.ts';
import { createReadCoalescing } from '#operations/dependencies/read-coalescing.ts';
import { traceRequest } from './trace-request.ts';
import type { MemberVault } from '#application/vault/member-vault.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';

/** A body of this API names a handful of ids. */
const BODY_MAX_BYTES = 64 * 1024;
/** Twice as long as a domain can be, as slugs are. Of what is shorter, the contract says what is wrong with it. */
const PATH_PARAMETER_MAX_LENGTH = 512;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than load balancers keep idle connections, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** A key, cursors and a trace are far from it. */
const HEADERS_MAX_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often connections are looked at for what took too long; and, while it ends, for those that are idle. */
const TIMEOUT_CHECK_MS = 1_000;
const CLOSE_IDLE_EVERY_MS = 50;

/** What a server is built on; the rest it makes itself. */
export type ApiResources = Pick<
  ApiDependencies,
  | 'db'
  | 'pool'
  | 'eventStore'
  | 'projectionWait'
  | 'objectStore'
  | 'alertChannels'
  | 'baseUrl'
  | 'clock'
  | 'log'
> & {
  /** May still be connecting: reads and writes do not wait for it. */
  readonly nats: Promise<Nats>;
  readonly cursorSecret: string;
  /** Signs the addresses of files. */
  readonly downloadSecret: string;
  /** Accepted too, while secrets change. */
  readonly secondSecrets?: { readonly cursor?: string | undefined; readonly download?: string | undefined };
  readonly memberVault?: MemberVault | null;
  readonly secretVault?: SecretVault | null;
};

const createDependencies = ({
  nats,
  cursorSecret,
  downloadSecret,
  secondSecrets = {},
  memberVault = null,
  secretVault = null,
  ...given
}: ApiResources): ApiDependencies => {
  const rateLimiter = createRateLimiter(given.clock);
  nats.then(
    ({ connection }) => rateLimiter.share(connection),
    (error: unknown) => given.log.warn({ err: error }, 'no NATS: request counts are not shared'),
  );
  return {
    ...given,
    workspaceCommands: createWorkspaceCommands(given),
    memberVault,
    secretVault,
    signingSecrets: secretVault && openSigningSecrets(given.eventStore, secretVault),
    rateLimiter,
    callers: openCallers(given.db),
    keyUsage: createKeyUsage(given.pool, given.log),
    cursors: createCursors(cursorSecret, secondSecrets.cursor),
    downloadLinks: createDownloadLinks(downloadSecret, given.baseUrl, secondSecrets.download),
    idempotencyStore: createIdempotencyStore(given.pool),
    scrapeRequests: createScrapeRequests(nats, given.log),
    coalesceReads: createReadCoalescing(),
  };
};

/** What no endpoint answers: it is counted, and took no time to speak of. */
const meterNone = requestMeter('none');

const routeOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** One line per request; the key itself is in none. */
const logRequest = (dependencies: ApiDependencies, context: RequestContext): void => {
  const since = performance.now();
  const { raw } = context.reply;
  raw.once('close', () => {
    dependencies.log.info(
      {
        request_id: context.requestId,
        operation: context.endpoint.operationId,
        status: raw.statusCode,
        duration_ms: Math.round((performance.now() - since) * 100) / 100,
        workspace_id: context.caller?.workspaceId,
        key_id: context.caller?.keyId,
      },
      'request',
    );
  });
};

const NOT_SERVED = new Refusal('not_found', 'Nothing is served here by this method. See /docs.');

/** What Fastify itself refuses, before any endpoint: a body too large, a broken address. */
const refusalOf = (error: unknown): unknown => {
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  if (status < 400 || status >= 500) return error;
  const { message, code = 'bad_request' } = error as Error & { code?: string };
  return new Refusal('invalid_input', message, [{ path: '', message, code: code.toLowerCase() }]);
};

/** Bytes that are no HTTP get the same error body; there is no request to speak of. */
const answerBrokenRequest = (_error: unknown, socket: Socket): void => {
  if (!socket.writable) return;
  const requestId = requestIdOf(undefined);
  const message = 'This is not an HTTP request that can be read.';
  const body = errorBody('bad_request', 400, message, requestId, [{ path: '', message, code: 'not_http' }]);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: ${JSON_CONTENT}\r\nx-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
};

/** The API as a Fastify instance, not yet listening. Closing it leaves what it was given open. */
export const buildApi = (resources: ApiResources): FastifyInstance => {
  const dependencies = createDependencies(resources);
  const { log } = dependencies;
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    sendError(reply, requestId, error, log);
    log.info({ request_id: requestId, status: reply.raw.statusCode }, 'request');
    meterNone(reply.raw.statusCode, 0);
  };

  const app = fastify({
    bodyLimit: BODY_MAX_BYTES,
    routerOptions: { maxParamLength: PATH_PARAMETER_MAX_LENGTH },
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Node's own refusals have no body. The contract has one for a request without a host.
      requireHostHeader: false,
    },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) =>
      refuse(request as FastifyRequest, reply as FastifyReply, refusalOf(error)),
  });

  // Bodies are taken as text whatever their type; the contract says what is wrong with them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, request, reply) =>
    refuse(request, reply, request.is404 ? NOT_SERVED : refusalOf(error)),
  );
  app.setNotFoundHandler((request, reply) => refuse(request, reply, NOT_SERVED));
  // What a client expects beyond `100-continue` it may do without (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });

  for (const endpoint of ENDPOINTS) {
    const steps = endpoint.method === 'GET' ? READ_PIPELINE : WRITE_PIPELINE;
    const meter = requestMeter(endpoint.operationId);
    const run = (pipeline: readonly Step[], request: FastifyRequest, reply: FastifyReply): void => {
      const requestId = requestIdOf(request.headers['x-request-id']);
      const context = createRequestContext(
        endpoint,
        request,
        reply,
        requestId,
        dependencies.clock.now().getTime(),
      );
      if (log.isLevelEnabled('info')) logRequest(dependencies, context);
      void traceRequest(context, () => runPipeline(pipeline, context, dependencies, meter));
    };
    app.route({
      method: endpoint.method,
      url: routeOf(endpoint.path),
      handler: (request, reply) => run(steps, request, reply),
      // A body that cannot be read.
      errorHandler: (error, request, reply) => {
        const refused = (): never => {
          throw refusalOf(error);
        };
        run(refusalPipeline(refused), request, reply);
      },
    });
  }
  registerDownloads(app, dependencies);
  registerDocumentation(app, dependencies.baseUrl);

  // A connection that had a request in flight when the server stopped listening would be kept alive after its answer.
  app.addHook('preClose', async () => {
    const closing = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    app.server.once('close', () => clearInterval(closing));
    closing.unref();
  });
  app.addHook('onClose', async () => {
    dependencies.rateLimiter[Symbol.dispose]();
    dependencies.idempotencyStore[Symbol.dispose]();
    await dependencies.keyUsage[Symbol.asyncDispose]();
  });
  return app;
};
