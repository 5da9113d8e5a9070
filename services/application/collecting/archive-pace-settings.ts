import { z } from 'zod';
import { ARCHIVE_CALLS_PER_HOUR } from '#domain/collecting/pace.ts';

const CALLS_PER_HOUR_MAX = 10_000;

/** The collector keeps to this pace, and the forecasts of commands and of ops count with it. */
export const archivePaceSettings = {
  ADS_ARCHIVE_CALLS_PER_HOUR: z.coerce
    .number()
    .int()
    .min(1)
    .max(CALLS_PER_HOUR_MAX)
    .default(ARCHIVE_CALLS_PER_HOUR)
    .describe(
      'Calls an hour to the library API with each account, at most. The platform allows an app 200 by its formula. The collector keeps to it, and ops forecasts with it: set the same for both.',
    ),
};
