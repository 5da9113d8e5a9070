import { z } from 'zod';
import { readSettings, serverSettings } from '#platform/config.ts';
import { createLog } from '#platform/log.ts';
import { openPool } from '#platform/postgres.ts';
import { runProcess } from '#platform/process.ts';
import { scheduleRewrites } from './schedule-rewrites.ts';

const POOL_CLIENTS = 3;

const { DATABASE_URL, LOG_LEVEL, REWRITE_CRON } = readSettings(
  z.object({
    DATABASE_URL: serverSettings.DATABASE_URL,
    LOG_LEVEL: serverSettings.LOG_LEVEL,
    /** When the nightly lists are rewritten, as a cron expression in UTC. */
    REWRITE_CRON: z.string().default('0 2 * * *'),
  }),
);

await runProcess(createLog('worker', LOG_LEVEL), async ({ resources, log, signal }) => {
  const database = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => database.end());
  resources.use(scheduleRewrites({ database, cron: REWRITE_CRON, log, signal }));
  log.info({ rewrite_cron: REWRITE_CRON }, 'working');
});
