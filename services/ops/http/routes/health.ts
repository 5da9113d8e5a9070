import type { FastifyInstance } from 'fastify';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { meterProcess, registry } from '#platform/telemetry/metrics.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { createReadinessCheck } from '#platform/process/health-server.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Checks } from '#platform/process/readiness.ts';
import { serviceChecks } from '#services/ops/metrics/readiness-checks.ts';
import { createServiceMetrics } from '#services/ops/metrics/service-metrics.ts';

export type HealthDependencies = {
  readonly pool: Database;
  readonly eventStore: EventStore;
  /** `null` until the connection is established. */
  readonly nats: () => Nats | null;
  /** Connectivity checks of the servers. */
  readonly serverChecks: Checks;
  /** Calls an hour that each account of the library API may make. */
  readonly archiveCallsPerHour: number;
};

/**
 * Registers the health routes. `/healthz` reports this process: use it as the liveness probe. `/readyz` reports the
 * whole service: it returns 503 with the missing parts, even when this process itself works. Both need no token.
 * `/metrics` needs one, because it names every projection and queue.
 */
export const registerHealthRoutes = (app: FastifyInstance, dependencies: HealthDependencies): void => {
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
  app.route({
    method: 'GET',
    url: '/metrics',
    handler: async (_request, reply) => {
      void reply.type(registry.contentType).header('cache-control', 'no-store');
      return metrics();
    },
  });
};
