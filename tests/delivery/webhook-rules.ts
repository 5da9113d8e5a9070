import { randomUUID } from 'node:crypto';
import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event } from '#contracts/events/event.ts';
import { webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { openSecretVault, WEBHOOK_SECRET_OWNER } from '#application/vault/secret-vault.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { METADATA, SECRET } from './new-delivery.ts';

export const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');

export type WebhookRule = { readonly alertId: string; readonly brandId: string };

/** Creates one rule per address, each on its own brand. */
export const createWebhookRules = async (
  eventStore: EventStore,
  pool: Database,
  workspace_id: string,
  urls: readonly string[],
): Promise<readonly WebhookRule[]> => {
  const create = (stream: string, event: Event) =>
    eventStore.append(stream, -1n, [event], METADATA, randomUUID());
  const vault = await openSecretVault(pool, VAULT_KEY);
  const fingerprint = await vault.seal(workspace_id, WEBHOOK_SECRET_OWNER, SECRET);
  const at = new Date().toISOString();
  const issued = { workspace_id, fingerprint, issued_at: at };
  await create(webhookSecretStream(workspace_id), { type: 'WebhookSecretIssued', data: issued });
  const rules: WebhookRule[] = [];
  for (const [n, webhook_url] of urls.entries()) {
    const brand = registered(`${workspace_id.replaceAll('_', '-')}-${n}.example`, at);
    const { brand_id } = brand.data;
    await create(brandStream(brand_id), brand);
    const alert_id = randomUUID();
    const settings = { trigger: 'new_ads', cadence: 'instant', email: false, chat: null, enabled: true };
    const rule = { name: 'Launches', brand_ids: [brand_id], webhook_url, ...settings };
    const data = { workspace_id, alert_id, ...rule, member_id: 'mem_tests', created_at: at };
    await create(alertRuleStream(workspace_id, alert_id), { type: 'AlertRuleCreated', data });
    rules.push({ alertId: alert_id, brandId: brand_id });
  }
  return rules;
};
