import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { z } from 'zod';
import { Port } from '../settings.ts';
import type { Log } from '../logger.ts';
import { meterProcess, registry } from '../telemetry/metrics.ts';
import { type Checks, findMissing, type Missing, openServerChecks, type ServerUrls } from './readiness.ts';

/** Requests of this server have no body and few headers. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_MAX_BYTES = 8 * 1024;

/** Needs no token: bind the port to loopback or the scraper's network. Replies hold no customer data. */
export const operatorPortSettings = {
  METRICS_HOST: z.string().default('127.0.0.1').describe('Host that the operator port listens on.'),
  METRICS_PORT: Port.optional().describe(
    'Port of `/healthz`, `/readyz` and `/metrics` of this process, without authentication; off when not set.',
  ),
} as const;
export type OperatorPortSettings = {
  readonly METRICS_HOST: string;
  readonly METRICS_PORT?: number | undefined;
};

/** `degraded`: the process works, and a server that others use too does not answer. */
export type ReadinessStatus = 'ready' | 'degraded' | 'not_ready';
export type Readiness = { readonly status: ReadinessStatus; readonly missing: readonly Missing[] };

/** Concurrent callers share a run. A failed `required` check means not ready, a failed `shared` one degraded. */
export const createReadinessCheck = (required: Checks, shared: Checks = {}): (() => Promise<Readiness>) => {
  let running: Promise<Readiness> | undefined;
  return () => {
    running ??= Promise.all([findMissing(required), findMissing(shared)])
      .then(([lacking, away]): Readiness => {
        const status = lacking.length > 0 ? 'not_ready' : away.length > 0 ? 'degraded' : 'ready';
        return { status, missing: [...lacking, ...away] };
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
};

export type OperatorPort = AsyncDisposable & {
  /** URL of the port; `null` when it is off. */
  readonly url: string | null;
  /** Marks the end of the start; until then the process is not ready. */
  started(): void;
};

type Reply = { readonly status: number; readonly type: string; readonly body: string };

const json = (status: number, body: object): Reply => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
});

export type OperatorPortInput = {
  readonly settings: OperatorPortSettings & ServerUrls;
  readonly log: Log;
  /** Once aborted, at shutdown, the process is not ready. */
  readonly signal: AbortSignal;
  readonly checks?: Checks;
  /** Checks of servers. While one fails, the process is degraded. */
  readonly serverChecks?: Checks;
};

/**
 * A lost server makes `/readyz` `degraded`, with 200: 503 would take all processes out of service at once. 503 is for
 * this process alone.
 */
export const openOperatorPort = async ({
  settings,
  log,
  signal,
  checks = {},
  serverChecks = {},
}: OperatorPortInput): Promise<OperatorPort> => {
  const { METRICS_HOST, METRICS_PORT } = settings;
  if (METRICS_PORT === undefined) {
    return { url: null, started: () => undefined, [Symbol.asyncDispose]: async () => undefined };
  }
  meterProcess();
  let started = false;
  const resources = new AsyncDisposableStack();
  const servers = resources.use(openServerChecks(settings));
  const ownChecks = {
    process: async () => (signal.aborted ? 'shutting down' : started ? null : 'starting'),
    ...checks,
  };
  const readiness = createReadinessCheck(ownChecks, { ...servers.checks, ...serverChecks });

  const replyTo = async ({ method, url = '' }: IncomingMessage): Promise<Reply> => {
    const [path] = url.split('?', 1);
    if (method !== 'GET' && method !== 'HEAD')
      return json(405, { error: 'Method not allowed. Use GET or HEAD.' });
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz') {
      const found = await readiness();
      return json(found.status === 'not_ready' ? 503 : 200, found);
    }
    if (path === '/metrics') {
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    return json(404, { error: 'Path not found. Use /healthz, /readyz or /metrics.' });
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, type, body } = await replyTo(request);
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? '' : body);
  };

  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: HEADERS_MAX_BYTES },
    (request, response) => {
      respond(request, response).catch((error: unknown) => {
        log.warn({ err: error, url: request.url }, 'operator request failed');
        response.destroy();
      });
    },
  );
  server.listen(METRICS_PORT, METRICS_HOST);
  await once(server, 'listening');
  resources.defer(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as { readonly port: number };
  const url = `http://${METRICS_HOST}:${port}`;
  log.info({ url }, 'operator port opened');
  return {
    url,
    started: () => {
      started = true;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
