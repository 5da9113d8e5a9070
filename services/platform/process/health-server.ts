import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { z } from 'zod';
import { Port } from '../settings.ts';
import type { Log } from '../logger.ts';
import { meterProcess, registry } from '../telemetry/metrics.ts';
import { type Checks, findMissing, type Missing, openServerChecks, type ServerUrls } from './readiness.ts';

/** Milliseconds to receive a request. Requests of this server have no body and few headers. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Maximum bytes of request headers. */
const HEADERS_MAX_BYTES = 8 * 1024;

/**
 * Settings of the operator port: health, readiness and metrics over HTTP. It is off when no port is set. It needs no
 * token, so bind it to loopback or to a network that only the scraper and the orchestrator reach. Its replies hold no
 * customer data.
 */
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

export type Readiness = { readonly status: 'ready' | 'not_ready'; readonly missing: readonly Missing[] };

/** Creates the readiness check. Single-flight: concurrent callers share one run of the checks. */
export const createReadinessCheck = (checks: Checks): (() => Promise<Readiness>) => {
  let running: Promise<Readiness> | undefined;
  return () => {
    running ??= findMissing(checks)
      .then((missing) => ({
        status: missing.length === 0 ? ('ready' as const) : ('not_ready' as const),
        missing,
      }))
      .finally(() => {
        running = undefined;
      });
    return running;
  };
};

export type OperatorPort = AsyncDisposable & {
  /** URL of the port; `null` when it is off. */
  readonly url: string | null;
  /** Marks the process as started. Until then it is not ready. */
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
  /** Aborted at shutdown. From then on the process is not ready. */
  readonly signal: AbortSignal;
  /** Readiness checks in addition to those of the servers. */
  readonly checks?: Checks;
};

/**
 * Serves `/healthz` (the process runs), `/readyz` (200, or 503 with the failed checks) and `/metrics` (Prometheus
 * text).
 */
export const openOperatorPort = async ({
  settings,
  log,
  signal,
  checks = {},
}: OperatorPortInput): Promise<OperatorPort> => {
  const { METRICS_HOST, METRICS_PORT } = settings;
  if (METRICS_PORT === undefined) {
    return { url: null, started: () => undefined, [Symbol.asyncDispose]: async () => undefined };
  }
  meterProcess();
  let started = false;
  const resources = new AsyncDisposableStack();
  const servers = resources.use(openServerChecks(settings));
  const readiness = createReadinessCheck({
    process: async () => (signal.aborted ? 'shutting down' : started ? null : 'starting'),
    ...servers.checks,
    ...checks,
  });

  const replyTo = async ({ method, url = '' }: IncomingMessage): Promise<Reply> => {
    const [path] = url.split('?', 1);
    if (method !== 'GET' && method !== 'HEAD')
      return json(405, { error: 'Method not allowed. Use GET or HEAD.' });
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz') {
      const found = await readiness();
      return json(found.status === 'ready' ? 200 : 503, found);
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
