import { z } from 'zod';
import { archivePaceSettings } from '#application/collecting/archive-pace-settings.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { Country } from '#contracts/values/primitives.ts';
import { ARCHIVE_COUNTRIES } from '#domain/collecting/archive-coverage.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { botKeySettings } from '#platform/http-client/bot-key.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { CollectContact, CollectVia, secret, serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';

export const SOURCES = ['storefront', 'site', 'landing_pages', 'ads_archive'] as const;

const { DATABASE_URL, NATS_URL, SERVERS_ALLOW_PLAIN_TEXT } = serverSettings;

/** The official library API. Its fields had other names before version 13. */
export const ADS_ARCHIVE = { origin: 'https://graph.facebook.com', version: 'v24.0' } as const;

const sharedSettings = {
  ...egressSettings,
  ...vaultSettings,
  COLLECT_VIA: CollectVia,
  ADS_ARCHIVE_APP: secret(
    z
      .string()
      .regex(/^\d{5,20}\|.{16,}$/, 'an app id and its secret, ID|SECRET')
      .transform((text) => ({
        id: text.slice(0, text.indexOf('|')),
        secret: text.slice(text.indexOf('|') + 1),
      }))
      .optional(),
    'Id and secret of your app at the platform, `ID|SECRET`, to exchange a token for one that is valid longer. With it each call proves that it comes from the app.',
  ),
} as const;

export const TokenSettings = z.object(sharedSettings);

export const CollectorSettings = z.object({
  DATABASE_URL,
  NATS_URL,
  ...natsStreamSettings,
  SERVERS_ALLOW_PLAIN_TEXT,
  ...serviceSettings,
  ...sharedSettings,
  ...botKeySettings,
  API_BASE_URL: z
    .url()
    .optional()
    .describe(
      'Where the API is reached. Needed with `BOT_KEY_FILE`, because sites read the public key there.',
    ),
  COLLECT_SOURCES: z
    .string()
    .transform((text) => text.split(',').map((source) => source.trim()))
    .pipe(z.array(z.enum(SOURCES)).min(1))
    .default(['storefront', 'site', 'landing_pages'])
    .describe(
      'Sources that are read, separated by commas: `storefront`, `site`, `landing_pages`, `ads_archive`.',
    ),
  ADS_ARCHIVE_COUNTRIES: z
    .string()
    .transform((text) => text.split(',').map((country) => country.trim()))
    .pipe(z.array(Country).min(1))
    .default([...ARCHIVE_COUNTRIES])
    .describe('Countries that the library API is asked for, separated by commas. The list may only grow.'),
  ADS_ARCHIVE_REACHED: z
    .stringbool()
    .default(false)
    .describe(
      '`true` also asks the library API which countries each ad reached. Answers are about three times as large.',
    ),
  ...archivePaceSettings,
  COLLECT_CONTACT: CollectContact.describe(
    'URL or e-mail address at which sites reach you. It is part of the `User-Agent` of every request.',
  ),
});
