import { z } from 'zod';
import { readSettings, serverSettings } from '#platform/config.ts';
import { createLog } from '#platform/log.ts';
import { runProcess } from '#platform/process.ts';
import { projections } from '#projections/index.ts';
import { runProjections } from './run-projections.ts';

const { DATABASE_URL, EVENT_STORE_URL, LOG_LEVEL } = readSettings(
  z.object({
    DATABASE_URL: serverSettings.DATABASE_URL,
    EVENT_STORE_URL: serverSettings.EVENT_STORE_URL,
    LOG_LEVEL: serverSettings.LOG_LEVEL,
  }),
);

await runProcess(createLog('projector', LOG_LEVEL), async ({ resources, log, signal }) => {
  const running = runProjections({
    databaseUrl: DATABASE_URL,
    eventStoreUrl: EVENT_STORE_URL,
    projections,
    log,
    signal,
  });
  resources.defer(() => running);
});
