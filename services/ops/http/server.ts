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
  registerAttestRoute,
  registerCollectionRoutes,
  registerDeliveryRoutes,
  registerHistoryRoutes,
  registerLogRoutes,
  registerParkedRoutes,
  registerProjectionRoutes,
} from './routes.ts';
import type { AuditDependencies } from '../audit/history.ts';
import { describeServerError } from '#platform/command-line.ts';
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { memoryFile, sendMemoryFile } from '#platform/http/memory-file.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type Checks, checkReadModelsBuilt } from '#platform/process/readiness.ts';
import { projections } from '#projections/index.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { meterProcess, registry } from '#platform/telemetry/metrics.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { createReadinessCheck } from '#platform/process/health-server.ts';
import { fromProjector } from '../projections.ts';
import { createServiceMetrics } from './service-metrics.ts';

/** Lag, in events, above which a projection counts as behind. Under every measured load the lag stayed below it. */
const BEHIND_EVENTS = 10_000;

const NAMES = projections.map(({ name }) => name);

type Health = {
  readonly name: string;
  readonly is_owned: boolean;
  readonly is_paused: boolean;
  readonly is_failed: boolean;
  readonly is_stalled: boolean;
  readonly is_failing: boolean;
  readonly lag_facts: number;
};

const READ_HEALTH = `
  select p.name, p.owner is not null as is_owned, p.is_paused, p.state = 'failed' as is_failed,
    p.standing_since is not null as is_stalled,
    exists (select from projector.behind b where b.projection = p.name and b.error is not null) as is_failing, l.lag_facts::float8 as lag_facts
  from projector.projection p join projector.lag l using (name) where p.name = any($1) order by p.name`;

/** Begins with the count, such as `2 of 31 paused: ads, radar`. */
const formatFinding = (what: string, standings: readonly Health[], all: number): readonly string[] =>
  standings.length === 0
    ? []
    : [`${standings.length} of ${all} ${what}: ${standings.map(({ name }) => name).join(', ')}`];

/** Readiness checks of the whole service. Ignores tables whose projection was removed from the code. */
const serviceChecks = (pool: Database): Checks => ({
  read_models: checkReadModelsBuilt(pool, NAMES),
  projector: async () => {
    const { rows } = await fromProjector(() => pool.query<Health>(READ_HEALTH, [NAMES]));
    const found = (what: string, applies: (one: Health) => boolean): readonly string[] =>
      formatFinding(what, rows.filter(applies), rows.length);
    const reasons = [
      ...found('no owner', (one) => !one.is_owned),
      ...found('paused', (one) => one.is_paused),
      ...found('rebuild failed', (one) => one.is_failed),
      ...found('failing', (one) => one.is_failing),
      ...found('stalled', (one) => one.is_stalled && !one.is_paused),
      ...found(`more than ${BEHIND_EVENTS} events behind`, (one) => one.lag_facts > BEHIND_EVENTS),
    ];
    return reasons.length === 0 ? null : reasons.join('; ');
  },
});

type HealthDependencies = {
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly nats: () => Nats | null;
  readonly serverChecks: Checks;
  readonly archiveCallsPerHour: number;
};

/** `/healthz` checks this process; `/readyz` the whole service. `/metrics` needs a token: it names projections. */
const registerHealthRoutes = (app: FastifyInstance, dependencies: HealthDependencies): void => {
  meterProcess();
  const readiness = createReadinessCheck({
    ...dependencies.serverChecks,
    ...serviceChecks(dependencies.pool),
  });
  const metrics = createServiceMetrics({
    ...dependencies,
    missing: async () => (await readiness()).missing,
    servers: Object.keys(dependencies.serverChecks),
  });

  app.get('/healthz', { config: { open: true } }, () => ({ status: 'ok' }));
  app.route({
    method: 'GET',
    url: '/readyz',
    config: { open: true },
    handler: async (_request, reply) => {
      const found = await readiness();
      void reply.status(found.status === 'ready' ? 200 : 503).header('cache-control', 'no-store');
      return found;
    },
  });
  app.get('/metrics', async (_request, reply) => {
    void reply.type(registry.contentType).header('cache-control', 'no-store');
    return metrics();
  });
};

const FOLDER = 'services/ops/console';
const OWN = ['index.html', 'console.css', 'icon.svg', 'console.js', 'api.js', 'parts.js', 'projections.js'];
const FILES = [
  ...[...OWN, 'parked.js', 'deliveries.js', 'history.js', 'collection.js'].map((name) => `${FOLDER}/${name}`),
  'node_modules/preact/dist/preact.mjs',
  'node_modules/preact/hooks/dist/hooks.mjs',
  'node_modules/htm/dist/htm.module.js',
  'node_modules/uplot/dist/uPlot.esm.js',
  'node_modules/uplot/dist/uPlot.min.css',
  'node_modules/simpledotcss/simple.min.css',
];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Allows scripts, styles and requests of this origin only, and the import map. Trusted Types block injection of text. */
const securityHeaders = (importMap: string) => ({
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', importMap, 'base64')}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers revalidate on each use and get 304, so a new version takes effect at once.
  'cache-control': 'no-cache',
});

/** The console has no cookies, so another site cannot send authenticated requests (CSRF). Its files hold no secret. */
export const registerConsole = (app: FastifyInstance): void => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  const [, importMap = ''] =
    /<script type="importmap">(.*?)<\/script>/s.exec(read(`${FOLDER}/index.html`)) ?? [];
  const headers = securityHeaders(importMap);
  for (const path of FILES) {
    const file = memoryFile(TYPES[extname(path)] ?? '', read(path));
    const url = path.endsWith('index.html') ? '/' : `/console/${basename(path)}`;
    app.get(url, { config: { open: true } }, (request, reply) => {
      void reply.headers(headers);
      return sendMemoryFile(request, reply, file);
    });
  }
};

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
  registerAttestRoute(app, dependencies, ending.signal);
  registerDeliveryRoutes(app, dependencies);
  registerProjectionRoutes(app, dependencies);
  registerParkedRoutes(app, dependencies);
  registerCollectionRoutes(app, dependencies);
  registerLogRoutes(app, dependencies, ending.signal);
  app.addHook('preClose', async () => ending.abort());
  return app;
};
