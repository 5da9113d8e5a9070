import { z } from 'zod';
import { Seconds, serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const WorkerSettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  ...serviceSettings,
  ...objectStoreSettings,
  REWRITE_CRON: z
    .string()
    .default('0 2 * * *')
    .describe('When the nightly lists are rewritten, as a cron expression in UTC.'),
  VERIFY_CRON: z
    .string()
    .default('30 3 * * *')
    .describe('When the figures of all brands are checked against each other, as a cron expression in UTC.'),
  REPORT_LEASE_SECONDS: Seconds.default(60).describe(
    'Lease of a report export. Another worker takes the report over when the lease expires.',
  ),
});
