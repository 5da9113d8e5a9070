import { z } from 'zod';
import { serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const AlertsSettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  ...serviceSettings,
  API_BASE_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .describe('Base URL of the API as clients reach it. Links in payloads begin with it.'),
});
