import { z } from 'zod';
import {
  Changing,
  LISTEN_HOST,
  Port,
  readDatabaseSettings,
  secret,
  serverSettings,
} from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { processSettings } from '#platform/process/run-process.ts';
import { archivePaceSettings } from '#application/collecting/archive-pace-settings.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { auditSettings } from '#application/audit/signing-key.ts';

const TOKEN_MIN_LENGTH = 16;

export const OpsSettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  NATS_URL: serverSettings.NATS_URL.optional().meta(serverSettings.NATS_URL.meta() ?? {}),
  ...readDatabaseSettings,
  ...processSettings,
  LISTEN_HOST,
  OPS_PORT: Port.default(8081).describe('Port of the operator HTTP server.'),
  OPS_TOKEN: secret(
    Changing(z.string().min(TOKEN_MIN_LENGTH)),
    'Bearer token of operators, at least 16 characters. Two with a comma between while it changes.',
  ),
  ...archivePaceSettings,
  ...vaultSettings,
  ...auditSettings,
});
