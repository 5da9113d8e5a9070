import { z } from 'zod';
import { systemClock } from '#platform/clock.ts';
import { readSettings, serverSettings } from '#platform/config.ts';
import { publishDue } from '#platform/deliveries/publish-due.ts';
import { createLog } from '#platform/log.ts';
import { openNats } from '#platform/nats.ts';
import { openOperatorPort, operatorPortSettings } from '#platform/operator-port.ts';
import { runProcess } from '#platform/process.ts';
import { retry } from '#platform/retry.ts';
import { runAlerts } from './run-alerts.ts';

const NATS_RETRIES = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 500, maxDelayMs: 10_000 };

const settings = readSettings(
  z.object({
    ...serverSettings,
    ...operatorPortSettings,
    /** Where clients reach the API, as the links in payloads say. */
    API_BASE_URL: z.url().transform((url) => url.replace(/\/+$/, '')),
  }),
);

await runProcess(createLog('alerts', settings.LOG_LEVEL), async ({ resources, log, signal }) => {
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  // Looked for without end: what is queued meanwhile waits in Postgres, and delivery finds it there.
  const nats = retry(
    NATS_RETRIES,
    () => true,
    () => openNats(settings.NATS_URL, 'alerts'),
    signal,
  );
  nats.catch(() => undefined);
  resources.defer(async () => {
    // One that is still looking for its server is left behind with the process.
    const opened = await Promise.race([nats.catch(() => null), Promise.resolve(null)]);
    await opened?.[Symbol.asyncDispose]();
  });
  const running = runAlerts({
    databaseUrl: settings.DATABASE_URL,
    eventStoreUrl: settings.EVENT_STORE_URL,
    baseUrl: settings.API_BASE_URL,
    clock: systemClock,
    log,
    signal,
    signals: null,
    publish: (deliveryIds) => {
      void nats
        .then((opened) => publishDue(opened, deliveryIds))
        .catch((error: unknown) => log.warn({ err: error }, 'the queue did not take a delivery'));
    },
  });
  resources.defer(() => running);
  operatorPort.started();
});
