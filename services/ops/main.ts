import { openEventStore } from '#platform/event-store/event-store.ts';
import { createLazyMemberVault } from '#application/vault/member-vault.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase, readDatabaseUrls } from '#platform/postgres/read-database.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { openServerChecks } from '#platform/process/readiness.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { buildOps } from './http/server.ts';
import { OpsSettings } from './settings.ts';

const POOL_CLIENTS = 4;

/** Starts listening even when a server is unreachable: operators use this process to find out which one. */
await runProcess('ops', OpsSettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL, LISTEN_HOST, OPS_PORT, MEMBER_VAULT_KEY } = settings;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const db = resources.use(openReadDatabase(readDatabaseUrls(settings).primary));
  const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
  const servers = resources.use(
    openServerChecks({ DATABASE_URL, EVENT_STORE_URL, ...(NATS_URL === undefined ? {} : { NATS_URL }) }),
  );
  // Connects in the background and retries without limit. Until then only the queue depths are missing.
  let nats: Nats | null = null;
  resources.defer(() => nats?.[Symbol.asyncDispose]());
  const connect = async (url: string): Promise<void> => {
    nats = await untilServerAnswers(log, signal, 'NATS', () => openNats(url, 'ops', settings));
  };
  // Rejects only when the process shuts down.
  if (NATS_URL !== undefined) connect(NATS_URL).catch(() => undefined);
  const memberVault =
    MEMBER_VAULT_KEY === undefined ? null : createLazyMemberVault(pool, ...MEMBER_VAULT_KEY);
  const [token, secondToken] = settings.OPS_TOKEN;
  const dependencies = {
    db,
    pool,
    eventStore,
    nats: () => nats,
    serverChecks: servers.checks,
    archiveCallsPerHour: settings.ADS_ARCHIVE_CALLS_PER_HOUR,
    memberVault,
    auditSigningKey: settings.AUDIT_SIGNING_KEY ?? null,
    token,
    secondToken,
    log,
  };
  const app = buildOps(dependencies);
  resources.defer(() => app.close());
  await app.listen({ host: LISTEN_HOST, port: OPS_PORT });
  log.info({ url: `http://${LISTEN_HOST}:${OPS_PORT}` }, 'listening');
});
