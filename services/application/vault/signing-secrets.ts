import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type WebhookSecretIssued, webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { LEASE_PASSED_MS } from '../access/key-lease-cache.ts';
import { outsideTimeBudget, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { createShortReads } from '#platform/event-store/short-reads.ts';
import { type SecretVault, WEBHOOK_SECRET_OWNER } from './secret-vault.ts';

/**
 * A process uses a secret read from the log this long. A rotation replies after the longer `LEASE_PASSED_MS`, so no
 * process signs with the old one then. A lease needs no notification.
 */
const LEASE_MS = 300;
/**
 * Afterwards the vault alone is asked. A single secret there is certain: a rotation stores the new one more than a
 * lease before its reply, and deletes the old one first. Two secrets need the log.
 */
const LOG_ANSWER_MS = 200;
const REMEMBERED_MAX = 10_000;
const SECRET_BYTES = 32;
/** A secret is read again after a rotation between log and vault, or a slow read. */
const ATTEMPTS_MAX = 3;

export { LEASE_PASSED_MS as ROTATION_WAIT_MS };

/** Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
export const createWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

export type SigningSecrets = {
  /**
   * `null` without a secret. While the log does not answer, the only secret in the vault. Throws when the vault lacks
   * it, holds several without the log, or reading takes longer than the lease.
   */
  current(workspaceId: string): Promise<string | null>;
};

type Lease = { readonly since: number; readonly secret: Promise<string | null> };

/** `now`: the monotonic clock, in milliseconds. */
export const openSigningSecrets = (
  eventStore: EventStore,
  vault: SecretVault,
  now: () => number = () => performance.now(),
): SigningSecrets => {
  const leases = new LRUCache<string, Lease>({ max: REMEMBERED_MAX });
  const log = createShortReads(LOG_ANSWER_MS);
  const secretByFingerprint = new LRUCache<string, string>({ max: REMEMBERED_MAX });

  const readWithoutLog = async (workspaceId: string): Promise<string> => {
    const secret = await vault.openOnly(workspaceId, WEBHOOK_SECRET_OWNER);
    if (secret !== null) return secret;
    throw new Error('The log does not answer, and the vault does not hold exactly one signing secret.');
  };

  const readSecret = async (workspaceId: string): Promise<string | null> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const asked = await log.ask(() =>
        eventStore.last<WebhookSecretIssued>(webhookSecretStream(workspaceId)),
      );
      if (asked === null) return readWithoutLog(workspaceId);
      if (asked.answer === null) return null;
      const { fingerprint } = asked.answer.data;
      const secret =
        secretByFingerprint.get(fingerprint) ??
        (await vault.open(workspaceId, WEBHOOK_SECRET_OWNER, fingerprint));
      if (secret !== null) {
        secretByFingerprint.set(fingerprint, secret);
        return secret;
      }
    }
    throw new Error('The vault does not hold the current signing secret.');
  };

  const createLease = (workspaceId: string, since: number): Lease => {
    // Others share it, whose time is not that of this request.
    const lease: Lease = { since, secret: outsideTimeBudget(() => readSecret(workspaceId)) };
    leases.set(workspaceId, lease);
    // Failures are not cached. Neither is `null`: issuing the first secret does not wait for leases to expire.
    const removeLease = (): void => {
      if (leases.peek(workspaceId) === lease) leases.delete(workspaceId);
    };
    lease.secret.then((secret) => secret ?? removeLease(), removeLease);
    return lease;
  };

  return {
    current: async (workspaceId) => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        const at = now();
        const cached = leases.get(workspaceId);
        const lease = cached && at - cached.since < LEASE_MS ? cached : createLease(workspaceId, at);
        const secret = await untilTimeUsedUp(lease.secret);
        // A read that took longer than the lease may return a secret that was rotated meanwhile.
        if (now() - lease.since < LEASE_MS) return secret;
      }
      throw new Error('Reading the current signing secret took too long.');
    },
  };
};
