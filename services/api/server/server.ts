import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import underPressure from '@fastify/under-pressure';
import type { Clock } from '#platform/clock.ts';
import { type BotKey, DIRECTORY_VALID_MS, KEY_DIRECTORY_PATH } from '#platform/http-client/bot-key.ts';
import { requestMeter } from '#platform/telemetry/metrics.ts';
import { inSpan, isTracing } from '#platform/telemetry/tracing.ts';
import { type DetailCode, type ErrorCode, isDetailCode, Refusal } from '#contracts/errors.ts';
import { type Allowance, createRefusedRequests } from '#application/access/request-counts.ts';
import { PLANS } from '#contracts/values/access.ts';
import { REQUEST_BUDGET_MS, waitsOf } from '#platform/concurrency/time-budget.ts';
import { createHttpServer, type Headers } from '#platform/http/http-server.ts';
import {
  type OperationResources,
  createOperationDependencies,
} from '#operations/dependencies/create-dependencies.ts';
import { type Deprecation, deprecationHeaders, type Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { bearerOf, requestIdOf } from '#platform/http/request-headers.ts';
import { parseUtf8Body } from '#platform/http/utf8.ts';
import { timeIsOut } from '#operations/endpoint/overload.ts';
import { type RequestContext, createRequestContext, addressRefusal } from './steps.ts';
import { registerCrossOrigin, replyToOptions } from './cross-origin.ts';
import { registerDocumentation } from './docs-page.ts';
import { registerLogDigests } from './log-digests.ts';
import { createFileLimit, registerDownloads, registerMedia, registerProofs } from './file-routes.ts';
import { createListStreams } from './list-formats.ts';
import { hasTestKey, openTestWorld, passToTestWorld } from './test-world.ts';
import { createIdempotencyStore } from '../idempotency.ts';
import {
  READ_PIPELINE,
  type Step,
  WRITE_PIPELINE,
  refusalPipeline,
  runRead,
  runWrite,
} from './request-pipeline.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { sendError } from './send-error.ts';

/**
 * Serves the collector's public key (Web Bot Auth), signed with the same key to prove that its owner publishes it
 * here.
 */
export const registerKeyDirectory = (app: FastifyInstance, botKey: BotKey | null, clock: Clock): void => {
  if (botKey === null) return;
  const meter = requestMeter('getKeyDirectory');
  app.get(KEY_DIRECTORY_PATH, { exposeHeadRoute: true }, async (request, reply) => {
    const since = performance.now();
    reply.raw.once('close', () => meter(reply.raw.statusCode, (performance.now() - since) / 1_000));
    const { headers, body } = await botKey.directory(request.host, clock.now());
    // A cached answer must not outlive its signature.
    const cacheControl = `public, max-age=${DIRECTORY_VALID_MS / 1_000 / 2}`;
    return reply.headers({ ...headers, 'cache-control': cacheControl }).send(Buffer.from(body));
  });
};

/** Continues the trace of the caller. Spans contain neither the key nor parameters. */
export const traceRequest = (context: RequestContext, run: () => Promise<void>): Promise<void> => {
  if (!isTracing()) return run();
  const { endpoint, request, reply, requestId } = context;
  const { traceparent } = request.headers;
  return inSpan(
    `${endpoint.method} ${endpoint.path}`,
    {
      kind: 'server',
      // A repeated header is ignored.
      parent: typeof traceparent === 'string' ? traceparent : undefined,
      attributes: {
        'http.request.method': endpoint.method,
        'http.route': endpoint.path,
        operation: endpoint.operationId,
        request_id: requestId,
      },
    },
    async (span) => {
      await run();
      span?.set({
        'http.response.status_code': reply.raw.statusCode,
        ...(context.caller ? { workspace_id: context.caller.workspaceId } : {}),
      });
    },
  );
};

/** Bodies of this API hold a few ids and short texts. */
const BODY_MAX_BYTES = 64 * 1024;
/** Twice the longest domain or slug, so that the contract refuses shorter values with details. */
const PATH_PARAMETER_MAX_LENGTH = 512;
const REQUEST_TIMEOUT_MS = 30_000;

export type ApiResources = OperationResources & {
  readonly refusedPerMinute?: number;
  /** Requests of every workspace; those of its plan when absent. */
  readonly requestsPerMinute?: number;
  /** Default: that of `time-budget.ts`. */
  readonly requestBudgetMs?: number;
  /** Limit of a light read and of the check of its key; `requestBudgetMs` when absent. */
  readonly readAnswerMs?: number | undefined;
  /** Average delay of the event loop from which reads are refused; no limit when absent. */
  readonly loopDelayMs?: number | undefined;
  /** Served endpoints; all of `ENDPOINTS` when absent. */
  readonly endpoints?: readonly Endpoint[];
  /** Rows of a list that is sent as rows; 10,000 when absent. */
  readonly rowsMax?: number;
  /** Origins of pages that may call the API, or `*`; none when absent. */
  readonly corsOrigins?: readonly string[];
  /** Proxies whose `x-forwarded-for` names the address of a client. */
  readonly trustedProxies?: readonly string[];
  /** Origin of the installation that gets requests with a test key. */
  readonly testWorldUrl?: string | undefined;
  /** Absent when the collector does not sign its requests. */
  readonly botKey?: BotKey | null;
};

const meterUnmatched = requestMeter('none');

const routeOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Does not log the API key. */
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

const isReadMethod = (method: string): boolean => method === 'GET' || method === 'HEAD';

const BUSY_RETRY_AFTER_SECONDS = 3;
const BUSY = new Refusal(
  'overloaded',
  `This server is busy and refuses reads. Try again in ${BUSY_RETRY_AFTER_SECONDS} s.`,
  [],
  BUSY_RETRY_AFTER_SECONDS,
);
/** The limits of Postgres end a light read this much earlier, because their error says more. */
const READ_MARGIN_MS = 250;

const ORIGIN_REFUSED = new Refusal(
  'not_yours',
  'Pages of this origin may not call this test world. Its operator can list the origin in CORS_ORIGINS.',
);
const HOST_REFUSED = new Refusal(
  'not_yours',
  'This test world is not reached by this host name. Its operator can list the origin of the name in CORS_ORIGINS.',
);
/** Names that no foreign server of names can lead elsewhere. */
const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const NOT_FOUND = new Refusal('not_found', 'No endpoint has this method and path. See /docs.');

const refusalOf = (code: ErrorCode & DetailCode, message: string): Refusal =>
  new Refusal(code, message, [{ path: '', message, code }]);

const BODY_TOO_LARGE = refusalOf(
  'body_too_large',
  `A body has at most ${BODY_MAX_BYTES} bytes. Send a smaller one, or several requests.`,
);
const PATH_TOO_LONG = refusalOf(
  'path_too_long',
  `A part of the path has at most ${PATH_PARAMETER_MAX_LENGTH} characters.`,
);

/** Converts errors of Fastify. Returns other errors unchanged. */
const toRefusal = (error: unknown): unknown => {
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  if (status < 400 || status >= 500) return error;
  if (status === 413) return BODY_TOO_LARGE;
  if (status === 414) return PATH_TOO_LONG;
  const { message, code: given = '' } = error as Error & { code?: string };
  const code = given.toLowerCase();
  return new Refusal('invalid_input', message, [
    { path: '', message, code: isDetailCode(code) ? code : 'bad_request' },
  ]);
};

/** Methods that a route may have; browsers send no other. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Collects the methods of each route that is registered from now on. */
const collectMethods = (app: FastifyInstance): ReadonlyMap<string, ReadonlySet<string>> => {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, new Set([...(methods.get(url) ?? []), ...[method].flat()]));
  });
  return methods;
};

const tellDeprecation = (deprecated: Deprecation): onRequestHookHandler => {
  const headers = new Map(Object.entries(deprecationHeaders(deprecated)));
  return (_request, reply, done) => {
    reply.raw.setHeaders(headers);
    done();
  };
};

/** Serves `/v1/brands/` as `/v1/brands`. */
const withoutLastSlash = (url: string): string => {
  const query = url.indexOf('?');
  const end = (query === -1 ? url.length : query) - 1;
  return url.startsWith('/v1/') && url[end] === '/' ? url.slice(0, end) + url.slice(end + 1) : url;
};

/** The server does not listen yet. Closing it leaves `resources` open. */
export const buildApi = (resources: ApiResources): FastifyInstance => {
  const operations = createOperationDependencies(resources);
  const { clock, trustedProxies } = resources;
  const dependencies: ApiDependencies = {
    ...operations,
    idempotencyStore: createIdempotencyStore(resources.pool),
    refusedRequests: createRefusedRequests(operations.requestCounts, 'api', resources.refusedPerMinute),
    requestBudgetMs: resources.requestBudgetMs ?? REQUEST_BUDGET_MS,
    requestsPerMinute: (plan) => resources.requestsPerMinute ?? PLANS[plan].requestsPerMinute,
    limitFiles: createFileLimit(),
    listStreams: createListStreams(resources.rowsMax),
    testWorld: resources.testWorldUrl === undefined ? null : openTestWorld(resources.testWorldUrl),
  };
  const { log } = dependencies;
  const sendRefusal = (
    request: FastifyRequest,
    reply: FastifyReply,
    error: unknown,
    context: { readonly allowance?: Allowance; readonly headers?: Headers } = {},
  ): void => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    sendError(reply, requestId, error, log, context);
    log.info({ request_id: requestId, status: reply.raw.statusCode }, 'request');
    meterUnmatched(reply.raw.statusCode, 0);
  };

  const longReadMs = waitsOf(dependencies.requestBudgetMs);
  const lightReadMs = Math.min(longReadMs, (resources.readAnswerMs ?? longReadMs) + READ_MARGIN_MS);
  const app = createHttpServer({
    bodyMaxBytes: BODY_MAX_BYTES,
    pathParameterMaxLength: PATH_PARAMETER_MAX_LENGTH,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    ...(trustedProxies ? { trustedProxies } : {}),
    rewriteUrl: withoutLastSlash,
    onFrameworkError: (request, reply, error) => sendRefusal(request, reply, toRefusal(error)),
  });

  if (resources.loopDelayMs !== undefined) {
    app.register(underPressure, {
      maxEventLoopDelay: resources.loopDelayMs,
      // Commands go on, so that a key can always be revoked. A process that was stopped for a whole interval has no
      // measurement: its delay is infinite.
      pressureHandler: (request, reply, _type, delayMs) => {
        if (isReadMethod(request.method) && Number.isFinite(delayMs)) sendRefusal(request, reply, BUSY);
      },
    });
  }

  // Bodies of any type are read as text, because `validateInput` checks type and content.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parseUtf8Body);
  /** Counts the request against its address, unless its key was valid lately. */
  const refuseUnserved = (
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal,
    headers: Headers = {},
  ): void => {
    const entered = dependencies.refusedRequests.enter(request.ip, bearerOf(request.headers));
    if (entered !== null && typeof entered !== 'string')
      return sendRefusal(request, reply, addressRefusal(entered), { allowance: entered });
    if (entered !== null) dependencies.refusedRequests.refuse(request.ip, undefined, entered);
    sendRefusal(request, reply, refusal, { headers });
  };
  const sendNotFound = async (request: FastifyRequest, reply: FastifyReply): Promise<void> =>
    refuseUnserved(request, reply, NOT_FOUND);
  app.setErrorHandler((error, request, reply) =>
    request.is404 ? sendNotFound(request, reply) : sendRefusal(request, reply, toRefusal(error)),
  );
  app.setNotFoundHandler(sendNotFound);
  const origins = resources.corsOrigins ?? [];
  registerCrossOrigin(app, origins);
  // The key of a test world is public, so a page that a browser shows could use it on the machine of its reader: from
  // its origin, or without one from its host, whose name was rebound to the address of this machine.
  if (resources.testMode && !origins.includes('*')) {
    const hosts = new Set([dependencies.baseUrl, ...origins].map((url) => new URL(url).host));
    app.addHook('onRequest', (request, reply, done) => {
      const { origin, host = '' } = request.headers;
      if (!hosts.has(host.toLowerCase()) && !LOOPBACK_HOST.test(host))
        return sendRefusal(request, reply, HOST_REFUSED);
      if (origin === undefined || origins.includes(origin)) return done();
      sendRefusal(request, reply, ORIGIN_REFUSED);
    });
  }
  const methodsByUrl = collectMethods(app);

  for (const endpoint of resources.endpoints ?? ENDPOINTS) {
    const isRead = endpoint.method === 'GET';
    const [steps, runPipeline] = isRead ? [READ_PIPELINE, runRead] : [WRITE_PIPELINE, runWrite];
    const meter = requestMeter(endpoint.operationId);
    const run = (
      pipeline: readonly Step[],
      request: FastifyRequest,
      reply: FastifyReply,
      ofTestKey: Step = passToTestWorld,
    ): void => {
      const requestId = requestIdOf(request.headers['x-request-id']);
      const context = createRequestContext(
        endpoint,
        request,
        reply,
        requestId,
        dependencies.clock.now().getTime(),
      );
      if (log.isLevelEnabled('info')) logRequest(dependencies, context);
      const isForTestWorld = dependencies.testWorld !== null && hasTestKey(request);
      const used = isForTestWorld ? [ofTestKey] : pipeline;
      void traceRequest(context, () => runPipeline(used, context, dependencies, meter));
    };
    const { deprecated } = endpoint;
    app.route({
      method: isRead ? ['GET', 'HEAD'] : endpoint.method,
      url: routeOf(endpoint.path),
      ...(deprecated === undefined ? {} : { onRequest: tellDeprecation(deprecated) }),
      ...(isRead ? { handlerTimeout: endpoint.heavy || endpoint.past ? longReadMs : lightReadMs } : {}),
      handler: (request, reply) => run(steps, request, reply),
      // Runs when the body cannot be read, and when the time of a read is over.
      errorHandler: (error, request, reply) => {
        if ((error as { code?: string }).code === 'FST_ERR_HANDLER_TIMEOUT')
          return sendRefusal(request, reply, timeIsOut());
        const refused = (): never => {
          throw toRefusal(error);
        };
        run(refusalPipeline(refused), request, reply, refused);
      },
    });
  }
  registerDownloads(app, dependencies);
  registerMedia(app, dependencies);
  registerProofs(app, dependencies);
  registerKeyDirectory(app, resources.botKey ?? null, clock);
  registerDocumentation(app, dependencies.baseUrl);
  registerLogDigests(app, dependencies);

  const served = [...methodsByUrl];
  for (const [url, methods] of served) {
    const allow = [...methods, 'OPTIONS'].join(', ');
    app.route({ method: 'OPTIONS', url, handler: (request, reply) => replyToOptions(request, reply, allow) });
    const others = METHODS.filter((method) => !methods.has(method));
    const refuse = (request: FastifyRequest, reply: FastifyReply): void => {
      const message = `This path takes ${allow}, and not ${request.method}. See /docs.`;
      refuseUnserved(request, reply, refusalOf('method_not_allowed', message), { allow });
    };
    app.route({
      method: others,
      url,
      handler: refuse,
      // A body that cannot be read makes no difference.
      errorHandler: (_error, request, reply) => refuse(request, reply),
    });
  }

  app.addHook('onClose', async () => {
    dependencies.requestCounts[Symbol.dispose]();
    dependencies.idempotencyStore[Symbol.dispose]();
    await dependencies.readRoutes[Symbol.asyncDispose]();
    await dependencies.keyUsage[Symbol.asyncDispose]();
    await dependencies.testWorld?.[Symbol.asyncDispose]();
  });
  return app;
};
