import { z } from 'zod';
import { auditSettings } from '#application/audit/signing-key.ts';
import { serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';

export const WorkerSettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  ...serviceSettings,
  ...objectStoreSettings,
  ...auditSettings,
});
