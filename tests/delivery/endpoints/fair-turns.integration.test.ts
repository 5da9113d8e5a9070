import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpointOf } from '#application/delivery-outbox/target.ts';
import { openMailServer } from '#tests/faults/background/mail-server.ts';
import { newDelivery, type Rule } from '../new-delivery.ts';
import { openReceivers, type Receivers } from '../receivers.ts';
import { type DeliveryStack, openDeliveryStack } from '../stack.ts';

/** Endpoints with more due deliveries than one worker can hold. */

const LARGE_ENDPOINTS = 40;
const PER_LARGE_ENDPOINT = 160;
const WORKSPACES = 5;
const SMALL_ENDPOINTS = 8;
const PER_SMALL_ENDPOINT = 3;
/** Claims before the turn of an endpoint: one turn of each large one. */
const CLAIMS_BEFORE_MAX = LARGE_ENDPOINTS * 64;
const ONE_LARGE = 1_500;
const ANSWER_MS = 5;
const LIMIT_MS = 180_000;

let stack: DeliveryStack;
let receivers: Receivers;
beforeAll(async () => {
  [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
  // Free deliveries, not renewals of leases.
  await stack.pool.query(`
    create table claimed (n bigserial, delivery_id uuid not null, by_transaction xid8 not null default pg_current_xact_id());
    create function note_claim() returns trigger language plpgsql as $$
    begin
      insert into claimed (delivery_id) values (new.delivery_id);
      return null;
    end $$;
    create trigger note_claim after update on delivery.due for each row
      when (old.taken_by is null and new.taken_by is not null) execute function note_claim();`);
});
afterAll(async () => {
  await receivers[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const queue = async (rule: Rule, path: string, count: number): Promise<readonly string[]> => {
  const target = { channel: 'webhook', url: receivers.url + path } as const;
  const deliveries = Array.from({ length: count }, () => newDelivery(rule, target, stack.clock.now()));
  await stack.enqueue(...deliveries);
  return deliveries.map(({ deliveryId }) => deliveryId);
};
const queueMail = async (rule: Rule, count: number): Promise<readonly string[]> => {
  const target = { channel: 'email', member_id: `mem_${rule.workspaceId}` } as const;
  const deliveries = Array.from({ length: count }, () => newDelivery(rule, target, stack.clock.now()));
  await stack.enqueue(...deliveries);
  return deliveries.map(({ deliveryId }) => deliveryId);
};

/** Number of the last claim; `null` while one delivery is not claimed. Without ids: of all. */
const lastClaim = async (ids?: readonly string[]): Promise<number | null> => {
  const { rows } = await stack.pool.query<{ n: string | null; count: string }>(
    `select max(n) as n, count(distinct delivery_id) as count from claimed
     where $1::uuid[] is null or delivery_id = any($1::uuid[])`,
    [ids ?? null],
  );
  if (ids !== undefined && Number(rows[0]?.count) < ids.length) return null;
  return Number(rows[0]?.n ?? 0);
};

test('small endpoints get their turn while many large ones of several workspaces fill the worker', {
  timeout: LIMIT_MS,
}, async () => {
  // The small ones are last in key order.
  const paths = Array.from({ length: LARGE_ENDPOINTS + SMALL_ENDPOINTS }, (_, n) => `/turns/${n}`);
  const keyOf = (path: string): string => endpointOf({ channel: 'webhook', url: receivers.url + path }, '');
  paths.sort((a, b) => keyOf(a).localeCompare(keyOf(b)));
  for (const path of paths)
    receivers.behave(
      path,
      (response) => void setTimeout(() => response.writeHead(204).end(), ANSWER_MS).unref(),
    );
  const rules = Array.from({ length: WORKSPACES }, () => stack.rule());
  for (const [n, path] of paths.slice(0, LARGE_ENDPOINTS).entries())
    await queue(rules[n % WORKSPACES] ?? stack.rule(), path, PER_LARGE_ENDPOINT);
  const worker = stack.worker();
  await worker.sweep();
  const small: string[] = [];
  for (const path of paths.slice(LARGE_ENDPOINTS))
    small.push(...(await queue(stack.rule(), path, PER_SMALL_ENDPOINT)));
  await worker.sweep();
  const before = (await lastClaim()) ?? 0;
  // Sweeps run as in a process.
  const claimed = async (): Promise<number | null> => {
    await worker.sweep();
    return lastClaim(small);
  };
  await expect.poll(claimed, { timeout: LIMIT_MS }).not.toBeNull();
  expect(((await lastClaim(small)) ?? 0) - before).toBeLessThanOrEqual(CLAIMS_BEFORE_MAX);
  await worker.idle();
  await stack.sendDue(worker);
  expect(receivers.received).toHaveLength(LARGE_ENDPOINTS * PER_LARGE_ENDPOINT + small.length);
});

test('a sweep ends, and the next one finds a small endpoint, while one has very many due that its receiver takes faster than they are claimed', {
  timeout: LIMIT_MS,
}, async () => {
  const large = await queue(stack.rule(), '/drains/large', ONE_LARGE);
  await stack.pool.query(`
    create function take_long() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(0.05);
      return null;
    end $$;
    create trigger slow_claim before update on delivery.due for each statement execute function take_long();`);
  const worker = stack.worker();
  const before = (await lastClaim()) ?? 0;
  await worker.sweep();
  const small = await queue(stack.rule(), '/drains/small', PER_SMALL_ENDPOINT);
  await worker.sweep();
  expect(((await lastClaim(small)) ?? Number.POSITIVE_INFINITY) - before).toBeLessThan(ONE_LARGE);
  await worker.idle();
  await stack.pool.query('drop trigger slow_claim on delivery.due');
  await stack.sendDue(worker);
  for (const id of [...large.slice(0, 1), ...large.slice(-1), ...small])
    expect(await stack.row(id)).toMatchObject({ status: 'delivered' });
});

test('e-mails of one workspace get their turn while another has many due', async () => {
  const [many, few] = [stack.rule(), stack.rule()];
  for (const { workspaceId } of [many, few]) stack.emails.set(`mem_${workspaceId}`, 'ada@shop.example');
  const large = await queueMail(many, 200);
  const small = await queueMail(few, 2);
  const worker = stack.worker();
  const before = (await lastClaim()) ?? 0;
  await worker.sweep();
  expect(((await lastClaim(small)) ?? Number.POSITIVE_INFINITY) - before).toBeLessThanOrEqual(32);
  await worker.idle();
  await stack.sendDue(worker);
  for (const id of [...large, ...small]) expect(await stack.row(id)).toMatchObject({ status: 'delivered' });
});

test('only the worker that leads sends e-mails, at most four at once, of all workspaces', async () => {
  const rules = Array.from({ length: 6 }, () => stack.rule());
  const ids: string[] = [];
  for (const rule of rules) {
    stack.emails.set(`mem_${rule.workspaceId}`, 'ada@shop.example');
    ids.push(...(await queueMail(rule, 2)));
  }
  expect(await stack.worker({ mayEmail: false }).sweep()).toBe(0);
  for (const id of ids) expect(await stack.row(id)).toMatchObject({ status: 'queued' });
  await using server = await openMailServer('250 ok');
  const worker = stack.worker({ mail: { SMTP_URL: server.url } });
  const taken = stack.pool.query('select from delivery.due where taken_by is not null');
  await worker.sweep();
  expect((await taken).rowCount).toBeLessThanOrEqual(4);
  await stack.sendDue(worker);
  for (const id of ids) expect(await stack.row(id)).toMatchObject({ status: 'delivered' });
});
