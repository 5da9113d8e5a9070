import { z } from 'zod';
import { archiveSettings } from '#application/media-archive/archive-tables.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { CollectContact, CollectVia, serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';

const GIGABYTE = 1_000_000_000;

export const MediaSettings = z
  .object({
    ...serverSettings,
    ...natsStreamSettings,
    ...serviceSettings,
    ...archiveSettings,
    ...egressSettings,
    ...objectStoreSettings,
    COLLECT_VIA: CollectVia,
    COLLECT_CONTACT: CollectContact.optional().describe(
      'URL or e-mail address at which servers of media reach you, as part of the `User-Agent`; not named when not set.',
    ),
    MEDIA_QUOTA_BYTES: z.coerce
      .number()
      .int()
      .min(1)
      .default(50 * GIGABYTE)
      .describe(
        'Bytes that the media archive may store. From 90 % on it stores no videos, from 100 % nothing.',
      ),
    MEDIA_KEEP_DAYS: z.coerce
      .number()
      .int()
      .min(1)
      .max(36_500)
      .optional()
      .describe(
        'Days after the last scan that showed a file until it is removed; kept for ever when not set.',
      ),
  })
  .omit({ EVENT_STORE_URL: true });
