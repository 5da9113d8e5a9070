import { z } from 'zod';
import { systemClock } from '#platform/clock.ts';
import { readSettings, serverSettings } from '#platform/config.ts';
import { createLog } from '#platform/log.ts';
import { openNats } from '#platform/nats.ts';
import { openPool, openReadDatabase } from '#platform/postgres.ts';
import { runProcess } from '#platform/process.ts';
import { requestScansWhenDue } from './request-scans.ts';
import { scheduleRewrites } from './schedule-rewrites.ts';

const POOL_CLIENTS = 3;

const { DATABASE_URL, NATS_URL, LOG_LEVEL, REWRITE_CRON } = readSettings(
  z.object({
    DATABASE_URL: serverSettings.DATABASE_URL,
    NATS_URL: serverSettings.NATS_URL,
    LOG_LEVEL: serverSettings.LOG_LEVEL,
    /** When the nightly lists are rewritten, as a cron expression in UTC. */
    REWRITE_CRON: z.string().default('0 2 * * *'),
  }),
);

await runProcess(createLog('worker', LOG_LEVEL), async ({ resources, log, signal }) => {
  const database = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => database.end());
  const db = resources.use(openReadDatabase(DATABASE_URL));
  resources.use(scheduleRewrites({ database, cron: REWRITE_CRON, log, signal }));
  const nats = resources.use(await openNats(NATS_URL, 'worker'));
  const asking = requestScansWhenDue({ db, nats, clock: systemClock, log, signal });
  resources.defer(() => asking);
  log.info({ rewrite_cron: REWRITE_CRON }, 'working');
});
