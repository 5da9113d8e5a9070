import { z } from 'zod';
import { emailSettings } from '#platform/channels/email.ts';
import { serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { requiredVaultSettings } from '#application/vault/cipher.ts';

export const DeliverySettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  ...serviceSettings,
  ...egressSettings,
  ...emailSettings,
  ...requiredVaultSettings,
});
