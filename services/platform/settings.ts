import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/**
 * The one place that reads the environment. Each process describes its settings with one schema; all
 * faults are reported at once, with the name of each setting.
 */
export class SettingsError extends Error {
  constructor(faults: readonly string[]) {
    super(`These settings are wrong or missing:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

/** An empty string counts as not set, as shells and compose files produce them. */
export const readSettings = <Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): z.infer<z.ZodObject<Shape>> => {
  const given = Object.fromEntries(
    Object.keys(schema.shape)
      .map((name) => [name, environment[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new SettingsError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
};

/**
 * How much of a setting's value may be shown, as its schema's `meta` says: `whole`, nothing of it; `credentials`, a URL
 * without what it is opened with. This is the one place where it is decided, for the log and for the reference.
 */
export type Secrecy = 'whole' | 'credentials';

/** A setting that nobody may see. */
export const secret = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description, secret: 'whole' satisfies Secrecy });

/** A URL that may hold a user and a password. */
export const credentialedUrl = <Schema extends z.ZodType>(schema: Schema, description: string): Schema =>
  schema.meta({ description, secret: 'credentials' satisfies Secrecy });

export const secrecyOf = (schema: z.ZodType): Secrecy | null =>
  (schema.meta()?.['secret'] as Secrecy | undefined) ?? null;

const HIDDEN = '[hidden]';
/** Words of a connection string that say nothing of anybody; the value of any other is hidden. */
const SHOWN_PARAMETERS =
  /^(sslmode|sslrootcert|sslcert|sslkey|application_name|tls|tlsverifycert|tlscafile|usercertfile|userkeyfile|ca_file|cert_file|key_file|credentials_file|nkey_seed_file|region|nodepreference|keepaliveinterval|keepalivetimeout|discoveryinterval|maxdiscoverattempts|gossiptimeout|throwonappendfailure|defaultdeadline)$/i;

/** `postgres://[hidden]@host/name?sslmode=verify-full`; nothing at all of what does not look like a URL. */
export const withoutCredentials = (url: string): string => {
  const parts = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^@?#]*)(?:\?([^#]*))?$/i.exec(url);
  if (!parts) return HIDDEN;
  const [, scheme = '', user, place = '', query] = parts;
  const shown = query?.split('&').map((pair) => {
    const [name = '', value] = pair.split('=', 2);
    return value === undefined || SHOWN_PARAMETERS.test(name) ? pair : `${name}=${HIDDEN}`;
  });
  return `${scheme}${user === undefined ? '' : `${HIDDEN}@`}${place}${shown ? `?${shown.join('&')}` : ''}`;
};

/** The settings as a process may say them: `null` for those that are not set. */
export const showSettings = (
  schema: z.ZodObject,
  settings: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(schema.shape).map(([name, one]) => {
      const value = settings[name] ?? null;
      const secrecy = value === null ? null : secrecyOf(one as z.ZodType);
      if (secrecy === 'whole') return [name, HIDDEN];
      return [
        name,
        secrecy === 'credentials' && typeof value === 'string' ? withoutCredentials(value) : value,
      ];
    }),
  );

/** The environment that child processes inherit. */
export const inheritedEnvironment = (): Readonly<Record<string, string | undefined>> => ({ ...process.env });

export const Port = z.coerce.number().int().min(0).max(65_535);
export const Seconds = z.coerce.number().positive();
export const LogLevel = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  .default('info');

const PostgresUrl = z.string().regex(/^postgres(ql)?:\/\//, 'a Postgres URL, postgres://…');

/** What every process that touches the three servers needs. */
export const serverSettings = {
  DATABASE_URL: credentialedUrl(
    PostgresUrl,
    'Postgres of the read models; `sslmode=verify-full` and `sslrootcert=FILE` for TLS.',
  ),
  EVENT_STORE_URL: credentialedUrl(
    z.string().regex(/^(esdb|kurrentdb)(\+discover)?:\/\//, 'an EventStoreDB connection string, esdb://…'),
    'EventStoreDB connection string; user and password in it, `tls=true` and `tlsCAFile=FILE` for TLS.',
  ),
  NATS_URL: credentialedUrl(
    z.string().regex(/^(nats|tls):\/\//, 'a NATS URL, nats://… or tls://…'),
    'NATS with JetStream, hosts of a cluster with commas between; `tls://` and `ca_file=FILE` for TLS; user and password or a token in it, or `credentials_file` or `nkey_seed_file`.',
  ),
  LOG_LEVEL: LogLevel.describe('How much is logged: `fatal` to `trace`, or `silent`.'),
} as const;

/** A role that may only read: `npm run ops -- database grant-reads` makes what it needs. */
export const readDatabaseSettings = {
  READ_DATABASE_URL: credentialedUrl(
    PostgresUrl.optional(),
    'The same Postgres, or a replica of it, as a role that may only read; `DATABASE_URL` when not set.',
  ),
} as const;

/** What `npm start` writes down about the stack it runs. */
export const LocalStack = z.object({
  api_url: z.string(),
  ops_url: z.string(),
  event_store_url: z.string(),
  database_url: z.string(),
  nats_url: z.string(),
  workspace_id: z.string(),
  api_key: z.string(),
});
export type LocalStack = z.infer<typeof LocalStack>;

/** Secrets of the local stack that operator commands need too, as it keeps them in its data folder. */
const LocalSecrets = z.object({ member_vault_key: z.string(), audit_signing_key: z.string() }).partial();

const DataDirectory = z.object({ DATA_DIR: z.string().default('.data') });

/**
 * The environment, completed by the running local stack: a command-line tool started beside `npm start`
 * finds its servers without settings. What the environment says wins.
 */
export const environmentWithLocalStack = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string | undefined>> => {
  const { DATA_DIR } = readSettings(DataDirectory, environment);
  let local: LocalStack;
  let secrets: z.infer<typeof LocalSecrets>;
  const read = (name: string): unknown => JSON.parse(readFileSync(join(DATA_DIR, name), 'utf8'));
  try {
    local = LocalStack.parse(read('local.json'));
    secrets = LocalSecrets.parse(read('secrets.json'));
  } catch {
    return environment;
  }
  const found = {
    DATABASE_URL: local.database_url,
    EVENT_STORE_URL: local.event_store_url,
    NATS_URL: local.nats_url,
    MEMBER_VAULT_KEY: secrets.member_vault_key,
    AUDIT_SIGNING_KEY: secrets.audit_signing_key,
  };
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  return { ...found, ...given };
};
