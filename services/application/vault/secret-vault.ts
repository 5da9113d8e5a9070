import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database } from '#platform/postgres/pool.ts';
import { createVaultTables, decryptWithAny, encrypt, keyProof, masterKeysOf } from './cipher.ts';

/**
 * Secrets that have to be used again, so that a hash of them would not do: kept outside the log, sealed under the
 * master key, and known to events by fingerprint. `owner`: what a secret is for, such as a rule.
 */
export type SecretVault = {
  /**
   * Keeps a secret, and answers the fingerprint it is known by. Sealing it again is harmless. Refuses under another
   * master key than the others were sealed under.
   */
  seal(workspaceId: string, owner: string, secret: string): Promise<string>;
  /** `null` where it is forgotten. */
  open(workspaceId: string, owner: string, fingerprint: string): Promise<string | null>;
  /**
   * Forgets the owner's secrets, all but one or all. With `fingerprint`, those sealed a moment ago stay too: they
   * may be what another command is about to record.
   */
  forget(workspaceId: string, owner: string, fingerprint?: string): Promise<void>;
};

/** The owner of the secret that signs a workspace's webhooks. */
export const WEBHOOK_SECRET_OWNER = 'webhook-secret';

/** Longer than any command takes from sealing to recording. */
const FRESH_SECONDS = 60;
const SCHEMA = readFileSync(new URL('./secret-vault.sql', import.meta.url), 'utf8');

/** SHA-256, hexadecimal. Of a secret with enough chance in it, this says nothing. */
export const fingerprintOf = (secret: string): string => hash('sha256', secret, 'hex');

const SEAL = `
  insert into vault.secret (workspace_id, owner, fingerprint, sealed) values ($1, $2, $3, $4)
  on conflict (workspace_id, owner, fingerprint) do update set sealed = excluded.sealed, sealed_at = now()`;
const OPEN = 'select sealed from vault.secret where workspace_id = $1 and owner = $2 and fingerprint = $3';
const FORGET_ALL = 'delete from vault.secret where workspace_id = $1 and owner = $2';
const FORGET_OTHERS = `${FORGET_ALL} and fingerprint <> $3 and sealed_at < now() - interval '${FRESH_SECONDS} seconds'`;

type KeptSecret = Readonly<Record<'workspace_id' | 'owner' | 'fingerprint', string>> & {
  readonly sealed: Buffer;
};

const OLDEST_AND_NEWEST = `
  (select workspace_id, owner, fingerprint, sealed from vault.secret order by sealed_at limit 1)
  union all (select workspace_id, owner, fingerprint, sealed from vault.secret order by sealed_at desc limit 1)`;

/** What a sealed secret is bound to. */
export const secretContext = (...place: readonly string[]): string => `secret/${place.join('/')}`;

/** `masterKey`: the setting MEMBER_VAULT_KEY. `secondKey`: MEMBER_VAULT_KEY_SECOND, which only opens. */
export const openSecretVault = async (
  pool: Database,
  masterKey: string,
  secondKey?: string,
): Promise<SecretVault> => {
  const masters = masterKeysOf(masterKey, secondKey);
  await createVaultTables(pool, SCHEMA);
  const contextOf = secretContext;
  const proveKey = keyProof(masters, async () => {
    const { rows } = await pool.query<KeptSecret>(OLDEST_AND_NEWEST);
    return rows.map(({ workspace_id, owner, fingerprint, sealed }) => ({
      context: contextOf(workspace_id, owner, fingerprint),
      sealed,
    }));
  });
  return {
    seal: async (workspaceId, owner, secret) => {
      await proveKey();
      const fingerprint = fingerprintOf(secret);
      const place = [workspaceId, owner, fingerprint];
      await pool.query(SEAL, [
        ...place,
        encrypt(masters[0], contextOf(...place), Buffer.from(secret, 'utf8')),
      ]);
      return fingerprint;
    },
    open: async (...place) => {
      const { rows } = await pool.query<{ sealed: Buffer }>(OPEN, place);
      return rows[0] ? decryptWithAny(masters, contextOf(...place), rows[0].sealed).toString('utf8') : null;
    },
    forget: async (workspaceId, owner, fingerprint) => {
      const isKept = fingerprint !== undefined;
      await pool.query(
        isKept ? FORGET_OTHERS : FORGET_ALL,
        isKept ? [workspaceId, owner, fingerprint] : [workspaceId, owner],
      );
    },
  };
};
