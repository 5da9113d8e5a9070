import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { z } from 'zod';
import { Port } from '../settings.ts';
import type { Log } from '../logger.ts';
import { meterProcess, registry } from '../telemetry/metrics.ts';
import { type Checks, findMissing, type Missing, openServerChecks, type ServerUrls } from './readiness.ts';

/** What is asked here has no body and few headers. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_MAX_BYTES = 8 * 1024;

/**
 * Where a process says how it is. Off when no port is set. There is no token, so it is for loopback and for networks
 * that only the scraper and the orchestrator reach; nothing that it answers is of a customer.
 */
export const operatorPortSettings = {
  METRICS_HOST: z.string().default('127.0.0.1').describe('Where the operator port listens.'),
  METRICS_PORT: Port.optional().describe(
    'Port of `/healthz`, `/readyz` and `/metrics` of this process; none when not set. It asks for no token.',
  ),
} as const;
export type OperatorPortSettings = {
  readonly METRICS_HOST: string;
  readonly METRICS_PORT?: number | undefined;
};

export type Readiness = { readonly status: 'ready' | 'not_ready'; readonly missing: readonly Missing[] };

/** Asked by several at once, the servers are asked once. */
export const openReadiness = (checks: Checks): (() => Promise<Readiness>) => {
  let asking: Promise<Readiness> | undefined;
  return () => {
    asking ??= findMissing(checks)
      .then((missing) => ({
        status: missing.length === 0 ? ('ready' as const) : ('not_ready' as const),
        missing,
      }))
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
};

export type OperatorPort = AsyncDisposable & {
  /** `null` when it is off. */
  readonly url: string | null;
  /** Says that the process does its work now: until then it is not ready. */
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
  /** Aborted when the process is asked to end; it is not ready from then on. */
  readonly signal: AbortSignal;
  /** Beyond that the servers answer. */
  readonly checks?: Checks;
};

/** `/healthz`: the process lives. `/readyz`: it can do its work, or what is missing, with 503. `/metrics`. */
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
  const readiness = openReadiness({
    process: async () => (signal.aborted ? 'it is ending' : started ? null : 'it is still starting'),
    ...servers.checks,
    ...checks,
  });

  const answerOf = async ({ method, url = '' }: IncomingMessage): Promise<Reply> => {
    const [path] = url.split('?', 1);
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'Only GET is answered here.' });
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz') {
      const found = await readiness();
      return json(found.status === 'ready' ? 200 : 503, found);
    }
    if (path === '/metrics') {
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    return json(404, { error: 'There are /healthz, /readyz and /metrics.' });
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, type, body } = await answerOf(request);
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? '' : body);
  };

  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: HEADERS_MAX_BYTES },
    (request, response) => {
      respond(request, response).catch((error: unknown) => {
        log.warn({ err: error, url: request.url }, 'an operator was not answered');
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
  log.info({ url }, 'operator port open');
  return {
    url,
    started: () => {
      started = true;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
