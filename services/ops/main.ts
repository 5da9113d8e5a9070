import { openEventStore } from '#platform/event-store.ts';
import { openMemberVaultLater } from '#platform/member-vault.ts';
import { openPool, openReadDatabase } from '#platform/postgres.ts';
import { runProcess } from '#platform/process.ts';
import { buildOps } from './server.ts';
import { OpsSettings } from '#platform/settings/ops.ts';

/** Deliveries and the vault of members; histories are read on the connections for reads. */
const POOL_CLIENTS = 4;

/** It listens whatever else is there: that a server is missing is what operators ask it for. */
await runProcess('ops', OpsSettings, async ({ settings, resources, log }) => {
  const { DATABASE_URL, EVENT_STORE_URL, OPS_HOST, OPS_PORT, MEMBER_VAULT_KEY } = settings;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const db = resources.use(openReadDatabase(settings.READ_DATABASE_URL ?? DATABASE_URL));
  const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
  const memberVault =
    MEMBER_VAULT_KEY === undefined
      ? null
      : openMemberVaultLater(pool, MEMBER_VAULT_KEY, settings.MEMBER_VAULT_KEY_SECOND);
  const room = {
    db,
    pool,
    eventStore,
    memberVault,
    auditSigningKey: settings.AUDIT_SIGNING_KEY ?? null,
    token: settings.OPS_TOKEN,
    secondToken: settings.OPS_TOKEN_SECOND,
    log,
  };
  const app = buildOps(room);
  resources.defer(() => app.close());
  await app.listen({ host: OPS_HOST, port: OPS_PORT });
  log.info({ url: `http://${OPS_HOST}:${OPS_PORT}` }, 'listening');
});
