import { z } from 'zod';
import { testModeSettings } from '#application/access/key-format.ts';
import { operationSettings } from '#operations/dependencies/open-resources.ts';
import { botKeySettings } from '#platform/http-client/bot-key.ts';
import { credentialedUrl, Port } from '#platform/settings.ts';
import { CORS_ORIGINS } from './server/cross-origin.ts';

const TEST_WORLD_URL = credentialedUrl(
  z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => new URL(url).origin === url,
      'an address without a path, such as https://test.ads.example',
    )
    .optional(),
  'Address of an installation with `TEST_MODE`, such as `npm start`: requests with a key `svc_test_…` are passed on to it. Without it they get 401. Links in replies lead where its `API_BASE_URL` says: give it that of this installation. Its `TRUSTED_PROXIES` names this one, whose `x-forwarded-for` names the client.',
);

export const ApiSettings = z.object({
  ...operationSettings,
  LOOP_DELAY_MS: z.coerce
    .number()
    .int()
    .min(10)
    .default(100)
    .describe(
      'Milliseconds by which the event loop may be late, on average over a second. Beyond it, reads get 503 with `retry-after`. Commands go on.',
    ),
  API_PORT: Port.default(8080).describe('Port of the API.'),
  API_BASE_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('Where clients reach the API, without a slash at its end; from host and port when not set.'),
  CORS_ORIGINS,
  API_REQUESTS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe(
      'Requests per minute of every workspace, instead of those of its plan, and of every address without a valid key; for load tests.',
    ),
  ...testModeSettings,
  TEST_WORLD_URL,
  ...botKeySettings,
});
