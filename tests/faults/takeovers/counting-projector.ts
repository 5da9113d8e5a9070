import { z } from 'zod';
import { createLog } from '#platform/logger.ts';
import { readSettings, serverSettings } from '#platform/settings.ts';
import { runProjections } from '#services/projector/run.ts';
import { COUNTERS } from './counters.ts';

/** Settings of a projector process that tests stop, cut off and kill. */
const { DATABASE_URL, EVENT_STORE_URL } = readSettings(
  z.object({ DATABASE_URL: serverSettings.DATABASE_URL, EVENT_STORE_URL: serverSettings.EVENT_STORE_URL }),
);
await runProjections({
  databaseUrl: DATABASE_URL,
  eventStoreUrl: EVENT_STORE_URL,
  projections: COUNTERS,
  log: createLog('projector', 'info'),
  signal: new AbortController().signal,
});
