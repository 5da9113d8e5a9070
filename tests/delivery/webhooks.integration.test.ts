import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLAIM_LEASE_MS } from '#application/delivery-outbox/claim.ts';
import { cancelDeliveries } from '#application/delivery-outbox/cancel.ts';
import { replayDeliveries } from '#application/delivery-outbox/replay.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { RETRY_DELAYS_MS } from '#services/delivery/retry-schedule.ts';
import { answers, type Behaviour } from './receivers.ts';
import { verifySignatures } from './signatures.ts';
import { SECRET } from './new-delivery.ts';
import { openWebhookStack, type WebhookStack } from './webhook-stack.ts';

const ATTEMPTS_MAX = RETRY_DELAYS_MS.length + 1;
const DAY_MS = 86_400_000;

let stack: WebhookStack;
beforeAll(async () => {
  stack = await openWebhookStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('a webhook that arrives', () => {
  test('sends the stored bytes, signed, under the delivery id, and records an event', async () => {
    const { id, delivery, rule } = await stack.queueTo('/arrives', answers(200, {}, 'thank you'));
    await stack.enqueue(delivery);
    await stack.sendDue(stack.sender);
    const [request, ...others] = stack.receivers.at('/arrives');
    expect(others).toEqual([]);
    expect(request?.body.toString('latin1')).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(request?.body.toString('utf8') ?? '')).toEqual(delivery.payload);
    expect(request?.headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/json' });
    if (request) verifySignatures(request, SECRET);
    expect(await stack.row(id)).toMatchObject({ status: 'delivered', attempts: 1, next_attempt_at: null });
    const [attempt] = await stack.attempts(id);
    expect(attempt).toMatchObject({ outcome: 'delivered', status_code: 200, failure: null, reason: null });
    expect(String(attempt?.['answer'])).toBe('thank you');
    expect(attempt?.['connect_ms']).toBeGreaterThan(0);
    expect(attempt?.['wait_ms']).toBeGreaterThan(0);
    expect(await stack.events(rule)).toEqual([
      {
        type: 'DeliveryQueued',
        data: {
          workspace_id: rule.workspaceId,
          alert_id: rule.alertId,
          delivery_id: id,
          channel: 'webhook',
          kind: 'alert',
          payload: delivery.payload,
          queued_at: delivery.queuedAt,
        },
      },
      {
        type: 'DeliveryAttempted',
        data: expect.objectContaining({ attempt: 1, outcome: 'delivered', failure: null, status_code: 200 }),
      },
    ]);
  });
});

describe('a webhook that fails', () => {
  test('is tried ten times on the documented schedule, signed again each time, then fails for good', async () => {
    const { id, rule } = await stack.queueTo('/fails', answers(503, {}, 'later'));
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      await stack.sendDue(stack.sender);
      expect(stack.receivers.at('/fails')).toHaveLength(index + 1);
      const row = await stack.row(id);
      expect(row).toMatchObject({ status: 'retrying', attempts: index + 1 });
      const waitMs = (row['next_attempt_at'] as Date).getTime() - stack.clock.now().getTime();
      // This random source is at its maximum and adds a tenth.
      expect(waitMs).toBeCloseTo(delayMs * 1.1, -1);
      stack.clock.move(waitMs - 2_001);
      await stack.sendDue(stack.sender);
      expect(stack.receivers.at('/fails'), 'not before its time').toHaveLength(index + 1);
      stack.clock.move(1);
    }
    await stack.sendDue(stack.sender);
    expect(stack.receivers.at('/fails')).toHaveLength(ATTEMPTS_MAX);
    expect(await stack.row(id)).toMatchObject({ status: 'failed', next_attempt_at: null });
    stack.clock.move(30 * DAY_MS);
    await stack.sendDue(stack.sender);
    const requests = stack.receivers.at('/fails');
    expect(requests).toHaveLength(ATTEMPTS_MAX);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));
    expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-signature'])).size).toBe(ATTEMPTS_MAX);
    for (const request of requests) verifySignatures(request, SECRET);
    const events = await stack.events(rule);
    expect(events.map(({ type }) => type)).toEqual([
      'DeliveryQueued',
      ...Array.from({ length: ATTEMPTS_MAX }, () => 'DeliveryAttempted'),
    ]);
    expect(events.at(-1)?.data).toMatchObject({
      attempt: ATTEMPTS_MAX,
      outcome: 'failed',
      failure: 'http',
      status_code: 503,
    });
  });

  test('waits for the time in Retry-After, in seconds or as a date, but never less than the schedule', async () => {
    const date = (ms: number) => new Date(stack.clock.now().getTime() + 2_000 + ms).toUTCString();
    const asked: readonly (readonly [string, string, number])[] = [
      ['/busy-seconds', '90', 90_000],
      ['/busy-date', date(600_000), 600_000],
      ['/busy-short', '1', 5_500],
      ['/busy-past', date(-600_000), 5_500],
      ['/busy-nonsense', 'soon', 5_500],
      ['/busy-for-years', '99999999', DAY_MS],
    ];
    const queued = [];
    for (const [path, retryAfter, waitMs] of asked) {
      const { id } = await stack.queueTo(path, answers(429, { 'retry-after': retryAfter }));
      queued.push({ id, waitMs });
    }
    const twice: Behaviour = (response) =>
      void response.writeHead(429, ['retry-after', '120', 'retry-after', '60']).end();
    queued.push({ id: (await stack.queueTo('/busy-twice', twice)).id, waitMs: 120_000 });
    await stack.sendDue(stack.sender);
    for (const { id, waitMs } of queued) {
      const due = (await stack.row(id))['next_attempt_at'] as Date;
      const differenceMs = due.getTime() - stack.clock.now().getTime() - waitMs;
      expect(Math.abs(differenceMs), `${waitMs}`).toBeLessThan(1_001);
    }
  });

  test('is signed with the new secret after a rotation, and is cancelled when the workspace has none', async () => {
    const { rule, id } = await stack.queueTo('/rotated', answers(500), answers(200));
    await stack.sendDue(stack.sender);
    stack.secrets.set(rule.workspaceId, 'whsec_YW5vdGhlciBzZWNyZXQgb2YgMzIgYnl0ZXMhISE=');
    stack.clock.move(5_500);
    await stack.sendDue(stack.sender);
    const [before, after] = stack.receivers.at('/rotated');
    if (before) verifySignatures(before, SECRET);
    if (after) verifySignatures(after, 'whsec_YW5vdGhlciBzZWNyZXQgb2YgMzIgYnl0ZXMhISE=');
    expect(after?.headers['webhook-id']).toBe(id);

    const unsigned = await stack.queueTo('/unsigned');
    stack.secrets.set(unsigned.rule.workspaceId, null);
    await stack.sendDue(stack.sender);
    expect(stack.receivers.at('/unsigned')).toEqual([]);
    expect(await stack.row(unsigned.id)).toMatchObject({ status: 'cancelled' });
    expect((await stack.events(unsigned.rule)).at(-1)).toMatchObject({
      type: 'DeliveryCancelled',
      data: { reason: 'The workspace has no signing secret.' },
    });
  });

  test('is sent again by a replay, with the same bytes and id and a new round of attempts', async () => {
    const { id, rule } = await stack.queueTo('/replayed', answers(410), answers(500), answers(200));
    await stack.sendDue(stack.sender);
    expect(await stack.row(id)).toMatchObject({ status: 'failed', attempts: 1 });
    const replayed = await inTransaction(stack.pool, (client) =>
      replayDeliveries(client, [id], stack.clock.now()),
    );
    expect(replayed).toEqual([id]);
    await stack.sendDue(stack.sender);
    const row = await stack.row(id);
    expect(row).toMatchObject({ status: 'retrying', attempts: 2 });
    // A first attempt in its round: five seconds, not the five minutes of a second failure.
    stack.clock.move((row['next_attempt_at'] as Date).getTime() - stack.clock.now().getTime());
    await stack.sendDue(stack.sender);
    const requests = stack.receivers.at('/replayed');
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      verifySignatures(request, SECRET);
      expect(request.headers['webhook-id']).toBe(id);
      expect(request.body).toEqual(requests[0]?.body);
    }
    expect(
      (await stack.events(rule)).map(({ type, data }) => [type, 'attempt' in data ? data.attempt : 0]),
    ).toEqual([
      ['DeliveryQueued', 0],
      ['DeliveryAttempted', 1],
      ['DeliveryReplayed', 0],
      ['DeliveryAttempted', 2],
      ['DeliveryAttempted', 3],
    ]);
  });

  test('is not sent again after it was cancelled', async () => {
    const { id, rule } = await stack.queueTo('/cancelled', answers(500));
    await stack.sendDue(stack.sender);
    const cancel = () =>
      inTransaction(stack.pool, (client) =>
        cancelDeliveries(client, [id], 'An operator said so.', stack.clock.now()),
      );
    expect(await cancel()).toBe(1);
    expect(await cancel()).toBe(0);
    stack.clock.move(DAY_MS);
    await stack.sendDue(stack.sender);
    expect(stack.receivers.at('/cancelled')).toHaveLength(1);
    expect((await stack.events(rule)).map(({ type }) => type)).toEqual([
      'DeliveryQueued',
      'DeliveryAttempted',
      'DeliveryCancelled',
    ]);
  });
});

describe('a webhook that is cancelled while being sent', () => {
  const cancelledUnderWay = async (path: string, status: number) => {
    const arrived = Promise.withResolvers<(status: number) => void>();
    stack.receivers.behave(path, (response) =>
      arrived.resolve((answered) => void response.writeHead(answered).end()),
    );
    const { id, rule } = await stack.queueTo(path);
    await stack.sender.sweep();
    const answer = await arrived.promise;
    await inTransaction(stack.pool, (client) =>
      cancelDeliveries(client, [id], 'An operator said so.', stack.clock.now()),
    );
    answer(status);
    await stack.sender.idle();
    return { row: await stack.row(id), events: (await stack.events(rule)).map(({ type }) => type) };
  };

  test('is delivered if it arrived, with one event for the attempt', async () => {
    const { row, events } = await cancelledUnderWay('/cancelled-arrives', 200);
    expect(row).toMatchObject({ status: 'delivered', attempts: 1, next_attempt_at: null });
    expect(events).toEqual(['DeliveryQueued', 'DeliveryCancelled', 'DeliveryAttempted']);
  });

  test('stays cancelled if it did not arrive', async () => {
    const { row, events } = await cancelledUnderWay('/cancelled-fails', 500);
    expect(row).toMatchObject({ status: 'cancelled', attempts: 0, next_attempt_at: null });
    expect(events).toEqual(['DeliveryQueued', 'DeliveryCancelled']);
  });
});

test('retries soon, without counting an attempt, when a delivery cannot be signed', async () => {
  const { rule, id } = await stack.queueTo('/unsigned-yet');
  stack.secrets.set(rule.workspaceId, 'no secret at all');
  await stack.sendDue(stack.sender);
  expect(await stack.row(id)).toMatchObject({ status: 'queued', attempts: 0 });
  stack.secrets.set(rule.workspaceId, SECRET);
  await stack.sendDue(stack.sender);
  expect(await stack.row(id)).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('a delivery whose secret cannot be used is tried again after waits that double to a minute', async () => {
  const { rule, id } = await stack.queueTo('/unusable-yet');
  stack.secrets.set(rule.workspaceId, 'no secret at all');
  const putOffUntil = async (): Promise<number> => {
    const find = 'select next_attempt_at from delivery.due where delivery_id = $1';
    const { rows } = await stack.pool.query<{ next_attempt_at: Date }>(find, [id]);
    return rows[0]?.next_attempt_at.getTime() ?? 0;
  };
  const tried: number[] = [];
  for (let second = 1, before = await putOffUntil(); second <= 250; second += 1) {
    stack.clock.move(1_000);
    await stack.sender.sweep();
    await stack.sender.idle();
    const until = await putOffUntil();
    if (until !== before) tried.push(second);
    before = until;
  }
  expect(tried).toEqual([1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
  stack.secrets.set(rule.workspaceId, SECRET);
  stack.clock.move(60_000);
  await stack.sendDue(stack.sender);
  expect(await stack.row(id)).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('sends other deliveries when one cannot be parsed', async () => {
  const [unreadable, other] = [await stack.queueTo('/unreadable'), await stack.queueTo('/readable')];
  const set = 'update delivery.delivery set target = $2 where delivery_id = $1';
  await stack.pool.query(set, [unreadable.id, '{"channel":"pager","number":"1"}']);
  await stack.sendDue(stack.sender);
  expect(stack.receivers.at('/readable')).toHaveLength(1);
  expect(await stack.row(other.id)).toMatchObject({ status: 'delivered' });
  expect(await stack.row(unreadable.id)).toMatchObject({ status: 'queued', attempts: 0 });
  // A worker that can parse it sends it after the lease.
  await stack.pool.query(set, [unreadable.id, JSON.stringify(unreadable.delivery.target)]);
  stack.clock.move(CLAIM_LEASE_MS);
  await stack.sendDue(stack.sender);
  expect(stack.receivers.at('/unreadable')).toHaveLength(1);
});

describe('several workers', () => {
  test('send a delivery once, and take over the deliveries of a dead worker after its lease', async () => {
    const other = stack.worker();
    await stack.queueTo('/once');
    await Promise.all([stack.sender.sweep(), other.sweep(), stack.sender.sweep()]);
    await Promise.all([stack.sender.idle(), other.idle()]);
    expect(stack.receivers.at('/once')).toHaveLength(1);

    const orphan = await stack.queueTo('/orphan');
    const taken = `update delivery.due set taken_by = 'a dead worker', taken_until = $2 where delivery_id = $1`;
    const until = new Date(stack.clock.now().getTime() + CLAIM_LEASE_MS);
    await stack.pool.query(taken, [orphan.id, until]);
    await stack.sendDue(stack.sender);
    expect(stack.receivers.at('/orphan')).toEqual([]);
    stack.clock.move(CLAIM_LEASE_MS);
    await stack.sendDue(stack.sender);
    expect(stack.receivers.at('/orphan')).toHaveLength(1);
  });
});
