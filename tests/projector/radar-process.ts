import { z } from 'zod';
import { readSettings, serverSettings } from '#platform/settings.ts';
import { createLog } from '#platform/logger.ts';
import { radar } from '#projections/radar/project.ts';
import { runProjections } from '#services/projector/run.ts';

const { DATABASE_URL, EVENT_STORE_URL } = readSettings(
  z.object({ DATABASE_URL: serverSettings.DATABASE_URL, EVENT_STORE_URL: serverSettings.EVENT_STORE_URL }),
);
await runProjections({
  databaseUrl: DATABASE_URL,
  eventStoreUrl: EVENT_STORE_URL,
  projections: [radar],
  log: createLog('projector', 'info'),
  signal: new AbortController().signal,
});
