import { z } from 'zod';
import { Port, readSettings, serverSettings } from '#platform/config.ts';
import { createLog } from '#platform/log.ts';
import { MemberVaultKey, openMemberVault } from '#platform/member-vault.ts';
import { openPool, openReadDatabase } from '#platform/postgres.ts';
import { runProcess } from '#platform/process.ts';
import { buildOps } from './server.ts';

/** Only the vault of members uses it; histories are read on the connections for reads. */
const POOL_CLIENTS = 2;
const TOKEN_MIN_LENGTH = 16;

const Settings = z.object({
  DATABASE_URL: serverSettings.DATABASE_URL,
  LOG_LEVEL: serverSettings.LOG_LEVEL,
  OPS_HOST: z.string().default('127.0.0.1'),
  OPS_PORT: Port.default(8081),
  OPS_TOKEN: z.string().min(TOKEN_MIN_LENGTH),
  /** Without it exports name nobody. */
  MEMBER_VAULT_KEY: MemberVaultKey.optional(),
  /** Without it nothing is exported. */
  AUDIT_SIGNING_KEY: z.string().optional(),
});

const settings = readSettings(Settings);
const log = createLog('ops', settings.LOG_LEVEL);

await runProcess(log, async ({ resources }) => {
  const { DATABASE_URL, OPS_HOST, OPS_PORT, OPS_TOKEN, MEMBER_VAULT_KEY, AUDIT_SIGNING_KEY } = settings;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const db = resources.use(openReadDatabase(DATABASE_URL));
  const app = buildOps({
    db,
    memberVault: MEMBER_VAULT_KEY === undefined ? null : await openMemberVault(pool, MEMBER_VAULT_KEY),
    auditSigningKey: AUDIT_SIGNING_KEY ?? null,
    token: OPS_TOKEN,
    log,
  });
  resources.defer(() => app.close());
  await app.listen({ host: OPS_HOST, port: OPS_PORT });
  log.info({ url: `http://${OPS_HOST}:${OPS_PORT}` }, 'listening');
});
