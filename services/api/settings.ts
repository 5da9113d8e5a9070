import { z } from 'zod';
import { emailSettings } from '#platform/channels/email.ts';
import { Port, readDatabaseSettings, secret, serverSettings } from '#platform/settings.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { vaultSettings } from '#application/vault/cipher.ts';

const SECRET_MIN_LENGTH = 16;

export const ApiSettings = z.object({
  ...serverSettings,
  ...readDatabaseSettings,
  ...serviceSettings,
  API_HOST: z.string().default('127.0.0.1').describe('Where the API listens.'),
  API_PORT: Port.default(8080).describe('Port of the API.'),
  API_BASE_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('Where clients reach the API, without a slash at its end; from host and port when not set.'),
  CURSOR_SECRET: secret(
    z.string().min(SECRET_MIN_LENGTH),
    'Signs cursors; the same in every API process, 16 characters at least.',
  ),
  CURSOR_SECRET_SECOND: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Cursors signed by it are accepted too, while secrets change.',
  ),
  DOWNLOAD_SECRET: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Signs the links to report files; `CURSOR_SECRET` when not set.',
  ),
  DOWNLOAD_SECRET_SECOND: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Links signed by it are accepted too, while secrets change; `CURSOR_SECRET_SECOND` when not set.',
  ),
  ...objectStoreSettings,
  ...emailSettings,
  ...egressSettings,
  ...vaultSettings,
});
