import type { FastifyInstance } from 'fastify';
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
export const serviceChecks = (pool: Database): Checks => ({
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
  app.get('/metrics', async (_request, reply) => {
    void reply.type(registry.contentType).header('cache-control', 'no-store');
    return metrics();
  });
};
