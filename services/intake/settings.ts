import { z } from 'zod';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { Addresses, Port, serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';

export const IntakeSettings = z
  .object({
    ...serverSettings,
    ...natsStreamSettings,
    ...serviceSettings,
    INTAKE_HOST: z
      .string()
      .default('127.0.0.1')
      .describe('Where the intake of third-party collectors listens.'),
    INTAKE_PORT: Port.default(8083).describe('Port of the intake.'),
    INTAKE_TRUSTED_PROXIES: Addresses.optional().describe(
      'Proxies in front of the intake, addresses or ranges with commas between: their `x-forwarded-for` names the client. Without it, all clients behind a proxy share one limit of refused requests.',
    ),
    ...objectStoreSettings,
  })
  .omit({ EVENT_STORE_URL: true });
