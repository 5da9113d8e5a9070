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
  readonly nats: () => Nats | null;
  readonly serverChecks: Checks;
  readonly archiveCallsPerHour: number;
};

/** `/healthz` checks this process; `/readyz` the whole service. `/metrics` needs a token: it names projections. */
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
