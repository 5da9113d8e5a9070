import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { openChatChannel } from '#platform/channels/chat.ts';
import { openEmailChannel } from '#platform/channels/email.ts';
import { openWebhookChannel } from '#platform/channels/webhook.ts';
import { systemClock } from '#platform/clock.ts';
import { QUEUE_PLANS } from '#application/delivery-outbox/claim.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { createDueNotifier, receiveDue } from '#application/delivery-outbox/notices.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openOperatorPort } from '#platform/process/health-server.ts';
import { FENCED_CONNECTION } from '#platform/postgres/lease/leases.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { runProcess } from '#platform/process/run-process.ts';
import { MAIL_FOLDER } from '#platform/settings.ts';
import { untilServerAnswers } from '#platform/concurrency/retry.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { openSigningSecrets } from '#application/vault/signing-secrets.ts';
import { checkKnownLog, waitForServers } from '#platform/process/wait-for-servers.ts';
import { runLeaderTasks } from './leader-tasks.ts';
import { openEmailAddresses, openSenders, tracedSend } from './send.ts';
import { DeliverySettings } from './settings.ts';
import { openWorker, sweepRegularly } from './worker.ts';

const POOL_CLIENTS = 6;
const STATEMENT_TIMEOUT_MS = 30_000;

await runProcess('delivery', DeliverySettings, async ({ settings, resources, log, signal }) => {
  const { DATABASE_URL, EVENT_STORE_URL, NATS_URL, MEMBER_VAULT_KEY } = settings;
  const { EGRESS_ALLOW_LOOPBACK, EGRESS_OWN_ADDRESSES } = settings;
  const operatorPort = resources.use(await openOperatorPort({ settings, log, signal }));
  const clock = systemClock;
  const pool = openPool(DATABASE_URL, POOL_CLIENTS, {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: `${FENCED_CONNECTION} ${QUEUE_PLANS}`,
  });
  resources.defer(() => pool.end());
  const eventStore = resources.use(openEventStore(EVENT_STORE_URL));
  await waitForServers(log, signal, { DATABASE_URL });
  await checkKnownLog(log, signal, { DATABASE_URL, EVENT_STORE_URL });
  const vaults = await untilServerAnswers(log, signal, 'Postgres', async () => {
    await createDeliveryTables(pool);
    return {
      members: await openMemberVault(pool, ...MEMBER_VAULT_KEY),
      secrets: await openSecretVault(pool, ...MEMBER_VAULT_KEY),
    };
  });
  // Does not block the start, and ends with the process: without NATS, sweeps of the tables find due deliveries.
  const nats = untilServerAnswers(log, signal, 'NATS', () => openNats(NATS_URL, 'delivery', settings));
  nats.catch(() => undefined);
  const egress = resources.use(
    openEgress({ allowLoopback: EGRESS_ALLOW_LOOPBACK, ownAddresses: EGRESS_OWN_ADDRESSES }),
  );
  const signing = openSigningSecrets(eventStore, vaults.secrets);
  let isLeader = false;
  const worker = openWorker({
    pool,
    clock,
    log,
    workerId: `delivery_${randomUUID().slice(0, 8)}`,
    chance: Math.random,
    mayEmail: () => isLeader,
    send: tracedSend(
      pool,
      openSenders({
        webhook: openWebhookChannel(egress, clock),
        chat: openChatChannel(egress, clock),
        email: resources.use(openEmailChannel(settings, clock)),
        emailAddress: openEmailAddresses(eventStore, pool, vaults.members),
        signingSecret: (workspaceId) => signing.current(workspaceId),
        chatAddress: (workspaceId, alertId, fingerprint) =>
          vaults.secrets.open(workspaceId, alertId, fingerprint),
      }),
    ),
  });
  resources.defer(() => worker.close());
  const leaderTasks = runLeaderTasks({
    pool,
    databaseUrl: DATABASE_URL,
    eventStore,
    secrets: vaults.secrets,
    clock,
    log,
    signal,
    publish: createDueNotifier(nats),
    leads: (leads) => {
      isLeader = leads;
    },
  });
  resources.defer(() => leaderTasks);
  const sweeping = sweepRegularly(worker, log, signal);
  resources.defer(() => sweeping);
  const receive = async (): Promise<void> => receiveDue(await nats, worker.due, signal);
  receive().catch(() => undefined);
  operatorPort.started();
  log.info(
    { mail: settings.SMTP_URL === undefined ? join(settings.DATA_DIR, MAIL_FOLDER) : 'smtp' },
    'delivery worker started',
  );
});
