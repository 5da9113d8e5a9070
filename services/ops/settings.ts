import { z } from 'zod';
import { Port, readDatabaseSettings, secret, serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { processSettings } from '#platform/process/run-process.ts';
import { archivePaceSettings } from '#application/collecting/archive-pace-settings.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { auditSettings } from './audit/signing-key.ts';

const TOKEN_MIN_LENGTH = 16;

export const OpsSettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  NATS_URL: serverSettings.NATS_URL.optional().meta(serverSettings.NATS_URL.meta() ?? {}),
  ...readDatabaseSettings,
  ...processSettings,
  OPS_HOST: z.string().default('127.0.0.1').describe('Listen address of the operator HTTP server.'),
  OPS_PORT: Port.default(8081).describe('Port of the operator HTTP server.'),
  OPS_TOKEN: secret(z.string().min(TOKEN_MIN_LENGTH), 'Bearer token of operators, at least 16 characters.'),
  OPS_TOKEN_SECOND: secret(
    z.string().min(TOKEN_MIN_LENGTH).optional(),
    'Second accepted token, for rotation.',
  ),
  ...archivePaceSettings,
  ...vaultSettings,
  ...auditSettings,
});
