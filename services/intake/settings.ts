import { z } from 'zod';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { Port, serverSettings } from '#platform/settings.ts';
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
    ...objectStoreSettings,
  })
  .omit({ EVENT_STORE_URL: true });
