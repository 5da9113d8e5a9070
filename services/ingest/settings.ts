import { z } from 'zod';
import { serverSettings } from '#platform/settings.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const IngestSettings = z.object({
  ...serverSettings,
  ...serviceSettings,
  INGEST_LANES: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(6)
    .describe(
      "Observations worked on at once. One brand's keep their order, and so do scans of the same pages, and scans with what names brands and their pages; with 1, all do.",
    ),
});
