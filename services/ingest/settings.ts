import { z } from 'zod';
import { archiveSettings } from '#application/media-archive/archive-tables.ts';
import { serverSettings } from '#platform/settings.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { WAITING_IN_MEMORY_MAX } from './queue/consumer.ts';
import { LARGE_OBSERVATION_BYTES } from './queue/slots.ts';

export const IngestSettings = z.object({
  ...serverSettings,
  ...serviceSettings,
  ...archiveSettings,
  INGEST_LANES: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(6)
    .describe(
      'Maximum number of observations processed at once. Order is kept within a brand, between scans of the same pages, and between scans and observations that register brands or link pages. With 1, all observations keep their order.',
    ),
});

/** Limits that no setting changes, for the settings reference. */
export const INGEST_LIMITS: readonly (readonly [name: string, value: number | string])[] = [
  ['`ingest`: bytes of an observation', OBSERVATION_MAX_BYTES],
  ['`ingest`: bytes above which observations use a third of `INGEST_LANES`', LARGE_OBSERVATION_BYTES],
  ['`ingest`: observations that wait in memory, without their bodies', WAITING_IN_MEMORY_MAX],
];
