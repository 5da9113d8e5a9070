import { randomUUID } from 'node:crypto';
import { connectionIdOf } from '#domain/workspace/connection.ts';
import { createArchiveTables } from '#application/media-archive/archive-tables.ts';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { systemClock } from '#platform/clock.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { createAdapter } from '#services/mcp/sign-in/adapter.ts';
import { createConnections } from '#services/mcp/sign-in/connections.ts';
import { openReceivers, type Receivers } from '#tests/delivery/receivers.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import {
  type ApiStack,
  BASE_URL,
  type Key,
  openApiStack,
  VAULT_KEY,
} from '#tests/operations/fixtures/stack.ts';
import { openPlayedSites, type PlayedSites } from '#tests/platform/http-client/played-sites.ts';
import { startBucket } from '#tests/stack/bucket.ts';
import { createTestNats } from '#tests/stack/database.ts';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';
import { SERVICE_SECRETS } from '#tests/stack/service.ts';
import { type FaultProxy, proxied } from '../fault-proxy.ts';
import { AS_IN_PRODUCTION } from '../servers-under-load/loaded-api.ts';
import { type MailServer, openMailServer } from './mail-server.ts';

/** API and operator processes are left out. */

/** Log message of a process that is ready. */
const PROCESSES = {
  ingest: 'ingest consumer started',
  projector: 'caught up',
  alerts: '"starting"',
  delivery: 'delivery worker started',
  worker: '"worker started"',
  media: 'media archive started',
  collector: 'collector started',
  intake: '"listening"',
  mcp: '"listening"',
} as const;

export type Server = 'postgres' | 'event store' | 'nats' | 'object store' | 'mail server';

const SCOPES = ['brands:read', 'ads:read', 'creatives:read', 'notes:write'] as const;
const APP = { id: 'app', name: 'App', identified_by: 'registration', redirect_host: 'app.example' } as const;
const TOKEN_SECONDS = 3_600;
/** The shortest lease, so that a report of a lost worker is soon tried again. */
const OUTPUT_SHOWN = 4_000;

export type ProxiedService = AsyncDisposable & {
  readonly proxies: Readonly<Record<Server, FaultProxy>>;
  /** Servers without proxies. */
  readonly stack: ApiStack;
  readonly nats: Nats;
  readonly mail: MailServer;
  readonly receivers: Receivers;
  readonly sites: PlayedSites['sites'];
  readonly key: Key;
  readonly brand: CorpusBrand;
  /** Object store without a proxy. */
  readonly objectStoreUrl: string;
  readonly intakeUrl: string;
  readonly mcpUrl: string;
  /** Access token with the rights of `SCOPES`. */
  readonly mcpToken: string;
  assertAllRun(): void;
  output(): string;
};

/** Returns the access token for `aud`. */
const connectAssistant = async (stack: ApiStack, key: Key, aud: string): Promise<string> => {
  const { pool, workspaceCommands } = stack;
  await createAuthorizationTables(pool);
  const connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 1 });
  const grantId = randomUUID();
  await connections.allow({
    connectionId: connectionIdOf(grantId),
    workspaceId: key.workspaceId,
    memberId: key.memberId,
    app: APP,
    scopes: SCOPES,
    role: 'owner',
  });
  const token = randomUUID();
  const exp = Math.floor(Date.now() / 1_000) + TOKEN_SECONDS;
  const payload = { kind: 'AccessToken', grantId, scope: SCOPES.join(' '), aud, jti: token, exp };
  await createAdapter(pool, connections)('AccessToken').upsert(token, payload, TOKEN_SECONDS);
  return token;
};

export const openProxiedService = async (): Promise<ProxiedService> => {
  const resources = new AsyncDisposableStack();
  const stack = resources.use(await openApiStack());
  const natsServer = await createTestNats();
  resources.defer(() => natsServer.stop());
  const nats = resources.use(await openNats(natsServer.url, 'tests'));
  const bucket = resources.use(await startBucket());
  const mail = resources.use(await openMailServer());
  const receivers = resources.use(await openReceivers());
  const played = resources.use(await openPlayedSites());
  const through = async (url: string | undefined) => {
    const one = await proxied(url ?? '');
    resources.use(one.proxy);
    return one;
  };
  const postgres = await through(stack.environment['DATABASE_URL']);
  const eventStore = await through(stack.environment['EVENT_STORE_URL']);
  const queue = await through(natsServer.url);
  const objectStore = await through(bucket.url);
  const mailServer = await through(mail.url);

  const [brand] = await stack.seed(['alpha']);
  if (!brand) throw new Error('no brand');
  const key = await stack.key({ plan: 'enterprise' });
  await createArchiveTables(stack.pool);
  const [intakePort, mcpPort] = [await freePort(), await freePort()];
  const mcpUrl = `http://127.0.0.1:${mcpPort}/mcp`;
  const mcpToken = await connectAssistant(stack, key, mcpUrl);
  // From now on the process projects.
  await stack.stopProjector();
  const environment = {
    ...SERVICE_SECRETS,
    ...AS_IN_PRODUCTION,
    DATABASE_URL: postgres.url,
    EVENT_STORE_URL: eventStore.url,
    NATS_URL: queue.url,
    OBJECT_STORE_URL: objectStore.url,
    SMTP_URL: mailServer.url,
    MEMBER_VAULT_KEY: VAULT_KEY,
    API_BASE_URL: BASE_URL,
    EGRESS_ALLOW_LOOPBACK: 'true',
    MEDIA_ARCHIVE: 'images',
    COLLECT_VIA: played.origin,
    COLLECT_CONTACT: 'https://operator.example',
    COLLECT_SOURCES: 'storefront',
    INTAKE_PORT: String(intakePort),
    MCP_PORT: String(mcpPort),
    TRUSTED_PROXIES: '127.0.0.1',
    MCP_SECRET: 'a secret of 32 characters for tests',
  };
  const processes = new Map<string, ServiceProcess>();
  resources.defer(async () => {
    await Promise.all([...processes.values()].map((one) => one.stop()));
  });
  for (const name of Object.keys(PROCESSES))
    processes.set(name, startProcess(`services/${name}/main.ts`, environment));
  for (const [name, ready] of Object.entries(PROCESSES)) await processes.get(name)?.says(ready);
  return {
    proxies: {
      postgres: postgres.proxy,
      'event store': eventStore.proxy,
      nats: queue.proxy,
      'object store': objectStore.proxy,
      'mail server': mailServer.proxy,
    },
    stack,
    nats,
    mail,
    receivers,
    sites: played.sites,
    key,
    brand,
    objectStoreUrl: bucket.url,
    intakeUrl: `http://127.0.0.1:${intakePort}`,
    mcpUrl,
    mcpToken,
    assertAllRun: () => {
      for (const [name, one] of processes) {
        if (one.child.exitCode === null && one.child.signalCode === null) continue;
        throw new Error(`${name} ended by itself:\n${one.output().slice(-OUTPUT_SHOWN)}`);
      }
    },
    output: () =>
      [...processes].map(([name, one]) => `--- ${name}\n${one.output().slice(-OUTPUT_SHOWN)}`).join('\n'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
