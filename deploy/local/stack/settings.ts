import { join, resolve } from 'node:path';
import { z } from 'zod';
import {
  AllowPlainText,
  CollectContact,
  credentialedUrl,
  dataFolderSettings,
  LogLevel,
  MAIL_FOLDER,
  OBJECTS_FOLDER,
  Port,
  readSettings,
  serverUrl,
} from '#platform/settings.ts';

const DEMO_ADS_DEFAULT = 3_000;
const DEMO_ADS_MAX = 20_000_000;
const DEMO_PULSE_SECONDS_MAX = 3_600;

const Whole = (max: number) => z.coerce.number().int().min(0).max(max);

/** A port that is taken is replaced by a free one. */
export const LocalSettings = z.object({
  DATA_DIR: dataFolderSettings.DATA_DIR.describe('Data folder of the local stack.'),
  API_PORT: Port.default(8080).describe('Port of the REST API.'),
  API_BASE_URL: z
    .url()
    .optional()
    .describe('Where clients reach the REST API, for links in replies, if not on this machine.'),
  TEST_MODE: z
    .stringbool()
    .default(false)
    .describe('`true` makes the demo a test world, with the public key of the guide.'),
  CORS_ORIGINS: z
    .string()
    .optional()
    .describe('Origins whose pages may call the REST API. Not set: all; with `TEST_MODE` its own alone.'),
  OPS_PORT: Port.default(8081).describe('Port of the operator API.'),
  MCP_PORT: Port.default(8082).describe('Port of the MCP server.'),
  INTAKE_PORT: Port.default(8083).describe('Port of the intake of third-party collectors.'),
  COLLECT_CONTACT: CollectContact.optional().describe(
    'URL or e-mail address at which sites reach you. With it the collector runs, and reads sites in the internet.',
  ),
  COLLECT_SOURCES: z
    .string()
    .default('storefront,site,landing_pages')
    .describe(
      'Sources that the collector reads, separated by commas: `storefront`, `site`, `landing_pages`, `ads_archive`.',
    ),
  EVENT_STORE_PORT: Port.default(2113).describe('Port of the local event store.'),
  DATABASE_URL: serverUrl(
    'postgres',
    z.string().optional(),
    'A PostgreSQL for the read models, instead of the local one.',
  ),
  EVENT_STORE_URL: serverUrl(
    'event_store',
    z.string().optional(),
    'An EventStoreDB, instead of the local event store.',
  ),
  NATS_URL: serverUrl(
    'nats',
    z.string().optional(),
    'A NATS server with JetStream, instead of the local one.',
  ),
  SERVERS_ALLOW_PLAIN_TEXT: AllowPlainText,
  SMTP_URL: credentialedUrl(
    z.string().optional(),
    'A mail server, smtp:// or smtps://; without one, e-mails are .eml files in DATA_DIR/mail.',
  ),
  DEMO_ADS: Whole(DEMO_ADS_MAX)
    .default(DEMO_ADS_DEFAULT)
    .describe(
      'Ads of the synthetic demo corpus, which decide its brands and days too: 3,000 ads are of 40 brands in 60 days; 0 loads no corpus.',
    ),
  DEMO_PULSE_SECONDS: Whole(DEMO_PULSE_SECONDS_MAX)
    .default(180)
    .describe('Seconds between two starts of ads in the running demo, at brands it tracks; 0 stands still.'),
  MEDIA_ARCHIVE: z
    .enum(['off', 'images', 'all'])
    .default('all')
    .describe('Files of the demo that are played and copied: `off`, `images`, or `all` with films.'),
  LOG_LEVEL: LogLevel.describe('Log level of every process. Logs are in DATA_DIR/logs.'),
});
export type LocalSettings = z.infer<typeof LocalSettings>;

/** With the demo and a public key. */
export const isTestWorld = ({
  DEMO_ADS,
  TEST_MODE,
}: Pick<LocalSettings, 'DEMO_ADS' | 'TEST_MODE'>): boolean => TEST_MODE && DEMO_ADS > 0;

export const readLocalSettings = (): LocalSettings => readSettings(LocalSettings);

export const settingsHelp = (): string =>
  Object.entries(LocalSettings.shape)
    .map(([name, schema]) => {
      const fallback = schema.safeParse(undefined).data;
      const text = schema.description ?? '';
      return `  ${name.padEnd(16)}  ${text}${fallback === undefined ? '' : ` Default: ${fallback}.`}`;
    })
    .join('\n');

/** `npm run reset` deletes these and nothing else. */
export const foldersOf = (dataDir: string) => {
  const root = resolve(dataDir);
  return {
    root,
    postgres: join(root, 'postgres'),
    nats: join(root, 'nats'),
    eventStore: join(root, 'event-store'),
    logs: join(root, 'logs'),
    objects: join(root, OBJECTS_FOLDER),
    mail: join(root, MAIL_FOLDER),
    run: join(root, 'run'),
    localFile: join(root, 'local.json'),
    secretsFile: join(root, 'secrets.json'),
    demoFile: join(root, 'demo.json'),
    receiverFile: join(root, 'receiver.json'),
    collectorFile: join(root, 'collector.json'),
  };
};
export type Folders = ReturnType<typeof foldersOf>;

/** Root folder; paths in settings are relative to the working directory instead. */
export const PROJECT = resolve(import.meta.dirname, '../../..');
/** Survives `npm run reset`. */
export const CACHE = join(PROJECT, '.cache');
