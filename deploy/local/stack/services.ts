import { resolve } from 'node:path';
import { type Service, type ServiceDefinition, startService } from './supervisor.ts';
import { claimPort } from '../os/ports.ts';
import type { Progress } from './progress.ts';
import { answersOk, waitUntilReady } from './wait-until-ready.ts';
import type { Secrets } from './secrets.ts';
import { portNote, type Servers } from './servers.ts';
import { type Folders, isTestWorld, type LocalSettings } from './settings.ts';

const API_READY_MS = 60_000;
/** Services stop together. Unfinished work is found again in the log or the queue. */
const SERVICE_STOP_MS = 3_000;
/** A demo of the default size needs some 40 MB. */
const MEDIA_QUOTA_BYTES = 2_000_000_000;

export type RunningServices = {
  readonly apiUrl: string;
  readonly opsUrl: string;
  /** Without `/mcp`. */
  readonly mcpUrl: string;
  readonly intakeUrl: string;
  /** Resolves when the API answers. */
  untilReady(): Promise<void>;
  /**
   * Starts worker and media archive once the demo is tracked: the worker then signs the log, writes nightly lists and briefs, and
   * copying would slow the load down.
   */
  startAfterDemo(): Promise<void>;
};

/** Starts the processes that load the demo first, the others when the API answers. */
export const startServices = async (
  settings: LocalSettings,
  servers: Servers,
  secrets: Secrets,
  folders: Folders,
  /** `null` without a played media server; then no files are copied. */
  mediaOrigin: string | null,
  resources: AsyncDisposableStack,
  progress: Progress,
  signal: AbortSignal,
): Promise<RunningServices> => {
  const apiPort = await claimPort(settings.API_PORT, resources);
  const opsPort = await claimPort(settings.OPS_PORT, resources);
  const mcpPort = await claimPort(settings.MCP_PORT, resources);
  const mcpUrl = `http://127.0.0.1:${mcpPort}`;
  const intakePort = await claimPort(settings.INTAKE_PORT, resources);
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const baseUrl = settings.API_BASE_URL ?? apiUrl;
  const api: ServiceDefinition = {
    name: 'api',
    entry: 'services/api/main.ts',
    environment: {
      ...environmentOf(settings, servers),
      API_PORT: String(apiPort),
      API_BASE_URL: baseUrl,
      ...originsEnvironment(settings, [apiUrl, `http://localhost:${apiPort}`, new URL(baseUrl).origin]),
      ...testEnvironment(settings),
      CURSOR_SECRET: secrets.cursor_secret,
      MEMBER_VAULT_KEY: secrets.member_vault_key,
      ...sendingEnvironment(settings),
    },
  };
  const mcp: ServiceDefinition = {
    name: 'mcp',
    entry: 'services/mcp/main.ts',
    environment: {
      ...environmentOf(settings, servers),
      MCP_PORT: String(mcpPort),
      MCP_BASE_URL: mcpUrl,
      MCP_SECRET: secrets.mcp_secret,
      API_BASE_URL: baseUrl,
      CURSOR_SECRET: secrets.cursor_secret,
      MEMBER_VAULT_KEY: secrets.member_vault_key,
      ...sendingEnvironment(settings),
    },
  };
  const ops: ServiceDefinition = {
    name: 'ops',
    entry: 'services/ops/main.ts',
    environment: {
      ...environmentOf(settings, servers),
      ...operatorEnvironment(settings, secrets),
      OPS_PORT: String(opsPort),
      OPS_TOKEN: secrets.ops_token,
    },
  };
  const plain = (name: string): ServiceDefinition => ({
    name,
    entry: `services/${name}/main.ts`,
    environment: environmentOf(settings, servers),
  });
  const worker: ServiceDefinition = {
    ...plain('worker'),
    environment: { ...environmentOf(settings, servers), AUDIT_SIGNING_KEY: secrets.audit_signing_key },
  };
  const delivery: ServiceDefinition = {
    ...plain('delivery'),
    environment: {
      ...environmentOf(settings, servers),
      ...sendingEnvironment(settings),
      MEMBER_VAULT_KEY: secrets.member_vault_key,
    },
  };
  const alerts: ServiceDefinition = {
    ...plain('alerts'),
    environment: { ...environmentOf(settings, servers), API_BASE_URL: baseUrl },
  };
  const intake: ServiceDefinition = {
    ...plain('intake'),
    environment: { ...environmentOf(settings, servers), INTAKE_PORT: String(intakePort) },
  };
  const mediaArchive = mediaOrigin === null ? 'off' : settings.MEDIA_ARCHIVE;
  const ingest: ServiceDefinition = {
    ...plain('ingest'),
    environment: { ...environmentOf(settings, servers), MEDIA_ARCHIVE: mediaArchive },
  };
  const media: readonly ServiceDefinition[] =
    mediaOrigin === null
      ? []
      : [
          {
            ...plain('media'),
            environment: {
              ...environmentOf(settings, servers),
              MEDIA_ARCHIVE: mediaArchive,
              MEDIA_QUOTA_BYTES: String(MEDIA_QUOTA_BYTES),
              COLLECT_VIA: mediaOrigin,
              EGRESS_ALLOW_LOOPBACK: 'true',
            },
          },
        ];
  const collector: readonly ServiceDefinition[] =
    settings.COLLECT_CONTACT === undefined
      ? []
      : [
          {
            ...plain('collector'),
            environment: {
              ...environmentOf(settings, servers),
              COLLECT_CONTACT: settings.COLLECT_CONTACT,
              COLLECT_SOURCES: settings.COLLECT_SOURCES,
              MEMBER_VAULT_KEY: secrets.member_vault_key,
            },
          },
        ];
  const running: Service[] = [];
  resources.defer(async () => {
    await ready.catch(() => undefined);
    await Promise.all(running.map((service) => service.stop(SERVICE_STOP_MS)));
  });
  const start = async (definition: ServiceDefinition): Promise<void> => {
    running.push(await startService(definition, folders, progress.step));
  };
  const first = [ingest, plain('projector'), api];
  const others = [intake, ops, mcp, delivery, alerts, ...collector];
  for (const definition of first) await start(definition);
  const startOthers = async (): Promise<void> => {
    await waitUntilReady('The API', API_READY_MS, running.at(-1) ?? null, signal, () =>
      answersOk(`${apiUrl}/v1/openapi.json`),
    );
    for (const definition of others) {
      signal.throwIfAborted();
      await start(definition);
    }
    progress.step(
      `services: ${running.map(({ name }) => name).join(', ')}; API on port ${apiPort}${portNote(settings.API_PORT, apiPort)}, operators on ${opsPort}${portNote(settings.OPS_PORT, opsPort)}, MCP on ${mcpPort}${portNote(settings.MCP_PORT, mcpPort)}, intake on ${intakePort}${portNote(settings.INTAKE_PORT, intakePort)}`,
    );
  };
  const ready = startOthers();
  // Reported where it is awaited.
  ready.catch(() => undefined);
  return {
    apiUrl,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    mcpUrl,
    intakeUrl: `http://127.0.0.1:${intakePort}`,
    untilReady: () => ready,
    startAfterDemo: async () => {
      for (const definition of [worker, ...media]) await start(definition);
    },
  };
};

/** All processes and their servers share this machine: a late event loop says little about the load of one process. */
const LOOP_DELAY_MS = 1_000;

export const environmentOf = (
  settings: LocalSettings,
  servers: Servers,
): Readonly<Record<string, string>> => ({
  DATA_DIR: resolve(settings.DATA_DIR),
  DATABASE_URL: servers.databaseUrl,
  EVENT_STORE_URL: servers.eventStoreUrl,
  NATS_URL: servers.natsUrl,
  SERVERS_ALLOW_PLAIN_TEXT: settings.SERVERS_ALLOW_PLAIN_TEXT,
  LOG_LEVEL: settings.LOG_LEVEL,
  LOOP_DELAY_MS: String(LOOP_DELAY_MS),
});

/** Allows webhooks to loopback and http; e-mails are files by default. */
const sendingEnvironment = ({ SMTP_URL }: LocalSettings): Readonly<Record<string, string>> => ({
  EGRESS_ALLOW_LOOPBACK: 'true',
  ...(SMTP_URL === undefined ? {} : { SMTP_URL }),
});

/** A test world has a public key, so pages of other origins are named one by one. */
const originsEnvironment = (settings: LocalSettings, own: readonly string[]) => {
  const origins = settings.CORS_ORIGINS ?? (isTestWorld(settings) ? own.join() : undefined);
  return origins === undefined ? {} : { CORS_ORIGINS: origins };
};

const testEnvironment = (settings: LocalSettings) => ({ TEST_MODE: String(isTestWorld(settings)) });

export const operatorEnvironment = (
  settings: LocalSettings,
  secrets: Secrets,
): Readonly<Record<string, string>> => ({
  ...testEnvironment(settings),
  MEMBER_VAULT_KEY: secrets.member_vault_key,
  AUDIT_SIGNING_KEY: secrets.audit_signing_key,
});
