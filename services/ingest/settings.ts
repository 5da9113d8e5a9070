import { z } from 'zod';
import { archiveSettings } from '#application/media-archive/archive-tables.ts';
import { serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const IngestSettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  ...serviceSettings,
  ...archiveSettings,
  INGEST_LANES: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(6)
    .describe(
      'Maximum number of observations processed at once. Order is kept within a brand, between scans of the same pages, and of scans after observations that register brands or link pages. With 1, all observations keep their order.',
    ),
});
