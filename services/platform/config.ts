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

/** The environment that child processes inherit. */
export const inheritedEnvironment = (): Readonly<Record<string, string | undefined>> => ({ ...process.env });

export const Port = z.coerce.number().int().min(0).max(65_535);
export const Seconds = z.coerce.number().positive();
export const LogLevel = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  .default('info');

/** What every process that touches the three servers needs. */
export const serverSettings = {
  DATABASE_URL: z.string().min(1, 'the Postgres URL of the read models'),
  EVENT_STORE_URL: z.string().min(1, 'an EventStoreDB connection string, esdb://…'),
  NATS_URL: z.string().min(1, 'a NATS URL, nats://…'),
  LOG_LEVEL: LogLevel,
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
