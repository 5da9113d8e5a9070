import { z } from 'zod';
import { serverSettings } from '#platform/settings.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const AlertsSettings = z.object({
  ...serverSettings,
  ...serviceSettings,
  API_BASE_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .describe('Base URL of the API as clients reach it. Links in payloads begin with it.'),
});
