import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import underPressure from '@fastify/under-pressure';
import type { Clock } from '#platform/clock.ts';
import { type BotKey, DIRECTORY_VALID_MS, KEY_DIRECTORY_PATH } from '#platform/http-client/bot-key.ts';
import { requestMeter } from '#platform/telemetry/metrics.ts';
import { inSpan, isTracing } from '#platform/telemetry/tracing.ts';
import { Refusal } from '#contracts/errors.ts';
import { type Allowance, createRefusedRequests } from '#application/access/request-counts.ts';
import { PLANS } from '#contracts/values/access.ts';
import { REQUEST_BUDGET_MS, waitsOf } from '#platform/concurrency/time-budget.ts';
import { createHttpServer } from '#platform/http/http-server.ts';
import {
  type OperationResources,
  createOperationDependencies,
} from '#operations/dependencies/create-dependencies.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { bearerOf, requestIdOf } from '#platform/http/request-headers.ts';
import { parseUtf8Body } from '#platform/http/utf8.ts';
import { timeIsOut } from '#operations/endpoint/overload.ts';
import { type RequestContext, createRequestContext, addressRefusal } from './steps.ts';
import { registerDocumentation } from './docs-page.ts';
import { createFileLimit, registerDownloads, registerMedia } from './file-routes.ts';
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
  app.get(KEY_DIRECTORY_PATH, async (request, reply) => {
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
  /** Proxies whose `x-forwarded-for` names the address of a client. */
  readonly trustedProxies?: readonly string[];
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

const BUSY_RETRY_AFTER_SECONDS = 3;
const BUSY = new Refusal(
  'overloaded',
  `This server is busy and refuses reads. Try again in ${BUSY_RETRY_AFTER_SECONDS} s.`,
  [],
  BUSY_RETRY_AFTER_SECONDS,
);
/** The limits of Postgres end a light read this much earlier, because their error says more. */
const READ_MARGIN_MS = 250;

const NOT_FOUND = new Refusal('not_found', 'No endpoint has this method and path. See /docs.');

/** Converts errors of Fastify. Returns other errors unchanged. */
const toRefusal = (error: unknown): unknown => {
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  if (status < 400 || status >= 500) return error;
  const { message, code = 'bad_request' } = error as Error & { code?: string };
  return new Refusal('invalid_input', message, [{ path: '', message, code: code.toLowerCase() }]);
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
  };
  const { log } = dependencies;
  const sendRefusal = (
    request: FastifyRequest,
    reply: FastifyReply,
    error: unknown,
    allowance?: Allowance,
  ): void => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    sendError(reply, requestId, error, log, { allowance });
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
    onFrameworkError: (request, reply, error) => sendRefusal(request, reply, toRefusal(error)),
  });

  if (resources.loopDelayMs !== undefined) {
    app.register(underPressure, {
      maxEventLoopDelay: resources.loopDelayMs,
      // Commands go on, so that a key can always be revoked. A process that was stopped for a whole interval has no
      // measurement: its delay is infinite.
      pressureHandler: (request, reply, _type, delayMs) => {
        if (request.method === 'GET' && Number.isFinite(delayMs)) sendRefusal(request, reply, BUSY);
      },
    });
  }

  // Bodies of any type are read as text, because `validateInput` checks type and content.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parseUtf8Body);
  /** Counts the request against its address, unless its key was valid lately. */
  const sendNotFound = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const entered = dependencies.refusedRequests.enter(request.ip, bearerOf(request.headers));
    if (entered !== null && typeof entered !== 'string')
      return sendRefusal(request, reply, addressRefusal(entered), entered);
    if (entered !== null) dependencies.refusedRequests.refuse(request.ip, undefined, entered);
    sendRefusal(request, reply, NOT_FOUND);
  };
  app.setErrorHandler((error, request, reply) =>
    request.is404 ? sendNotFound(request, reply) : sendRefusal(request, reply, toRefusal(error)),
  );
  app.setNotFoundHandler(sendNotFound);

  for (const endpoint of ENDPOINTS) {
    const isRead = endpoint.method === 'GET';
    const [steps, runPipeline] = isRead ? [READ_PIPELINE, runRead] : [WRITE_PIPELINE, runWrite];
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
      ...(isRead ? { handlerTimeout: endpoint.heavy ? longReadMs : lightReadMs } : {}),
      handler: (request, reply) => run(steps, request, reply),
      // Runs when the body cannot be read, and when the time of a read is over.
      errorHandler: (error, request, reply) => {
        if ((error as { code?: string }).code === 'FST_ERR_HANDLER_TIMEOUT')
          return sendRefusal(request, reply, timeIsOut());
        const refused = (): never => {
          throw toRefusal(error);
        };
        run(refusalPipeline(refused), request, reply);
      },
    });
  }
  registerDownloads(app, dependencies);
  registerMedia(app, dependencies);
  registerKeyDirectory(app, resources.botKey ?? null, clock);
  registerDocumentation(app, dependencies.baseUrl);

  app.addHook('onClose', async () => {
    dependencies.requestCounts[Symbol.dispose]();
    dependencies.idempotencyStore[Symbol.dispose]();
    await dependencies.readRoutes[Symbol.asyncDispose]();
    await dependencies.keyUsage[Symbol.asyncDispose]();
  });
  return app;
};
