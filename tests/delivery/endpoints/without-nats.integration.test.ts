import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { openSecretVault, WEBHOOK_SECRET_OWNER } from '#application/vault/secret-vault.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { openAlertsStack, scanEvents } from '#tests/alerts/stack.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { until } from '#tests/stack/wait-until.ts';
import { SECRET } from '../new-delivery.ts';
import { openReceivers } from '../receivers.ts';

/** A busy machine takes long to start processes. */
const LIMIT_MS = 120_000;
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');

test(
  'an alert is matched and sent while NATS is gone, by processes that start without it and are ready',
  async () => {
    await using resources = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'test-without-nats-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    const stack = resources.use(await openAlertsStack());
    const receivers = resources.use(await openReceivers());
    const vault = await openSecretVault(stack.pool, VAULT_KEY);
    const brand = await stack.brand('without-nats.example');
    const rule = await stack.rule([brand], { webhook_url: `${receivers.url}/hook` });
    const fingerprint = await vault.seal(rule.workspace_id, WEBHOOK_SECRET_OWNER, SECRET);
    const issued = { workspace_id: rule.workspace_id, fingerprint, issued_at: '2026-05-01T00:00:00.000Z' };
    await stack.append(webhookSecretStream(rule.workspace_id), [
      { type: 'WebhookSecretIssued', data: issued },
    ]);

    const gone = await freePort();
    const ports = new Map<string, number>();
    for (const name of ['alerts', 'delivery', 'worker']) {
      const port = await freePort();
      ports.set(name, port);
      const started = startProcess(`services/${name}/main.ts`, {
        ...stack.environment,
        NATS_URL: `nats://127.0.0.1:${gone}`,
        METRICS_PORT: String(port),
        API_BASE_URL: 'https://api.test',
        MEMBER_VAULT_KEY: VAULT_KEY,
        EGRESS_ALLOW_LOOPBACK: 'true',
        DATA_DIR: folder,
      });
      resources.defer(async () => void (await started.stop()));
    }
    for (const [name, port] of ports) {
      await until(`${name} is ready`, LIMIT_MS, async () => {
        const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
        if (reply?.status !== 200) return false;
        expect(await reply.json()).toMatchObject({ status: 'degraded', missing: [{ what: 'nats' }] });
        return true;
      });
    }
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 2));
    await until('the webhook', LIMIT_MS, () => receivers.at('/hook').length > 0);
    const [request] = receivers.at('/hook');
    expect(JSON.parse(request?.body.toString('utf8') ?? '')).toMatchObject({ items_total: 2 });
    const delivery = await stack.queued(rule);
    expect(delivery).toMatchObject([{ delivery_id: request?.headers['webhook-id'] }]);
  },
  LIMIT_MS * 3,
);
