import { z } from 'zod';
import { Port, readDatabaseSettings, secret, serverSettings } from '#platform/settings.ts';
import { processSettings } from '#platform/process/run-process.ts';
import { vaultSettings } from '#application/vault/cipher.ts';

const TOKEN_MIN_LENGTH = 16;

/** Settings shared by this process and the command line. */
export const auditSettings = {
  AUDIT_SIGNING_KEY: secret(
    z.string().optional(),
    'Ed25519 key that signs exports, as PEM or seed, made by `npm run ops -- audit keygen`; none are made without it.',
  ),
} as const;

export const OpsSettings = z.object({
  ...serverSettings,
  NATS_URL: serverSettings.NATS_URL.optional().meta(serverSettings.NATS_URL.meta() ?? {}),
  ...readDatabaseSettings,
  ...processSettings,
  OPS_HOST: z.string().default('127.0.0.1').describe("Where operators' HTTP listens."),
  OPS_PORT: Port.default(8081).describe("Port of operators' HTTP."),
  OPS_TOKEN: secret(
    z.string().min(TOKEN_MIN_LENGTH),
    'What operators send as bearer token, 16 characters at least.',
  ),
  OPS_TOKEN_SECOND: secret(z.string().min(TOKEN_MIN_LENGTH).optional(), 'Accepted too, while tokens change.'),
  ...vaultSettings,
  ...auditSettings,
});
