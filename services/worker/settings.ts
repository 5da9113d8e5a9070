import { z } from 'zod';
import { Seconds, serverSettings } from '#platform/settings.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const WorkerSettings = z.object({
  ...serverSettings,
  ...serviceSettings,
  ...objectStoreSettings,
  REWRITE_CRON: z
    .string()
    .default('0 2 * * *')
    .describe('When the nightly lists are rewritten, as a cron expression in UTC.'),
  REPORT_LEASE_SECONDS: Seconds.default(60).describe(
    'A report whose worker was not heard of for so long is taken over by another.',
  ),
});
