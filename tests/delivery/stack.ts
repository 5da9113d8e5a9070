import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { openChatChannel } from '#platform/channels/chat.ts';
import { type EmailSettings, openEmailChannel } from '#platform/channels/email.ts';
import { openWebhookChannel } from '#platform/channels/webhook.ts';
import type { Clock } from '#platform/clock.ts';
import { QUEUE_PLANS } from '#application/delivery-outbox/claim.ts';
import { enqueue, type NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { type EgressOptions, openEgress } from '#platform/egress/http-client.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, inTransaction, openPool } from '#platform/postgres/pool.ts';
import { openSenders } from '#services/delivery/send.ts';
import { openWorker, type Worker } from '#services/delivery/worker.ts';
import { createTestDatabase, createTestEventStore } from '#tests/stack/database.ts';
import { type Rule, SECRET } from './new-delivery.ts';

const POOL_CLIENTS = 6;
const SWEPT_AFTER_MS = 2_000;

export type TestClock = Clock & { move(ms: number): void };
export const createTestClock = (at: string): TestClock => {
  let nowMs = Date.parse(at);
  return {
    now: () => new Date(nowMs),
    move: (ms) => {
      nowMs += ms;
    },
  };
};

export type DeliveryStack = AsyncDisposable & {
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly clock: TestClock;
  readonly mailFolder: string;
  /** Secrets by workspace; another value is a rotation. */
  readonly secrets: Map<string, string | null>;
  readonly addresses: Map<string, string>;
  readonly emails: Map<string, string>;
  rule(): Rule;
  /** Starts another worker, as in another process. */
  worker(options?: {
    readonly egress?: Partial<EgressOptions>;
    readonly mail?: Partial<EmailSettings>;
    /** Clock of claims. `null`: that of Postgres, as in production. Default: that of the stack. */
    readonly claimClock?: null;
    /** Default: true, as in the process that leads. */
    readonly mayEmail?: boolean;
    /** Milliseconds by which its host's clock is ahead. */
    readonly aheadMs?: number;
  }): Worker;
  enqueue(...deliveries: readonly NewDelivery[]): Promise<void>;
  sendDue(worker: Worker): Promise<void>;
  row(deliveryId: string): Promise<Readonly<Record<string, unknown>>>;
  attempts(deliveryId: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Publishes the journal, then returns the events of a rule's deliveries. */
  events(rule: Rule): Promise<readonly AlertDeliveryEvent[]>;
};

export const openDeliveryStack = async (): Promise<DeliveryStack> => {
  const resources = new AsyncDisposableStack();
  const dataFolder = await mkdtemp(join(tmpdir(), 'test-mail-'));
  resources.defer(() => rm(dataFolder, { recursive: true, force: true }));
  const mailFolder = join(dataFolder, 'mail');
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const server = await createTestEventStore();
  resources.defer(() => server.stop());
  const pool = openPool(database.url, POOL_CLIENTS, { options: QUEUE_PLANS });
  resources.defer(() => pool.end());
  const eventStore = resources.use(openEventStore(server.url));
  await createDeliveryTables(pool);
  const clock = createTestClock('2026-11-21T08:00:00.000Z');
  const secrets = new Map<string, string | null>();
  const addresses = new Map<string, string>();
  const emails = new Map<string, string>();

  const rows = async (text: string, values: readonly unknown[]) =>
    (await pool.query<Record<string, unknown>>(text, [...values])).rows;

  return {
    pool,
    eventStore,
    clock,
    mailFolder,
    secrets,
    addresses,
    emails,
    rule: () => ({ workspaceId: `ws_${randomUUID().slice(0, 8)}`, alertId: randomUUID() }),
    worker: ({
      egress: egressOptions = {},
      mail = {},
      claimClock = clock,
      mayEmail = true,
      aheadMs = 0,
    } = {}) => {
      const ownClock: Clock = { now: () => new Date(clock.now().getTime() + aheadMs) };
      const egress = resources.use(openEgress({ allowLoopback: true, ...egressOptions }));
      const email = resources.use(
        openEmailChannel({ DATA_DIR: dataFolder, MAIL_FROM: 'Alerts <alerts@shop.example>', ...mail }, clock),
      );
      const worker = openWorker({
        pool,
        clock: ownClock,
        ...(claimClock && { claimClock }),
        log: silentLog(),
        workerId: `worker_${randomUUID()}`,
        chance: () => 1,
        mayEmail: () => mayEmail,
        send: openSenders({
          webhook: openWebhookChannel(egress, clock),
          chat: openChatChannel(egress, clock),
          email,
          emailAddress: async (_, memberId) => emails.get(memberId) ?? null,
          signingSecret: async (workspaceId) =>
            secrets.has(workspaceId) ? (secrets.get(workspaceId) ?? null) : SECRET,
          chatAddress: async (_, __, fingerprint) => addresses.get(fingerprint) ?? null,
        }),
      });
      resources.defer(() => worker.close());
      return worker;
    },
    enqueue: async (...deliveries) => {
      await inTransaction(pool, (client) => enqueue(client, deliveries));
    },
    sendDue: async (worker) => {
      // A sweep comes, as in a process.
      clock.move(SWEPT_AFTER_MS);
      while ((await worker.sweep()) > 0) await worker.idle();
      await worker.idle();
    },
    row: async (deliveryId) =>
      (await rows('select * from delivery.overview where delivery_id = $1', [deliveryId]))[0] ?? {},
    attempts: (deliveryId) =>
      rows(
        `select * from delivery.journal where delivery_id = $1 and type = 'DeliveryAttempted' order by seq`,
        [deliveryId],
      ),
    events: async ({ workspaceId, alertId }) => {
      while ((await publishEvents(pool, eventStore)).entries > 0);
      const events: AlertDeliveryEvent[] = [];
      const stream = alertDeliveryStream(workspaceId, alertId);
      for await (const { type, data } of eventStore.read<AlertDeliveryEvent>(stream))
        events.push({ type, data } as AlertDeliveryEvent);
      return events;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
