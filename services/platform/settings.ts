import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { plainTextHosts, type ServerKind } from './plain-text-hosts.ts';

/** The message lists all faults at once, with names of settings and without values. */
export class SettingsError extends Error {
  constructor(faults: readonly string[]) {
    super(`These settings are wrong or missing:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

const ALLOW_PLAIN_TEXT = 'SERVERS_ALLOW_PLAIN_TEXT';

const HOW_TO_ENCRYPT: Readonly<Record<ServerKind, string>> = {
  postgres: 'add `sslmode=verify-full&sslrootcert=FILE`',
  event_store: 'replace `tls=false` by `tls=true`, with user and password',
  nats: 'use `tls://` and `ca_file=FILE`',
};

const plainTextFaults = (schema: z.ZodObject, values: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(schema.shape).flatMap(([name, one]) => {
    const kind = (one as z.ZodType).meta()?.['server'] as ServerKind | undefined;
    const url = values[name];
    if (kind === undefined || typeof url !== 'string') return [];
    return plainTextHosts(kind, url).map(
      (host) =>
        `${name}: the connection to ${host} would not be encrypted; ${HOW_TO_ENCRYPT[kind]}, or set ${ALLOW_PLAIN_TEXT}=true where the network between is yours alone`,
    );
  });

/** Only this file reads `process.env`. Empty strings, as of compose files, are not set. Throws `SettingsError`. */
export const readSettings = <Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): z.infer<z.ZodObject<Shape>> => {
  const values = Object.fromEntries(
    Object.keys(schema.shape)
      .map((name) => [name, environment[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(values);
  const faults = (parsed.error?.issues ?? []).map((issue) => `${String(issue.path[0])}: ${issue.message}`);
  if (environment[ALLOW_PLAIN_TEXT] !== 'true') faults.push(...plainTextFaults(schema, values));
  if (parsed.success && faults.length === 0) return parsed.data;
  throw new SettingsError(faults);
};

/** Addresses or ranges, separated by commas. */
export const Addresses = z
  .string()
  .transform((text) => text.split(',').map((one) => one.trim()))
  .pipe(z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])));

/** One secret, or two while it changes: the first is used, both are accepted. */
export type ChangingSecret = readonly [string, second?: string | undefined];

/** `one`, or two of it with a comma between. */
export const Changing = (one: z.ZodType<string>): z.ZodType<ChangingSecret, string> =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.tuple([one, one.optional()]) as unknown as z.ZodType<ChangingSecret, string[]>);

/** Not that of the operator port, which has no authentication and stays on loopback by default. */
export const LISTEN_HOST = z
  .string()
  .default('127.0.0.1')
  .describe('Address that the HTTP server of the process listens on.');

/** `x-forwarded-for` of these names the client. */
export const TRUSTED_PROXIES = Addresses.optional().describe(
  'Proxies in front of the process, addresses or ranges with commas between: their `x-forwarded-for` names the client. Without it, all clients behind a proxy share one limit of refused requests.',
);

/** `whole`: never shown. `credentials`: a URL is shown without them. Stored in the `meta` of the schema. */
export type Secrecy = 'whole' | 'credentials';

export const secret = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description, secret: 'whole' satisfies Secrecy });

export const credentialedUrl = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description, secret: 'credentials' satisfies Secrecy });

/** Such a URL must not lead to another host in plain text. */
export const serverUrl = <Schema extends z.ZodType>(
  kind: ServerKind,
  schema: Schema,
  description: string,
): Schema => schema.meta({ description, secret: 'credentials' satisfies Secrecy, server: kind });

/** Secrecy of a setting; `null` when its value may be shown. */
export const secrecyOf = (schema: z.ZodType): Secrecy | null =>
  (schema.meta()?.['secret'] as Secrecy | undefined) ?? null;

const HIDDEN = '[hidden]';
/** The values of all other parameters are hidden. */
const SHOWN_PARAMETERS =
  /^(sslmode|sslrootcert|sslcert|sslkey|application_name|tls|tlsverifycert|tlscafile|usercertfile|userkeyfile|ca_file|cert_file|key_file|credentials_file|nkey_seed_file|region|nodepreference|keepaliveinterval|keepalivetimeout|discoveryinterval|maxdiscoverattempts|gossiptimeout|throwonappendfailure|defaultdeadline)$/i;

/** A text that is not a URL is hidden completely. */
export const withoutCredentials = (url: string): string => {
  const parts = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^@?#]*)(?:\?([^#]*))?$/i.exec(url);
  if (!parts) return HIDDEN;
  const [, scheme = '', user, location = '', query] = parts;
  const shown = query?.split('&').map((pair) => {
    const [name = '', value] = pair.split('=', 2);
    return value === undefined || SHOWN_PARAMETERS.test(name) ? pair : `${name}=${HIDDEN}`;
  });
  return `${scheme}${user === undefined ? '' : `${HIDDEN}@`}${location}${shown ? `?${shown.join('&')}` : ''}`;
};

/** The value may be a list of URLs. */
const showUrls = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutCredentials(value);
  return Array.isArray(value) ? value.map(showUrls) : value;
};

/** The value of an unset setting is `null`. */
export const showSettings = (
  schema: z.ZodObject,
  settings: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(schema.shape).map(([name, one]) => {
      const value = settings[name] ?? null;
      const secrecy = value === null ? null : secrecyOf(one as z.ZodType);
      if (secrecy === 'whole') return [name, HIDDEN];
      return [name, secrecy === 'credentials' ? showUrls(value) : value];
    }),
  );

export const inheritedEnvironment = (): Readonly<Record<string, string | undefined>> => ({ ...process.env });

export const Port = z.coerce.number().int().min(0).max(65_535);
export const LogLevel = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  .default('info');

/** Contact of the operator, which every request to a site names. */
export const CollectContact = z.union(
  [z.url({ protocol: /^https$/ }), z.email()],
  'an https URL or an e-mail address',
);

export const CollectVia = z
  .string()
  .regex(
    /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/,
    'an origin on loopback, http://127.0.0.1:PORT',
  )
  .optional()
  .describe(
    'Origin on loopback that receives all requests, each with the `Host` of its URL, without a pace; for tests and the local stack. Needs `EGRESS_ALLOW_LOOPBACK`.',
  );

const PostgresUrl = z.string().regex(/^postgres(ql)?:\/\//, 'a Postgres URL, postgres://…');

/** `readSettings` applies it. */
export const AllowPlainText = z
  .enum(['true', 'false'])
  .default('false')
  .describe(
    '`true` allows connections without TLS to Postgres, the event store, NATS and the mail server on other hosts. Otherwise a process refuses to start with such a URL, and sends no e-mail without STARTTLS.',
  );

export const serverSettings = {
  DATABASE_URL: serverUrl(
    'postgres',
    PostgresUrl,
    'Postgres URL of the read models; add `sslmode=verify-full` and `sslrootcert=FILE` for TLS.',
  ),
  EVENT_STORE_URL: serverUrl(
    'event_store',
    z.string().regex(/^(esdb|kurrentdb)(\+discover)?:\/\//, 'an EventStoreDB connection string, esdb://…'),
    'EventStoreDB connection string, with user and password; add `tls=true` and `tlsCAFile=FILE` for TLS.',
  ),
  NATS_URL: serverUrl(
    'nats',
    z.string().regex(/^(nats|tls):\/\//, 'a NATS URL, nats://… or tls://…'),
    'URL of NATS with JetStream; separate the hosts of a cluster with commas. For TLS: `tls://` and `ca_file=FILE`. To authenticate: user and password, a token, `credentials_file` or `nkey_seed_file`.',
  ),
  SERVERS_ALLOW_PLAIN_TEXT: AllowPlainText,
  LOG_LEVEL: LogLevel.describe('Minimum level of log messages: `fatal` to `trace`, or `silent`.'),
} as const;

/** `npm run ops -- database grant-reads` creates the privileges of the role. */
export const readDatabaseSettings = {
  READ_DATABASE_URL: serverUrl(
    'postgres',
    PostgresUrl.optional(),
    'URL for reads; `DATABASE_URL` when not set. On the same server: with a role that can only read. On another server: a streaming standby, which serves reads while it is less than 10 s late. Keys, commands and waits use `DATABASE_URL`.',
  ),
} as const;

/** `npm start` writes `local.json` about the local stack. */
export const LocalStack = z.object({
  api_url: z.string(),
  ops_url: z.string(),
  mcp_url: z.string(),
  intake_url: z.string(),
  event_store_url: z.string(),
  database_url: z.string(),
  nats_url: z.string(),
  workspace_id: z.string(),
  api_key: z.string(),
  member_id: z.string(),
});
export type LocalStack = z.infer<typeof LocalStack>;

/** Operator commands need these secrets of the local stack. */
const LocalSecrets = z.object({ member_vault_key: z.string(), audit_signing_key: z.string() }).partial();

/** Parts of the data folder: report files and media, and e-mails without a mail server. */
export const OBJECTS_FOLDER = 'objects';
export const MAIL_FOLDER = 'mail';

export const dataFolderSettings = {
  DATA_DIR: z
    .string()
    .min(1)
    .default('.data')
    .describe(
      'Data folder. `objects` in it has report files and media, `mail` has e-mails when no mail server is set; every process that writes or serves them must use the same folder or a mount of it.',
    ),
} as const;

/** The started local stack; `null` when there is none in the data folder. */
export const findLocalStack = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
): (LocalStack & { readonly secrets: z.infer<typeof LocalSecrets> }) | null => {
  const { DATA_DIR } = readSettings(z.object(dataFolderSettings), environment);
  const read = (name: string): unknown => JSON.parse(readFileSync(join(DATA_DIR, name), 'utf8'));
  try {
    return { ...LocalStack.parse(read('local.json')), secrets: LocalSecrets.parse(read('secrets.json')) };
  } catch {
    return null;
  }
};

/** The environment takes precedence. One that names another server gets nothing: local secrets must not sign there. */
export const environmentWithLocalStack = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string | undefined>> => {
  const local = findLocalStack(environment);
  if (local === null) return environment;
  const nonEmpty = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const servers = {
    DATABASE_URL: local.database_url,
    EVENT_STORE_URL: local.event_store_url,
    NATS_URL: local.nats_url,
  };
  if (Object.entries(servers).some(([name, url]) => (nonEmpty[name] ?? url) !== url)) return environment;
  const found = {
    ...servers,
    MCP_BASE_URL: local.mcp_url,
    MEMBER_VAULT_KEY: local.secrets.member_vault_key,
    AUDIT_SIGNING_KEY: local.secrets.audit_signing_key,
    ...(local.api_key.startsWith('svc_test_') ? { TEST_MODE: 'true' } : {}),
  };
  return { ...found, ...nonEmpty };
};
