import { createPlaces, type Places } from '#platform/concurrency/queues.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sha256Of } from '#application/access/key-format.ts';
import { COLLECTOR_KEY, type Collector, findCollector } from '#application/collectors/collector-keys.ts';
import { bearerOf, requestIdOf } from '#platform/http/request-headers.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  type Counting,
  createRefusedRequests,
  createRequestCounts,
} from '#application/access/request-counts.ts';
import type { Clock } from '#platform/clock.ts';
import { TimeUsedUp, waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { createHttpServer, send } from '#platform/http/http-server.ts';
import { refuseInvalidUtf8 } from '#platform/http/utf8.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { requestMeter } from '#platform/telemetry/metrics.ts';
import { IntakeRefusal, sendRefusal } from './refusal.ts';
import { receiveFile } from '../receive-file.ts';
import { OBSERVATIONS_MAX_BYTES, receiveObservations } from '../receive-observations.ts';
import { observationSchemas } from '../schemas/observation-schemas.ts';
import { TASK_BODY_TIMEOUT_MS, receiveLeaseRequest, receiveTaskEnd } from '../tasks.ts';
import { discardBody } from './request-body.ts';

const RETRY_SECONDS = 5;

/** Replies equally to a missing, malformed, unknown and revoked key. Throws `unavailable` without Postgres. */
export const authenticate = async (
  database: Database,
  headers: IncomingHttpHeaders,
  log: Log,
): Promise<Collector> => {
  const key = bearerOf(headers);
  const collector =
    key === undefined || !COLLECTOR_KEY.isValid(key)
      ? null
      : await findCollector(database, sha256Of(key)).catch((error: unknown) => {
          log.warn({ err: error }, 'key lookup failed');
          throw new IntakeRefusal(
            'unavailable',
            'Keys cannot be checked now. Send the request again later.',
            {
              retryAfterSeconds: RETRY_SECONDS,
            },
          );
        });
  if (collector) return collector;
  throw new IntakeRefusal(
    'unauthorized',
    'Send a valid collector key: `Authorization: Bearer svc_collect_…`. An operator issues it with `ops collector issue`.',
  );
};

/** A slow client occupies slots of its own key only. */
const SLOTS_PER_KEY = 4;
/** Bounds the memory: each request may hold 16 MiB as received, 16 MiB unpacked, and its parsed lines. */
const SLOTS = 8;
const SLOT_RETRY_SECONDS = 1;

/** Refuses at once when no place is free: a queued body would wait unread. */
const createRequestSlots = (): Places =>
  createPlaces({
    max: SLOTS,
    perKey: SLOTS_PER_KEY,
    refuse: (ofKey) =>
      ofKey
        ? new IntakeRefusal(
            'rate_limited',
            `${SLOTS_PER_KEY} requests of this key are running. Send the next one when a reply has arrived.`,
            { retryAfterSeconds: SLOT_RETRY_SECONDS },
          )
        : new IntakeRefusal('unavailable', 'The intake is busy. Send the request again.', {
            retryAfterSeconds: SLOT_RETRY_SECONDS,
          }),
  });

/** Counted per key over all processes; each request carries up to 1,000 lines. */
export const REQUESTS_PER_MINUTE = 600;
/** 16 MiB at 280 KB/s. */
const OBSERVATIONS_TIMEOUT_MS = 60_000;
/** 100 MiB at 350 KB/s. */
const FILE_TIMEOUT_MS = 300_000;
/** Time limit of a request without the transfer of its body. */
export const INTAKE_BUDGET_MS = 10_000;
/** Retry delay after a request that exceeded its time limit. */
const LATE_RETRY_SECONDS = 5;
/** Timeout of Node, longer than all others so that those send a reply. */
const REQUEST_TIMEOUT_MS = 330_000;
const PATH_PARAMETER_MAX_LENGTH = 200;

export type IntakeResources = {
  readonly database: Database;
  readonly nats: Nats;
  readonly objectStore: ObjectStore;
  readonly clock: Clock;
  /** Clock of tests; otherwise Postgres decides when tasks are due. */
  readonly taskClock?: Clock;
  readonly log: Log;
  /** Name of the processes that count requests together (`countingGroup`); this one alone when absent. */
  readonly countingGroup?: string;
  readonly refusedPerMinute?: number;
  /** Proxies whose `x-forwarded-for` names the client's address. */
  readonly trustedProxies?: readonly string[];
  readonly bodyTimeoutMs?: number;
  readonly requestBudgetMs?: number;
};

type Result = { readonly status: number; readonly body: object; readonly logged?: object };
type Run = (
  request: FastifyRequest,
  collector: Collector,
  requireKey: () => Promise<unknown>,
) => Promise<Result>;

const NOT_FOUND = new IntakeRefusal(
  'not_found',
  'Not found. The intake has POST /intake/observations, PUT /intake/files/{sha256}, POST /intake/tasks and GET /intake/schemas.',
);

const timeIsOut = (): IntakeRefusal =>
  new IntakeRefusal('unavailable', 'The request was not done in time. Send the whole request again later.', {
    retryAfterSeconds: LATE_RETRY_SECONDS,
  });

/** Converts errors of Fastify, such as a malformed URL; returns others unchanged. */
const toRefusal = (error: unknown): unknown => {
  const { statusCode = 500, message } = error as { statusCode?: number; message: string };
  if (statusCode < 400 || statusCode >= 500) return error;
  return new IntakeRefusal(statusCode === 415 ? 'unsupported_content' : 'invalid_request', message);
};

/** Builds the server without listening. It writes no event. Closing it leaves `resources` open. */
export const buildIntake = (resources: IntakeResources): FastifyInstance => {
  const { database, nats, objectStore, clock, log, bodyTimeoutMs, countingGroup } = resources;
  const { taskClock, refusedPerMinute, trustedProxies, requestBudgetMs = INTAKE_BUDGET_MS } = resources;
  const slots = createRequestSlots();
  const requestCounts = createRequestCounts(clock);
  if (countingGroup !== undefined) requestCounts.share(nats.connection, countingGroup);
  const refusedRequests = createRefusedRequests(requestCounts, 'intake', refusedPerMinute);
  const meterUnmatched = requestMeter('none');

  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    sendRefusal(reply, requestIdOf(request.headers['x-request-id']), error, log);
    meterUnmatched(reply.raw.statusCode, 0);
    discardBody(request.raw);
  };
  const app = createHttpServer({
    bodyMaxBytes: OBSERVATIONS_MAX_BYTES,
    pathParameterMaxLength: PATH_PARAMETER_MAX_LENGTH,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    ...(trustedProxies ? { trustedProxies } : {}),
    // Storing a body may take as long as receiving it.
    clientSilenceMs: REQUEST_TIMEOUT_MS,
    onFrameworkError: (request, reply, error) => refuse(request, reply, toRefusal(error)),
  });
  refuseInvalidUtf8(app);
  // Handlers read the body themselves, after the key was checked.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.setErrorHandler((error, request, reply) => refuse(request, reply, toRefusal(error)));

  const enterAddress = (request: FastifyRequest): Counting => {
    const entered = refusedRequests.enter(request.ip, bearerOf(request.headers));
    if (entered === null || typeof entered === 'string') return entered;
    const { resetIn } = entered;
    throw new IntakeRefusal(
      'rate_limited',
      `Too many requests without a valid collector key from this address. Try again in ${resetIn} s.`,
      { retryAfterSeconds: resetIn },
    );
  };

  /** Checks the limit of the address before it hashes a key. */
  const limitRefused = async (
    request: FastifyRequest,
    requireKey: () => Promise<Collector>,
  ): Promise<Collector> => {
    const counted = enterAddress(request);
    const key = bearerOf(request.headers);
    try {
      const collector = await requireKey();
      if (key !== undefined) refusedRequests.accept(key, counted);
      return collector;
    } catch (error) {
      if (error instanceof IntakeRefusal && error.code === 'unauthorized')
        refusedRequests.refuse(request.ip, key, counted);
      else refusedRequests.cancel(counted);
      throw error;
    }
  };

  /** Counts against the address, unless its key was valid recently. */
  const refuseUnmatched = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    try {
      const counted = enterAddress(request);
      if (counted !== null) refusedRequests.refuse(request.ip, undefined, counted);
      refuse(request, reply, NOT_FOUND);
    } catch (error) {
      refuse(request, reply, error);
    }
  };

  /** The only place that writes replies to collectors. `bodyMs`: time for receiving the body. */
  const handle = (operation: string, bodyMs: number, run: Run) => {
    const meter = requestMeter(operation);
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const since = performance.now();
      const requestId = requestIdOf(request.headers['x-request-id']);
      let collector: Collector | undefined;
      let logged: object = {};
      const answerLate = (): void => sendRefusal(reply, requestId, timeIsOut(), log);
      const serve = async (): Promise<void> => {
        const requireKey = () => authenticate(database, request.headers, log);
        const known = await limitRefused(request, requireKey);
        collector = known;
        const { allowed, resetIn } = requestCounts.take(known.keyId, REQUESTS_PER_MINUTE);
        if (!allowed) {
          throw new IntakeRefusal(
            'rate_limited',
            `More than ${REQUESTS_PER_MINUTE} requests in a minute. Send more lines per request, and try again in ${resetIn} s.`,
            { retryAfterSeconds: resetIn },
          );
        }
        const result = await slots.run(known.keyId, () => run(request, known, requireKey));
        logged = result.logged ?? {};
        send(reply, result.status, { 'x-request-id': requestId }, JSON.stringify(result.body));
      };
      try {
        await withTimeBudget(waitsOf(requestBudgetMs + bodyMs), serve, answerLate);
      } catch (error) {
        sendRefusal(reply, requestId, error instanceof TimeUsedUp ? timeIsOut() : error, log);
        discardBody(request.raw);
      }
      const seconds = (performance.now() - since) / 1_000;
      const { statusCode: status } = reply.raw;
      meter(status, seconds);
      log.info(
        {
          request_id: requestId,
          operation,
          status,
          duration_ms: Math.round(seconds * 1_000),
          collector: collector?.name,
          key_id: collector?.keyId,
          ...logged,
        },
        'request',
      );
    };
  };

  app.setNotFoundHandler(refuseUnmatched);

  const observationsMs = bodyTimeoutMs ?? OBSERVATIONS_TIMEOUT_MS;
  const fileMs = bodyTimeoutMs ?? FILE_TIMEOUT_MS;
  const taskMs = bodyTimeoutMs ?? TASK_BODY_TIMEOUT_MS;

  app.post(
    '/intake/observations',
    handle('intakeObservations', observationsMs, async (request, collector, requireKey) => {
      const limits = { maxBytes: OBSERVATIONS_MAX_BYTES, timeoutMs: observationsMs };
      const body = await receiveObservations(request.raw, collector, { nats, log, requireKey, limits });
      return { status: 200, body, logged: { accepted: body.accepted, refused: body.refused.length } };
    }),
  );
  app.put<{ Params: { sha256: string } }>(
    '/intake/files/:sha256',
    handle('intakeFile', fileMs, async (request, collector, requireKey) => {
      const { sha256 } = request.params as { readonly sha256: string };
      const stored = await receiveFile(request.raw, sha256, collector, {
        objectStore,
        requireKey,
        timeoutMs: fileMs,
        log,
      });
      return {
        status: stored.created ? 201 : 200,
        body: stored.reply,
        logged: { bytes: stored.reply.bytes },
      };
    }),
  );

  const tasksWith = (requireKey: () => Promise<unknown>) => ({
    database,
    taskClock,
    log,
    requireKey,
    timeoutMs: taskMs,
  });
  app.post(
    '/intake/tasks',
    handle('intakeTasks', taskMs, async (request, collector, requireKey) => {
      const body = await receiveLeaseRequest(request.raw, collector, tasksWith(requireKey));
      return { status: 200, body, logged: { tasks: body.tasks.length } };
    }),
  );
  for (const outcome of ['done', 'failed'] as const) {
    app.post<{ Params: { id: string } }>(
      `/intake/tasks/:id/${outcome}`,
      handle('intakeTaskEnd', taskMs, async (request, collector, requireKey) => {
        const { id } = request.params as { readonly id: string };
        const body = await receiveTaskEnd(request.raw, id, outcome, collector, tasksWith(requireKey));
        return { status: 200, body, logged: { task: id, outcome, changed: body.changed } };
      }),
    );
  }

  const schemas = new Map<string, object>(observationSchemas().map(({ type, schema }) => [type, schema]));
  const sendOpen = (request: FastifyRequest, reply: FastifyReply, body: object): void =>
    send(reply, 200, { 'x-request-id': requestIdOf(request.headers['x-request-id']) }, JSON.stringify(body));
  app.get('/intake/schemas', (request, reply) => sendOpen(request, reply, { types: [...schemas.keys()] }));
  app.get<{ Params: { type: string } }>('/intake/schemas/:type', (request, reply) => {
    const schema = schemas.get(request.params.type);
    if (schema === undefined) return refuse(request, reply, NOT_FOUND);
    sendOpen(request, reply, schema);
  });

  app.addHook('onClose', async () => requestCounts[Symbol.dispose]());
  return app;
};
