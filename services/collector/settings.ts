import { z } from 'zod';
import { egressSettings } from '#platform/egress/http-client.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { CollectContact, serverSettings } from '#platform/settings.ts';

/** Sources that the collector reads. */
export const SOURCES = ['storefront'] as const;

const { DATABASE_URL, NATS_URL } = serverSettings;

export const CollectorSettings = z.object({
  DATABASE_URL,
  NATS_URL,
  ...serviceSettings,
  ...egressSettings,
  COLLECT_SOURCES: z
    .string()
    .transform((text) => text.split(',').map((source) => source.trim()))
    .pipe(z.array(z.enum(SOURCES)).min(1))
    .default([...SOURCES])
    .describe('Sources that are read, separated by commas: `storefront`.'),
  COLLECT_CONTACT: CollectContact.describe(
    'URL or e-mail address at which sites reach you. It is part of the `User-Agent` of every request.',
  ),
  COLLECT_VIA: z
    .string()
    .regex(
      /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/,
      'an origin on loopback, http://127.0.0.1:PORT',
    )
    .optional()
    .describe(
      'Origin on loopback that receives all requests, each with the `Host` of its URL, without a pace; for tests and the local stack. Needs `EGRESS_ALLOW_LOOPBACK`.',
    ),
});
