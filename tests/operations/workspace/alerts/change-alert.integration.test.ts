import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import {
  alertsOf,
  alertsThrough,
  FAILING,
  HOOK,
  type Rule,
  ruleOn,
  suspendChannel,
} from '#tests/operations/fixtures/alerting.ts';
import { colleague, crowded, everyPage } from '#tests/operations/fixtures/boards.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { trackingThrough } from '#tests/operations/fixtures/tracking.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';

const stack = await disposeAfterAll(openApiStack());
const [app, brands] = await Promise.all([stack.api(), stack.seed(['alpha', 'beta'])]);
const beta = brands[1] as CorpusBrand;

const tracking = async (options: Parameters<ApiStack['key']>[0] = {}): Promise<Key> => {
  const key = await stack.key(options);
  await alertsThrough(app).track(key, brands);
  return key;
};
const rules = (key: Key) => everyPage<Rule>(app, key, alertsOf(key));

const eventsOf = async (key: Key, id: string): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { type } of stack.eventStore.read(alertRuleStream(key.workspaceId, id))) types.push(type);
  return types;
};

describe('changeAlert 200', () => {
  test('changes the named properties and nothing else', async () => {
    const key = await tracking({ role: 'editor' });
    const { id, ...before } = await alertsThrough(app).created(key, ruleOn(brands, { webhook_url: HOOK }));
    const changes = { name: 'Stops', trigger: 'stopped_ads', cadence: 'weekly', brand_ids: [beta.id] };
    const { data } = await alertsThrough(app).change(key, id, changes);
    const { updated_at } = data as Rule;
    expect(data).toEqual({ id, ...before, ...changes, updated_at, webhook_secret: null });
    expect(updated_at > before.updated_at).toBe(true);
    const { webhook_secret: _, ...listed } = data as Rule;
    expect(await rules(key)).toEqual([listed]);
    await alertsThrough(app).change(key, id, changes);
    expect(await eventsOf(key, id)).toEqual(['AlertRuleCreated', 'AlertRuleChanged']);
  });

  test('lets a colleague disable and enable a rule', async () => {
    const key = await tracking();
    const other = await colleague(stack, key);
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    for (const enabled of [false, true]) {
      expect((await alertsThrough(app).change(other, id, { enabled })).data).toMatchObject({
        enabled,
        created_by: key.memberId,
      });
    }
  });

  test('removes a channel that is set to null', async () => {
    const key = await tracking();
    const urls = { webhook_url: HOOK, chat_webhook_url: 'https://hooks.slack.com/services/T0/B0/secret' };
    const { id } = await alertsThrough(app).created(key, ruleOn(brands, urls));
    const without = { webhook_url: null, chat_webhook_url: null };
    expect((await alertsThrough(app).change(key, id, without)).data).toMatchObject({
      webhook_url: null,
      chat: null,
      email: true,
    });
  });

  test('ends the suspension of a channel when its address is set, and of all channels with `enabled: true`', async () => {
    const key = await tracking();
    const chat_webhook_url = 'https://hooks.slack.com/services/T0/B0/secret';
    const { id } = await alertsThrough(app).created(
      key,
      ruleOn(brands, { email: false, webhook_url: HOOK, chat_webhook_url }),
    );
    const [webhook, chat] = [
      { channel: 'webhook', ...FAILING },
      { channel: 'chat', ...FAILING },
    ];
    const suspend = async () => {
      for (const channel of ['webhook', 'chat'] as const) await suspendChannel(stack, key, id, channel);
    };
    const changed = async (body: object) => {
      const { data } = await alertsThrough(app).change(key, id, body);
      const { webhook_secret: _, ...shown } = data as Rule;
      expect(await rules(key)).toEqual([shown]);
      return shown;
    };
    await suspend();
    expect(await rules(key)).toMatchObject([{ enabled: true, sends_on: [], suspended: [webhook, chat] }]);
    expect(await changed({ name: 'Starts' })).toMatchObject({ sends_on: [], suspended: [webhook, chat] });
    expect(await changed({ email: true })).toMatchObject({ sends_on: ['email'] });
    const urls = { webhook_url: HOOK, chat_webhook_url };
    expect(await changed({ webhook_url: HOOK })).toMatchObject({
      enabled: true,
      sends_on: ['email', 'webhook'],
      suspended: [chat],
    });
    expect(await changed(urls)).toMatchObject({ sends_on: ['email', 'webhook', 'chat'], suspended: [] });
    await suspend();
    expect(await changed({ webhook_url: null })).toMatchObject({ sends_on: ['email'], suspended: [chat] });
    expect(await changed({ enabled: true })).toMatchObject({ sends_on: ['email', 'chat'], suspended: [] });
    const events = await eventsOf(key, id);
    await changed({ enabled: true, chat_webhook_url });
    expect(await eventsOf(key, id), 'nothing is left to end').toEqual(events);
  });

  test('changes a rule on a brand that was untracked', async () => {
    const key = await tracking();
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    await trackingThrough(app).untrack(key, beta.id);
    expect((await alertsThrough(app).change(key, id, { name: 'Starts' })).status).toBe(200);
    expect((await alertsThrough(app).change(key, id, { brand_ids: [beta.id] })).status).toBe(400);
  });
});

describe('changeAlert 400', () => {
  test.each([
    ['nothing', {}, ''],
    ['the last channel', { email: false }, ''],
    ['an address that is not called', { webhook_url: 'https://10.1.1.1/' }, 'webhook_url'],
    ['null for what has to be', { name: null }, 'name'],
    ['a brand that is not tracked', { brand_ids: [randomUUID()] }, 'brand_ids.0'],
  ])('rejects %s', async (_name, body, path) => {
    const key = await tracking();
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    const reply = await alertsThrough(app).change(key, id, body);
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
    expect(await eventsOf(key, id)).toEqual(['AlertRuleCreated']);
  });
});

describe('changeAlert 404', () => {
  test('rejects an unknown rule, a deleted rule, and a rule of another workspace', async () => {
    const [key, foreign] = await Promise.all([tracking(), tracking()]);
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    expect((await alertsThrough(app).change(foreign, id, { name: 'x' })).status).toBe(404);
    expect((await alertsThrough(app).change(key, randomUUID(), { name: 'x' })).status).toBe(404);
    await alertsThrough(app).delete(key, id);
    expect((await alertsThrough(app).change(key, id, { name: 'x' })).status).toBe(404);
  });
});

describe('changeAlert 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await tracking();
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    const reply = await alertsThrough(await crowded(stack)).change(key, id, { name: 'x' });
    expect(reply.error.type).toBe('conflict');
  });
});

describe('deleteAlert 200', () => {
  test('deletes a rule once', async () => {
    const key = await tracking({ role: 'editor' });
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    const removed = { alert_id: id, workspace_id: key.workspaceId };
    expect((await alertsThrough(app).delete(key, id)).data).toEqual({ ...removed, removed: true });
    expect(await rules(key)).toEqual([]);
    expect((await alertsThrough(app).delete(key, id)).data).toEqual({ ...removed, removed: false });
    expect((await alertsThrough(app).delete(key, randomUUID())).data).toMatchObject({ removed: false });
  });

  test('removes nothing of another workspace', async () => {
    const [key, foreign] = await Promise.all([tracking(), tracking()]);
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    expect((await alertsThrough(app).delete(foreign, id)).data).toMatchObject({ removed: false });
    expect(await rules(key)).toHaveLength(1);
  });
});

describe('deleteAlert 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await tracking();
    const { id } = await alertsThrough(app).created(key, ruleOn(brands));
    expect((await alertsThrough(await crowded(stack)).delete(key, id)).error.type).toBe('conflict');
  });
});
