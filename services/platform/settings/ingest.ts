import { z } from 'zod';
import { serverSettings } from '../config.ts';
import { serviceSettings } from '../process.ts';

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
      "Brands worked on at once. One brand's observations keep their order; with 1, those of all brands do.",
    ),
});
