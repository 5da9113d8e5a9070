import type { FastifyInstance } from 'fastify';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { meterProcess, registry } from '#platform/telemetry/metrics.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { openReadiness } from '#platform/process/health-server.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Checks } from '#platform/process/readiness.ts';
import { serviceChecks } from '#services/ops/metrics/readiness-checks.ts';
import { openServiceMetrics } from '#services/ops/metrics/service-metrics.ts';

export type HealthDependencies = {
  readonly pool: Database;
  readonly eventStore: EventStore;
  /** `null` while its server is looked for. */
  readonly nats: () => Nats | null;
  /** Whether the servers answer. */
  readonly serverChecks: Checks;
};

/**
 * `/healthz` is about this process, and what an orchestrator should ask it. `/readyz` is about the whole service: it
 * says no, with what is missing, also when this process could answer everything else. Both need no token; `/metrics`
 * does, since it names every projection and queue.
 */
export const registerHealthRoutes = (app: FastifyInstance, dependencies: HealthDependencies): void => {
  meterProcess();
  const readiness = openReadiness({ ...dependencies.serverChecks, ...serviceChecks(dependencies.pool) });
  const metrics = openServiceMetrics({
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
