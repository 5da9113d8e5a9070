import { z } from 'zod';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { LISTEN_HOST, Port, serverSettings, TRUSTED_PROXIES } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';

export const IntakeSettings = z
  .object({
    ...serverSettings,
    ...natsStreamSettings,
    ...serviceSettings,
    LISTEN_HOST,
    INTAKE_PORT: Port.default(8083).describe('Port of the intake.'),
    TRUSTED_PROXIES,
    ...objectStoreSettings,
  })
  .omit({ EVENT_STORE_URL: true });
