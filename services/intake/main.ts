import { countingGroup } from '#application/access/request-counts.ts';
import { createCollectorTables } from '#application/collectors/collector-keys.ts';
import { systemClock } from '#platform/clock.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { openPool, requestPoolSettings } from '#platform/postgres/pool.ts';
import { REQUEST_ANSWER_MS } from '#platform/postgres/settings.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { waitForServers } from '#platform/process/wait-for-servers.ts';
import { buildIntake } from './server/server.ts';
import { IntakeSettings } from './settings.ts';

/** Each request needs two short key lookups. */
const POOL_CLIENTS = 4;

await runProcess('intake', IntakeSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, NATS_URL, LISTEN_HOST, INTAKE_PORT } = settings;
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  const database = openPool(DATABASE_URL, POOL_CLIENTS, requestPoolSettings(REQUEST_ANSWER_MS));
  resources.defer(() => database.end());
  await waitForServers(log, signal, { DATABASE_URL, NATS_URL });
  await createCollectorTables(database);
  const nats = resources.use(
    await untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'intake', settings)),
  );
  const group = await countingGroup(database, 'collectors');
  const objectStore = await openObjectStore(settings);
  const app = buildIntake({
    database,
    nats,
    objectStore,
    countingGroup: group,
    ...(settings.TRUSTED_PROXIES ? { trustedProxies: settings.TRUSTED_PROXIES } : {}),
    clock: systemClock,
    log,
  });
  resources.defer(() => app.close());
  await app.listen({ host: LISTEN_HOST, port: INTAKE_PORT });
  operatorPort.started();
  log.info({ host: LISTEN_HOST, port: INTAKE_PORT }, 'listening');
});
