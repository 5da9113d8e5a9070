import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database } from '#platform/postgres/pool.ts';
import { type WebhookSecretIssued, webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { createKeyCheck, createVaultTables, decryptWithAny, encrypt, masterKeysOf } from './cipher.ts';

/**
 * Secrets that must be readable again, encrypted outside the log; events refer to fingerprints. `owner`: the object of
 * a secret, such as a rule.
 */
export type SecretVault = {
  /**
   * Idempotent. Returns the fingerprint. Throws `Refusal('invalid_input')` when the master key does not decrypt the
   * existing secrets.
   */
  seal(workspaceId: string, owner: string, secret: string): Promise<string>;
  /** `null` when it was deleted. */
  open(workspaceId: string, owner: string, fingerprint: string): Promise<string | null>;
  /** `null` when the owner has none or several. */
  openOnly(workspaceId: string, owner: string): Promise<string | null>;
  /**
   * At least one secret is older than `FRESH_SECONDS`. Workspaces without a younger one come first; `forget` leaves one
   * of theirs.
   */
  withSeveral(owner: string, workspacesMax: number): Promise<readonly string[]>;
  /**
   * Keeps `fingerprint` and, with it, secrets younger than `FRESH_SECONDS`: another command may be about to record
   * them.
   */
  forget(workspaceId: string, owner: string, fingerprint?: string): Promise<void>;
  /** Also a young secret. */
  forgetOne(workspaceId: string, owner: string, fingerprint: string): Promise<void>;
};

/** Owner of the secret that signs a workspace's webhooks. */
export const WEBHOOK_SECRET_OWNER = 'webhook-secret';

/** Deleted secrets are older: longer than any command takes from encrypting to appending its event. */
const FRESH_SECONDS = 60;
const SCHEMA = readFileSync(new URL('./secret-vault.sql', import.meta.url), 'utf8');

/** SHA-256 in hexadecimal. It reveals nothing about a secret with enough random bits. */
export const fingerprintOf = (secret: string): string => hash('sha256', secret, 'hex');

const SEAL = `
  insert into vault.secret (workspace_id, owner, fingerprint, sealed) values ($1, $2, $3, $4)
  on conflict (workspace_id, owner, fingerprint) do update set sealed = excluded.sealed, sealed_at = now()`;
const OPEN = 'select sealed from vault.secret where workspace_id = $1 and owner = $2 and fingerprint = $3';
const OPEN_ONLY =
  'select fingerprint, sealed from vault.secret where workspace_id = $1 and owner = $2 limit 2';
const FRESH_SINCE = `now() - interval '${FRESH_SECONDS} seconds'`;
const WITH_SEVERAL = `
  select workspace_id from vault.secret where owner = $1 group by workspace_id
  having count(*) > 1 and min(sealed_at) < ${FRESH_SINCE}
  order by max(sealed_at) limit $2`;
const FORGET_ALL = 'delete from vault.secret where workspace_id = $1 and owner = $2';
const FORGET_ONE = `${FORGET_ALL} and fingerprint = $3`;
const FORGET_OTHERS = `${FORGET_ALL} and fingerprint <> $3 and sealed_at < ${FRESH_SINCE}`;

type StoredSecret = Readonly<Record<'workspace_id' | 'owner' | 'fingerprint', string>> & {
  readonly sealed: Buffer;
};

const OLDEST_AND_NEWEST = `
  (select workspace_id, owner, fingerprint, sealed from vault.secret order by sealed_at limit 1)
  union all (select workspace_id, owner, fingerprint, sealed from vault.secret order by sealed_at desc limit 1)`;

/** Additional authenticated data (AAD) of the encrypted secret. */
export const secretContext = (...key: readonly string[]): string => `secret/${key.join('/')}`;

/** Creates its tables. `masterKey` and `secondKey` are those of MEMBER_VAULT_KEY; the second only decrypts. */
export const openSecretVault = async (
  pool: Database,
  masterKey: string,
  secondKey?: string,
): Promise<SecretVault> => {
  const masters = masterKeysOf(masterKey, secondKey);
  await createVaultTables(pool, SCHEMA);
  const contextOf = secretContext;
  const proveKey = createKeyCheck(masters, async () => {
    const { rows } = await pool.query<StoredSecret>(OLDEST_AND_NEWEST);
    return rows.map(({ workspace_id, owner, fingerprint, sealed }) => ({
      context: contextOf(workspace_id, owner, fingerprint),
      sealed,
    }));
  });
  return {
    seal: async (workspaceId, owner, secret) => {
      await proveKey();
      const fingerprint = fingerprintOf(secret);
      const key = [workspaceId, owner, fingerprint];
      await pool.query(SEAL, [...key, encrypt(masters[0], contextOf(...key), Buffer.from(secret, 'utf8'))]);
      return fingerprint;
    },
    open: async (...key) => {
      const { rows } = await pool.query<{ sealed: Buffer }>(OPEN, key);
      return rows[0] ? decryptWithAny(masters, contextOf(...key), rows[0].sealed).toString('utf8') : null;
    },
    openOnly: async (...owner) => {
      const { rows } = await pool.query<Pick<StoredSecret, 'fingerprint' | 'sealed'>>(OPEN_ONLY, owner);
      const [only, second] = rows;
      if (only === undefined || second !== undefined) return null;
      return decryptWithAny(masters, contextOf(...owner, only.fingerprint), only.sealed).toString('utf8');
    },
    withSeveral: async (owner, workspacesMax) => {
      const values = [owner, workspacesMax];
      const { rows } = await pool.query<Pick<StoredSecret, 'workspace_id'>>(WITH_SEVERAL, values);
      return rows.map(({ workspace_id }) => workspace_id);
    },
    forgetOne: async (...key) => {
      await pool.query(FORGET_ONE, key);
    },
    forget: async (workspaceId, owner, fingerprint) => {
      await (fingerprint === undefined
        ? pool.query(FORGET_ALL, [workspaceId, owner])
        : pool.query(FORGET_OTHERS, [workspaceId, owner, fingerprint]));
    },
  };
};

const WORKSPACES_PER_RUN = 100;

/**
 * Deletes secrets that a command stored but did not record: without the log, senders need the only one of a workspace.
 * Named and young secrets stay. Throws when the log does not answer.
 */
export const forgetUnusedSecrets = async (eventStore: EventStore, vault: SecretVault): Promise<void> => {
  for (const workspaceId of await vault.withSeveral(WEBHOOK_SECRET_OWNER, WORKSPACES_PER_RUN)) {
    const issued = await eventStore.last<WebhookSecretIssued>(webhookSecretStream(workspaceId));
    await vault.forget(workspaceId, WEBHOOK_SECRET_OWNER, issued?.data.fingerprint ?? '');
  }
};
