import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type WebhookSecretIssued, webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { LEASE_PASSED_MS } from '../access/key-lease-cache.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type SecretVault, WEBHOOK_SECRET_OWNER } from './secret-vault.ts';

/**
 * The secret that signs a workspace's webhooks. Which one that is, the log says, and what was read there may be
 * believed for so long: less than a rotation waits before it answers (`LEASE_PASSED_MS`), so from its answer on no
 * process anywhere signs with the secret that was. As with API keys, a lease needs nobody to be told.
 */
const LEASE_MS = 300;
/** Workspaces remembered by one process. */
const REMEMBERED_MAX = 10_000;
const SECRET_BYTES = 32;
/** A secret rotated between the log and the vault, or while the log was slow, is looked up again. */
const LOOK_UPS_MAX = 3;

export { LEASE_PASSED_MS as ROTATION_WAIT_MS };

/** In the form of Standard Webhooks: `whsec_` and base64 of 32 random bytes. */
export const createWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

export type SigningSecrets = {
  /** What signs now; `null` while the workspace has no secret. */
  current(workspaceId: string): Promise<string | null>;
};

type Known = { readonly since: number; readonly secret: Promise<string | null> };

/** `now`: the monotonic clock, in milliseconds. */
export const openSigningSecrets = (
  eventStore: EventStore,
  vault: SecretVault,
  now: () => number = () => performance.now(),
): SigningSecrets => {
  const known = new LRUCache<string, Known>({ max: REMEMBERED_MAX });
  const opened = new LRUCache<string, string>({ max: REMEMBERED_MAX });

  const look = async (workspaceId: string): Promise<string | null> => {
    for (let lookUps = 0; lookUps < LOOK_UPS_MAX; lookUps += 1) {
      const issued = await eventStore.last<WebhookSecretIssued>(webhookSecretStream(workspaceId));
      if (!issued) return null;
      const { fingerprint } = issued.data;
      const secret =
        opened.get(fingerprint) ?? (await vault.open(workspaceId, WEBHOOK_SECRET_OWNER, fingerprint));
      if (secret !== null) {
        opened.set(fingerprint, secret);
        return secret;
      }
    }
    throw new Error('the vault does not hold the secret that signs');
  };

  const ask = (workspaceId: string, since: number): Known => {
    const asked: Known = { since, secret: look(workspaceId) };
    known.set(workspaceId, asked);
    // A failure is no answer, and "none" may be over at once: the first secret waits for nobody.
    const forget = (): void => {
      if (known.peek(workspaceId) === asked) known.delete(workspaceId);
    };
    asked.secret.then((secret) => secret ?? forget(), forget);
    return asked;
  };

  return {
    current: async (workspaceId) => {
      for (let lookUps = 0; lookUps < LOOK_UPS_MAX; lookUps += 1) {
        const at = now();
        const lease = known.get(workspaceId);
        const held = lease && at - lease.since < LEASE_MS ? lease : ask(workspaceId, at);
        const secret = await held.secret;
        // What took longer to look up than it may be believed may be over by now.
        if (now() - held.since < LEASE_MS) return secret;
      }
      throw new Error('the log takes too long to say which secret signs');
    },
  };
};
