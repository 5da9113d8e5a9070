import { randomUUID } from 'node:crypto';
import { SCRAPE_REQUESTED, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import { systemClock } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { readSigningKey } from '#application/audit/signing-key.ts';
import { openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { checkKnownLog, waitForServers } from '#platform/process/wait-for-servers.ts';
import { scheduleDigests } from './log-digests.ts';
import { exportReports } from './reports/report-worker.ts';
import { fulfilWhenObserved } from './brand-requests.ts';
import { scheduleBriefs } from './weekly-briefs.ts';
import { requestScansWhenDue } from './scans/scan-cadence.ts';
import { scheduleRewrites, scheduleVerification } from './nightly.ts';
import { scheduleRestatements } from './restatements.ts';
import { WorkerSettings } from './settings.ts';

const POOL_CLIENTS = 3;
/** Cron expressions in UTC. */
const REWRITE_CRON = '0 2 * * *';
const VERIFY_CRON = '30 3 * * *';
const RESTATE_CRON = '30 4 * * *';
const DIGEST_CRON = '10 0 * * *';
/** Renewed while an export runs. Another worker takes a report over when it expires. */
const REPORT_LEASE_SECONDS = 15;

await runProcess('worker', WorkerSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL, AUDIT_SIGNING_KEY } = settings;
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  await waitForServers(log, signal, { DATABASE_URL });
  await checkKnownLog(log, signal, { DATABASE_URL, EVENT_STORE_URL });
  const database = openPool(DATABASE_URL, POOL_CLIENTS, { statement_timeout: LONG_STATEMENT_TIMEOUT_MS });
  resources.defer(() => database.end());
  const db = resources.use(openReadDatabase(DATABASE_URL));
  const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
  const projectionWait = resources.use(openProjectionWait(DATABASE_URL, database, log));
  const shared = { db, eventStore, clock: systemClock, log };

  resources.use(scheduleRewrites({ database, cron: REWRITE_CRON, log, signal }));
  resources.use(scheduleVerification({ database, cron: VERIFY_CRON, log, signal }));
  resources.use(scheduleBriefs({ ...shared, projectionWait }, signal));
  if (AUDIT_SIGNING_KEY !== undefined) {
    const signingKey = readSigningKey(AUDIT_SIGNING_KEY);
    const rawLog = openRawLog(EVENT_STORE_URL);
    const maker = { database, rawLog, eventStore, signingKey, service: 'worker' };
    resources.use(scheduleDigests({ ...maker, clock: systemClock, log, cron: DIGEST_CRON, signal }));
  } else log.info('no digests of the log: AUDIT_SIGNING_KEY is not set');
  const objectStore = await openObjectStore(settings);
  const restating = { ...shared, database, projectionWait, objectStore, cron: RESTATE_CRON };
  resources.use(scheduleRestatements(restating, signal));
  const exporting = exportReports({
    ...shared,
    objectStore,
    signal,
    workerId: `worker_${randomUUID()}`,
    leaseSeconds: REPORT_LEASE_SECONDS,
  });
  resources.defer(() => exporting);
  const fulfilling = fulfilWhenObserved({ ...shared, signal });
  resources.defer(() => fulfilling);
  // Only scan requests need NATS, and they stay due, so a missing server does not block the start. Ends with the process.
  const nats = untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'worker', settings));
  let requesting: Promise<void> | undefined;
  const requestScans = async (): Promise<void> => {
    const { jetstream } = await nats;
    const publish = async (request: ScrapeRequested, msgID: string): Promise<void> => {
      await jetstream.publish(SCRAPE_REQUESTED, JSON.stringify(request), { msgID });
    };
    requesting = requestScansWhenDue({
      db,
      databaseUrl: DATABASE_URL,
      clock: systemClock,
      publish,
      log,
      signal,
    });
  };
  requestScans().catch(() => undefined);
  resources.defer(() => requesting);
  operatorPort.started();
  log.info({ rewrite_cron: REWRITE_CRON }, 'worker started');
});
