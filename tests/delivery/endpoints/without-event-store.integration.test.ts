import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { openSecretVault, WEBHOOK_SECRET_OWNER } from '#application/vault/secret-vault.ts';
import { createWebhookSecret } from '#application/vault/signing-secrets.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import type { DeliveryTarget } from '#application/delivery-outbox/target.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { addPerson, erasePerson } from '#services/ops/workspaces.ts';
import { newDelivery } from '../new-delivery.ts';
import { openReceivers, type Receivers } from '../receivers.ts';
import { alertsThrough } from '#tests/operations/fixtures/alerting.ts';
import { type ApiStack, type Key, openApiStack, VAULT_KEY } from '#tests/operations/fixtures/stack.ts';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';
import { type FaultProxy, proxied } from '#tests/faults/fault-proxy.ts';

/** Faults of the proxy, which only delivery has. */

const FAULTS = ['mute', 'slow', 'cut'] as const;
const SLOW_MS = 3_000;
const WEBHOOKS = 60;
const EMAILS = 5;
const LIMIT = { timeout: 240_000 };

const resources = new AsyncDisposableStack();
let stack: ApiStack;
let receivers: Receivers;
let proxy: FaultProxy;
let alerts: ReturnType<typeof alertsThrough>;
let environment: Readonly<Record<string, string>>;
let dataFolder: string;
let delivery: ServiceProcess;

const startDelivery = async (): Promise<ServiceProcess> => {
  const started = startProcess('services/delivery/main.ts', environment);
  resources.defer(async () => void (await started.stop()));
  await started.says('delivery worker started');
  return started;
};

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  receivers = resources.use(await openReceivers());
  const through = await proxied(stack.environment['EVENT_STORE_URL'] ?? '');
  proxy = resources.use(through.proxy);
  dataFolder = await mkdtemp(join(tmpdir(), 'test-mail-'));
  resources.defer(() => rm(dataFolder, { recursive: true, force: true }));
  environment = {
    ...stack.environment,
    EVENT_STORE_URL: through.url,
    MEMBER_VAULT_KEY: VAULT_KEY,
    EGRESS_ALLOW_LOOPBACK: 'true',
    DATA_DIR: dataFolder,
  };
  alerts = alertsThrough(await stack.api());
  delivery = await startDelivery();
}, LIMIT.timeout);
afterAll(() => resources.disposeAsync());
afterEach(() => proxy.endFaults());

const operator = async () => ({
  ...stack,
  actor: { kind: 'service', id: 'tests' } as const,
  memberVault: await openMemberVault(stack.pool, VAULT_KEY),
});
const addMember = async ({ workspaceId }: Key, email: string): Promise<string> =>
  (await addPerson(await operator(), workspaceId, { name: 'Ada', email }, 'editor')).member_id;

const issueSecret = async (key: Key): Promise<string> => {
  const { status, data } = await alerts.issueSecret(key);
  expect(status).toBe(201);
  return (data as { webhook_secret: string }).webhook_secret;
};

const queue = async ({ workspaceId }: Key, target: DeliveryTarget, count: number) => {
  const rule = { workspaceId, alertId: randomUUID() };
  const deliveries = Array.from({ length: count }, () => newDelivery(rule, target, new Date()));
  await inTransaction(stack.pool, (client) => enqueue(client, deliveries));
  return deliveries.map(({ deliveryId }) => deliveryId);
};
const queueWebhooks = (key: Key, path: string, count: number) =>
  queue(key, { channel: 'webhook', url: receivers.url + path }, count);

const arrivedAt = (path: string): ReadonlySet<string | undefined> =>
  new Set(receivers.at(path).map(({ headers }) => headers['webhook-id']));
const isSignedWith = (secret: string, path: string): readonly boolean[] =>
  receivers.at(path).map(({ headers, body }) => {
    try {
      new Webhook(secret).verify(body, { ...headers });
      return true;
    } catch {
      return false;
    }
  });

const mailsTo = async (address: string): Promise<number> => {
  const mailFolder = join(dataFolder, 'mail');
  const files = await readdir(mailFolder).catch(() => []);
  const texts = await Promise.all(files.map((file) => readFile(join(mailFolder, file), 'utf8')));
  return texts.filter((text) => text.includes(address)).length;
};
const statusOf = async (deliveryId: string | undefined): Promise<unknown> => {
  const { rows } = await stack.pool.query('select status from delivery.overview where delivery_id = $1', [
    deliveryId,
  ]);
  return rows[0]?.status;
};

const fault = (mode: (typeof FAULTS)[number]): void => proxy.set(mode, SLOW_MS);

describe.for(FAULTS)('while the event store is behind a network that is %s', LIMIT, (mode) => {
  test('webhooks and e-mails arrive', async () => {
    const key = await stack.key();
    const secret = await issueSecret(key);
    const address = `${mode}@shop.example`;
    const member_id = await addMember(key, address);
    fault(mode);
    const path = `/arrive/${mode}`;
    const ids = await queueWebhooks(key, path, WEBHOOKS);
    await queue(key, { channel: 'email', member_id }, EMAILS);
    await expect.poll(() => arrivedAt(path)).toEqual(new Set(ids));
    expect(isSignedWith(secret, path)).not.toContain(false);
    await expect.poll(() => mailsTo(address)).toBe(EMAILS);
  });

  test('no webhook is signed with the old secret after the reply to a rotation', async () => {
    const key = await stack.key();
    const old = await issueSecret(key);
    const path = `/rotate/${mode}`;
    fault(mode);
    await queueWebhooks(key, path, 1);
    await expect.poll(() => isSignedWith(old, path)).toEqual([true]);
    // The process signs with the old secret up to the rotation.
    const ending = new AbortController();
    const busy = `${path}/busy`;
    const queueing = (async () => {
      while (!ending.signal.aborted) await queueWebhooks(key, busy, 1);
    })();
    const secret = await issueSecret(key);
    const ids = await queueWebhooks(key, path, WEBHOOKS);
    ending.abort();
    await queueing;
    await expect.poll(() => arrivedAt(path).size).toBe(1 + ids.length);
    expect(isSignedWith(secret, path).slice(1)).not.toContain(false);
  });

  test('an erased member gets no e-mail', async () => {
    const key = await stack.key();
    const address = `erased-${mode}@shop.example`;
    const member_id = await addMember(key, address);
    fault(mode);
    await queue(key, { channel: 'email', member_id }, 1);
    await expect.poll(() => mailsTo(address)).toBe(1);
    await erasePerson(await operator(), key.workspaceId, member_id);
    const [id] = await queue(key, { channel: 'email', member_id }, 1);
    proxy.set('pass');
    await expect.poll(() => statusOf(id)).toBe('cancelled');
    expect(await mailsTo(address)).toBe(1);
  });
});

test('webhooks are signed though a rotation before the outage was not recorded', LIMIT, async () => {
  const key = await stack.key();
  const secret = await issueSecret(key);
  const vault = await openSecretVault(stack.pool, VAULT_KEY);
  await vault.seal(key.workspaceId, WEBHOOK_SECRET_OWNER, createWebhookSecret());
  await stack.pool.query(`update vault.secret set sealed_at = now() - interval '1 hour'`);
  // It looks at its start and at intervals.
  await delivery.stop();
  delivery = await startDelivery();
  const openOnly = () => vault.openOnly(key.workspaceId, WEBHOOK_SECRET_OWNER);
  await expect.poll(openOnly).toBe(secret);
  fault('cut');
  await queueWebhooks(key, '/unrecorded', 1);
  await expect.poll(() => isSignedWith(secret, '/unrecorded')).toEqual([true]);
});

test('a process that starts while the event store is gone sends', LIMIT, async () => {
  const key = await stack.key();
  const secret = await issueSecret(key);
  const member_id = await addMember(key, 'start@shop.example');
  await delivery.stop();
  proxy.set('cut');
  delivery = await startDelivery();
  const [id] = await queueWebhooks(key, '/start', 1);
  await queue(key, { channel: 'email', member_id }, 1);
  await expect.poll(() => arrivedAt('/start')).toEqual(new Set([id]));
  expect(isSignedWith(secret, '/start')).toEqual([true]);
  await expect.poll(() => mailsTo('start@shop.example')).toBe(1);
  proxy.set('pass');
  await expect.poll(() => statusOf(id)).toBe('delivered');
  expect(delivery.child.exitCode).toBeNull();
});
