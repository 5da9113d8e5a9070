import { z } from 'zod';
import { testModeSettings } from '#application/access/key-format.ts';
import { emailSettings } from '#platform/channels/email.ts';
import {
  Changing,
  credentialedUrl,
  LISTEN_HOST,
  Port,
  readDatabaseSettings,
  secret,
  serverSettings,
  TRUSTED_PROXIES,
} from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { requestBudgetSettings } from '#platform/concurrency/time-budget.ts';
import { readAnswerSettings } from '#platform/postgres/settings.ts';
import { eventStoreAnswerSettings } from '#platform/event-store/settings.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { botKeySettings } from '#platform/http-client/bot-key.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { CORS_ORIGINS } from './server/cross-origin.ts';
import { vaultSettings } from '#application/vault/cipher.ts';

const SECRET_MIN_LENGTH = 16;

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
  ...serverSettings,
  ...natsStreamSettings,
  ...eventStoreAnswerSettings,
  ...readAnswerSettings,
  ...requestBudgetSettings,
  LOOP_DELAY_MS: z.coerce
    .number()
    .int()
    .min(10)
    .default(100)
    .describe(
      'Milliseconds by which the event loop may be late, on average over a second. Beyond it, reads get 503 with `retry-after`. Commands go on.',
    ),
  ...readDatabaseSettings,
  ...serviceSettings,
  LISTEN_HOST,
  API_PORT: Port.default(8080).describe('Port of the API.'),
  API_BASE_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('Where clients reach the API, without a slash at its end; from host and port when not set.'),
  CORS_ORIGINS,
  TRUSTED_PROXIES,
  API_REQUESTS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe(
      'Requests per minute of every workspace, instead of those of its plan, and of every address without a valid key; for load tests.',
    ),
  CURSOR_SECRET: secret(
    Changing(z.string().min(SECRET_MIN_LENGTH)),
    'Secret that signs cursors and links to report files; the same in every API and MCP process, at least 16 characters. Two with a comma between while it changes: the first signs, both are accepted.',
  ),
  ...testModeSettings,
  TEST_WORLD_URL,
  ...objectStoreSettings,
  ...emailSettings,
  ...egressSettings,
  ...botKeySettings,
  ...vaultSettings,
});
