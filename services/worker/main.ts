import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { systemClock } from '#platform/clock.ts';
import { readSettings, Seconds, serverSettings } from '#platform/config.ts';
import { openEventStore } from '#platform/event-store.ts';
import { createLog } from '#platform/log.ts';
import { openNats } from '#platform/nats.ts';
import { objectStoreSettings, openObjectStore } from '#platform/object-store.ts';
import { openOperatorPort, operatorPortSettings } from '#platform/operator-port.ts';
import { openPool, openReadDatabase } from '#platform/postgres.ts';
import { runProcess } from '#platform/process.ts';
import { openReadPosition } from '#platform/read-position.ts';
import { exportReports } from './export-reports.ts';
import { scheduleBriefs } from './prepare-briefs.ts';
import { requestScansWhenDue } from './request-scans.ts';
import { scheduleRewrites } from './schedule-rewrites.ts';

const POOL_CLIENTS = 3;

const settings = readSettings(
  z.object({
    ...serverSettings,
    ...operatorPortSettings,
    ...objectStoreSettings,
    /** When the nightly lists are rewritten, as a cron expression in UTC. */
    REWRITE_CRON: z.string().default('0 2 * * *'),
    /** A report whose worker was not heard of for so long is taken over by another. */
    REPORT_LEASE_SECONDS: Seconds.default(60),
  }),
);

await runProcess(createLog('worker', settings.LOG_LEVEL), async ({ resources, log, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL, OBJECT_STORE_DIR, REWRITE_CRON } = settings;
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  const database = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => database.end());
  const db = resources.use(openReadDatabase(DATABASE_URL));
  const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
  const readPosition = resources.use(openReadPosition(DATABASE_URL, database, log));
  const shared = { db, eventStore, clock: systemClock, log };

  resources.use(scheduleRewrites({ database, cron: REWRITE_CRON, log, signal }));
  resources.use(scheduleBriefs({ ...shared, readPosition }, signal));
  const exporting = exportReports({
    ...shared,
    objectStore: openObjectStore(OBJECT_STORE_DIR),
    signal,
    workerId: `worker_${randomUUID()}`,
    leaseSeconds: settings.REPORT_LEASE_SECONDS,
  });
  resources.defer(() => exporting);
  const nats = resources.use(await openNats(NATS_URL, 'worker'));
  const asking = requestScansWhenDue({ db, nats, clock: systemClock, log, signal });
  resources.defer(() => asking);
  operatorPort.started();
  log.info({ rewrite_cron: REWRITE_CRON }, 'working');
});
