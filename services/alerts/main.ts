import { systemClock } from '#platform/clock.ts';
import { createDueNotifier } from '#application/delivery-outbox/notices.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { waitForServers } from '#platform/process/wait-for-servers.ts';
import { runAlerts } from './run.ts';
import { openSignalSource } from './signals/signal-source.ts';
import { AlertsSettings } from './settings.ts';

await runProcess('alerts', AlertsSettings, async ({ settings, resources, log, signal }) => {
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  // Retries without a limit, does not block the start and ends with the process: queued deliveries wait in Postgres.
  const nats = untilServerAnswers(log, signal, 'NATS', () => openNats(settings.NATS_URL, 'alerts', settings));
  nats.catch(() => undefined);
  const { DATABASE_URL, EVENT_STORE_URL } = settings;
  await waitForServers(log, signal, { DATABASE_URL, EVENT_STORE_URL });
  const signals = resources.use(openSignalSource(DATABASE_URL, log));
  const running = runAlerts({
    databaseUrl: DATABASE_URL,
    eventStoreUrl: EVENT_STORE_URL,
    baseUrl: settings.API_BASE_URL,
    clock: systemClock,
    log,
    signal,
    signals,
    publish: createDueNotifier(nats),
  });
  resources.defer(() => running);
  operatorPort.started();
});
