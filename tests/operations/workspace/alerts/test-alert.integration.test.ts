import type { FastifyInstance } from 'fastify';
import { TEST_SENDS_PER_MINUTE } from '#contracts/resources/workspace/alert.ts';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import type { Event } from '#contracts/events/event.ts';
import { addPerson, issueKey } from '#services/ops/workspaces.ts';
import {
  alertsThrough,
  deliveriesOf,
  HOOK,
  loseReply,
  MAILS,
  openLoopbackChannels,
  openReceiver,
  type Received,
  type Receiver,
  ruleOn,
  suspendChannel,
  verifySignatures,
} from '#tests/operations/fixtures/alerting.ts';
import { on } from '#tests/dsl/api.ts';
import { colleague, everyPage } from '#tests/operations/fixtures/boards.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack, VAULT_KEY } from '#tests/operations/fixtures/stack.ts';

const CHAT_PATH = 'services/T0/B0/secret';

type Sent = {
  readonly id: string;
  readonly alert_id: string;
  readonly channel: string;
  readonly kind: string;
  readonly status: string;
  readonly attempts: readonly { readonly status_code: number | null }[];
};
type Tested = { readonly deliveries: readonly (Sent & { readonly delivery_id: string })[] };

let stack: ApiStack;
let app: FastifyInstance;
let receiver: Receiver;
let brands: readonly CorpusBrand[];

beforeAll(async () => {
  stack = await openApiStack();
  receiver = await openReceiver();
  const memberVault = await openMemberVault(stack.pool, VAULT_KEY);
  [app, brands] = await Promise.all([
    stack.api({ alertChannels: openLoopbackChannels(), memberVault }),
    stack.seed(['alpha']),
  ]);
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const tracking = async (): Promise<Key> => {
  const key = await stack.key();
  await alertsThrough(app).track(key, brands);
  return key;
};
const created = (key: Key, more: object) =>
  alertsThrough(app).created(key, ruleOn(brands, { email: false, ...more }));
const tested = async (key: Key, id: string): Promise<Tested> => (await alertsThrough(app).test(key, id)).data;
const deliveries = (key: Key, query = '') => everyPage<Sent>(app, key, `${deliveriesOf(key)}${query}`);

/** Each test uses its own path. */
const receivedAt = (path: string): readonly Received[] =>
  receiver.received.filter((request) => request.path === path);

describe('testAlert 200', () => {
  test('sends a signed sample on each channel at once and lists it as a delivery', async () => {
    const key = await tracking();
    const path = `/${randomUUID()}`;
    const urls = {
      webhook_url: receiver.url + path,
      chat_webhook_url: `${receiver.url}${path}/${CHAT_PATH}`,
    };
    const { id, webhook_secret } = await created(key, { ...urls, email: true });
    const { deliveries: sent } = await tested(key, id);
    expect(sent).toMatchObject([
      // The member of the key has no e-mail address.
      { channel: 'email', delivered: false, failure: 'blocked_target', status_code: null },
      { channel: 'webhook', delivered: true, failure: null, status_code: 200, reason: null },
      { channel: 'chat', delivered: true, failure: null, status_code: 200, reason: null },
    ]);
    const [webhook] = receivedAt(path);
    await verifySignatures(webhook as Received, webhook_secret ?? '');
    expect(JSON.parse(webhook?.body ?? '')).toMatchObject({
      type: 'alert.test',
      kind: 'test',
      workspace_id: key.workspaceId,
      alert: { id, name: 'Launches', trigger: 'new_ads', cadence: 'instant' },
      items: [{ type: 'ad_started', title: expect.stringContaining('Sample') }],
    });
    const addresses = webhook?.body.match(/https:\/\/api\.test[^"]*/g) ?? [];
    expect(addresses).toHaveLength(2);
    for (const address of addresses) expect((await on(app).get(address, { key })).status).toBe(200);
    const [chat] = receivedAt(`${path}/${CHAT_PATH}`);
    expect(JSON.parse(chat?.body ?? '')).toMatchObject({ text: expect.stringContaining('Launches') });

    const listed = await deliveries(key, `?alert_id=${id}`);
    expect(new Set(listed.map(({ id: one }) => one))).toEqual(
      new Set(sent.map(({ delivery_id }) => delivery_id)),
    );
    for (const { channel, kind, status, attempts } of listed) {
      expect(kind).toBe('test');
      expect(status).toBe(channel === 'email' ? 'failed' : 'delivered');
      expect(attempts).toMatchObject([{ status_code: channel === 'email' ? null : 200 }]);
    }
  });

  test('sends e-mail to the member who created the rule', async () => {
    const key = await tracking();
    const dependencies = { ...stack, actor: { kind: 'service', id: 'tests' } } as const;
    const { workspaceId } = key;
    const memberVault = await openMemberVault(stack.pool, VAULT_KEY);
    const person = { name: 'Ada', email: 'ada@shop.example' };
    const { member_id } = await addPerson({ ...dependencies, memberVault }, workspaceId, person, 'editor');
    const { key_id, api_key } = await issueKey(dependencies, workspaceId, member_id, 'mail', 'all');
    const ada: Key = { workspaceId, memberId: member_id, keyId: key_id, text: api_key };
    const { id } = await created(ada, { email: true });
    // A colleague requests the sample; it is sent to the creator of the rule.
    const { deliveries: sent } = await tested(key, id);
    expect(sent).toMatchObject([{ channel: 'email', delivered: true, failure: null }]);
    const file = readdirSync(MAILS).find((name) => name.startsWith(sent[0]?.delivery_id ?? '-'));
    const message = readFileSync(join(MAILS, file ?? ''), 'utf8');
    expect(message).toContain('To: ada@shop.example');
    expect(message).toMatch(/Subject: .*Test/);
  });

  test('sends on suspended channels, which stay suspended', async () => {
    const key = await tracking();
    const { id } = await created(key, { webhook_url: `${receiver.url}/${randomUUID()}` });
    await suspendChannel(stack, key, id, 'webhook');
    expect((await tested(key, id)).deliveries).toMatchObject([{ channel: 'webhook', delivered: true }]);
    const { data } = await alertsThrough(app).change(key, id, { name: 'Starts' });
    expect(data).toMatchObject({ suspended: [{ channel: 'webhook' }] });
  });

  test('reports the failure and does not retry', async () => {
    const key = await tracking();
    const closed = await openReceiver();
    await closed[Symbol.asyncDispose]();
    const rules = [
      await created(key, { webhook_url: `${receiver.url}/status/503` }),
      await created(key, { webhook_url: `${receiver.url}/status/302` }),
      await created(key, { webhook_url: closed.url }),
    ];
    const outcomes = [];
    for (const { id } of rules) outcomes.push(...(await tested(key, id)).deliveries);
    expect(outcomes).toMatchObject([
      { delivered: false, failure: 'http', status_code: 503, reason: expect.stringContaining('503') },
      { delivered: false, failure: 'http', status_code: 302 },
      { delivered: false, failure: 'connection', status_code: null },
    ]);
    const listed = await deliveries(key);
    expect(listed.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
    expect(listed.map(({ attempts }) => attempts.length)).toEqual([1, 1, 1]);
  });

  test('sends a sample of a disabled rule', async () => {
    const key = await tracking();
    const { id } = await created(key, { webhook_url: `${receiver.url}/off`, enabled: false });
    expect((await tested(key, id)).deliveries).toMatchObject([{ delivered: true }]);
  });

  test('sends once per idempotency key, also when the first reply was lost', async () => {
    const key = await tracking();
    const path = `/${randomUUID()}`;
    const { id } = await created(key, { webhook_url: receiver.url + path });
    const headers = { 'idempotency-key': randomUUID() };
    const first = await alertsThrough(app).test(key, id, {}, headers);
    expect((await alertsThrough(app).test(key, id, {}, headers)).data).toEqual(first.data);
    await loseReply(stack, headers['idempotency-key']);
    expect((await alertsThrough(app).test(key, id, {}, headers)).data).toEqual(first.data);
    expect(receivedAt(path)).toHaveLength(1);
    expect(await deliveries(key)).toHaveLength(1);
  });
});

describe('testAlert 404', () => {
  test('rejects an unknown rule, a deleted rule, and a rule of another workspace', async () => {
    const [key, foreign] = await Promise.all([tracking(), tracking()]);
    const { id } = await created(key, { webhook_url: HOOK });
    expect((await alertsThrough(app).test(foreign, id)).status).toBe(404);
    expect((await alertsThrough(app).test(key, randomUUID())).status).toBe(404);
    await alertsThrough(app).delete(key, id);
    expect((await alertsThrough(app).test(key, id)).status).toBe(404);
  });
});

describe('testAlert 409', () => {
  test('rejects an idempotency key that was used with another body', async () => {
    const key = await tracking();
    const { id } = await created(key, { webhook_url: `${receiver.url}/409` });
    const headers = { 'idempotency-key': randomUUID() };
    await alertsThrough(app).test(key, id, {}, headers);
    // The only valid body is empty, so the test changes the stored fingerprint to simulate another body.
    await stack.pool.query(`update access.idempotency set fingerprint = 'x' where key = $1`, [
      headers['idempotency-key'],
    ]);
    expect((await alertsThrough(app).test(key, id, {}, headers)).status).toBe(409);
  });

  test('rejects a test beyond the limit of the workspace per minute, over all its rules', async () => {
    const key = await tracking();
    const clock = { now: () => new Date('2026-11-20T12:00:30.000Z') };
    const fixed = await stack.api({ alertChannels: openLoopbackChannels(), clock });
    const [one, two] = [
      await created(key, { webhook_url: `${receiver.url}/limited/one` }),
      await created(key, { webhook_url: `${receiver.url}/limited/two` }),
    ];
    for (let sent = 0; sent < TEST_SENDS_PER_MINUTE; sent += 1)
      expect((await alertsThrough(fixed).test(key, (sent % 2 === 0 ? one : two).id)).status).toBe(200);
    const refused = await alertsThrough(fixed).test(key, one.id);
    expect([refused.status, refused.error.message]).toEqual([
      409,
      expect.stringContaining(String(TEST_SENDS_PER_MINUTE)),
    ]);
    const read: string[] = [];
    const noted = (stream: string): string => {
      read.push(stream);
      return stream;
    };
    const { eventStore } = stack;
    const watched = await stack.api({
      alertChannels: openLoopbackChannels(),
      clock: { now: () => new Date('2026-11-20T12:01:30.000Z') },
      eventStore: {
        ...eventStore,
        read: <E extends Event>(stream: string, after?: bigint) => eventStore.read<E>(noted(stream), after),
        newest: <E extends Event>(stream: string, count: number) =>
          eventStore.newest<E>(noted(stream), count),
      },
    });
    const idempotencyKey = randomUUID();
    const send = (headers: Record<string, string>) => alertsThrough(watched).test(key, two.id, {}, headers);
    const repeat = async () => {
      await loseReply(stack, idempotencyKey);
      return await send({ 'idempotency-key': idempotencyKey });
    };
    expect((await send({ 'idempotency-key': idempotencyKey })).status).toBe(200);
    expect((await repeat()).status).toBe(200);
    // A repetition looks for the earlier test.
    expect(read).toContain(alertDeliveryStream(key.workspaceId, two.id));
    for (let sent = 2; sent < TEST_SENDS_PER_MINUTE; sent += 1)
      expect((await send({ 'idempotency-key': randomUUID() })).status).toBe(200);
    read.length = 0;
    expect((await repeat()).status).toBe(409);
    expect(read).not.toContain(alertDeliveryStream(key.workspaceId, two.id));
    const stored = [...receivedAt('/limited/one'), ...receivedAt('/limited/two')];
    expect(stored).toHaveLength(2 * TEST_SENDS_PER_MINUTE - 1);
  });
});

describe('listAlertDeliveries 200', () => {
  test('lists deliveries of all rules or of one, newest first over all pages, until the rule is deleted', async () => {
    const key = await tracking();
    const viewer = await colleague(stack, key, 'viewer');
    const [one, two] = [
      await created(key, { webhook_url: `${receiver.url}/one` }),
      await created(key, { webhook_url: `${receiver.url}/two` }),
    ];
    for (const { id } of [one, two, one]) await tested(key, id);
    const rulesOf = async (caller: Key, query = '') =>
      (await everyPage<Sent>(app, caller, `${deliveriesOf(caller)}${query}`, 1)).map(
        ({ alert_id }) => alert_id,
      );
    expect(await rulesOf(key)).toEqual([one.id, two.id, one.id]);
    expect(await rulesOf(viewer, `?alert_id=${two.id.toUpperCase()}`)).toEqual([two.id]);
    expect(await rulesOf(key, `?alert_id=${randomUUID()}`)).toEqual([]);
    await alertsThrough(app).delete(key, one.id);
    expect(await rulesOf(key)).toEqual([two.id]);
    expect(await rulesOf(await stack.key())).toEqual([]);
  });
});

describe('listAlertDeliveries 400', () => {
  test('rejects an id that is not a uuid', async () => {
    const key = await stack.key();
    const reply = await alertsThrough(app).deliveries(key, '?alert_id=mine');
    expect(reply.error.details).toMatchObject([{ path: 'alert_id' }]);
  });
});
