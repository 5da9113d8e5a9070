import { z } from 'zod';
import { emailSettings } from '#platform/channels/email.ts';
import { REFUSED_PER_MINUTE } from '#application/access/request-counts.ts';
import { Addresses, Port, readDatabaseSettings, secret, serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { requestBudgetSettings } from '#platform/concurrency/time-budget.ts';
import { readAnswerSettings } from '#platform/postgres/settings.ts';
import { eventStoreAnswerSettings } from '#platform/event-store/settings.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { botKeySettings } from '#platform/http-client/bot-key.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { vaultSettings } from '#application/vault/cipher.ts';

const SECRET_MIN_LENGTH = 16;

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
  API_HOST: z.string().default('127.0.0.1').describe('Where the API listens.'),
  API_PORT: Port.default(8080).describe('Port of the API.'),
  API_BASE_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('Where clients reach the API, without a slash at its end; from host and port when not set.'),
  API_TRUSTED_PROXIES: Addresses.optional().describe(
    'Proxies in front of the API, addresses or ranges with commas between: their `x-forwarded-for` names the client. Without it, all clients behind a proxy share one limit of refused requests.',
  ),
  API_REQUESTS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Requests per minute of every workspace, instead of those of its plan; for load tests.'),
  API_REFUSED_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .default(REFUSED_PER_MINUTE)
    .describe(
      'Requests without a valid key per minute and client address (IPv6: per /64), over all API processes; further ones get 429 before their key is hashed. Keys that were valid within the hour are not held up.',
    ),
  CURSOR_SECRET: secret(
    z.string().min(SECRET_MIN_LENGTH),
    'Secret that signs cursors; the same in every API process, at least 16 characters.',
  ),
  CURSOR_SECRET_SECOND: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Second secret accepted for cursors, for rotation.',
  ),
  DOWNLOAD_SECRET: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Secret that signs links to report files; `CURSOR_SECRET` when not set.',
  ),
  DOWNLOAD_SECRET_SECOND: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Second secret accepted for links, for rotation; `CURSOR_SECRET_SECOND` when not set.',
  ),
  ...objectStoreSettings,
  ...emailSettings,
  ...egressSettings,
  ...botKeySettings,
  ...vaultSettings,
});
