import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALERT_BRANDS_MAX, ALERT_RULES_MAX } from '#contracts/resources/workspace/alert.ts';
import { UNKNOWN_CHAT_TOOL } from '#platform/channels/chat.ts';
import { on } from '#tests/dsl/api.ts';
import { alertsOf, alertsThrough, HOOK, type Rule, ruleOn } from '#tests/operations/fixtures/alerting.ts';
import { colleague, everyPage } from '#tests/operations/fixtures/boards.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';

let stack: ApiStack;
let app: FastifyInstance;
let brands: readonly CorpusBrand[];
let alpha: CorpusBrand;
let beta: CorpusBrand;

beforeAll(async () => {
  stack = await openApiStack();
  [app, brands] = await Promise.all([stack.api(), stack.seed(['alpha', 'beta'])]);
  [alpha, beta] = brands as [CorpusBrand, CorpusBrand];
});
afterAll(() => stack[Symbol.asyncDispose]());

const tracking = async (options: Parameters<ApiStack['key']>[0] = {}): Promise<Key> => {
  const key = await stack.key(options);
  await alertsThrough(app).track(key, brands);
  return key;
};
const rules = (key: Key) => everyPage<Rule>(app, key, alertsOf(key));

describe('listAlerts 200', () => {
  test('lists rules newest first over all pages, right after a write', async () => {
    const key = await tracking({ role: 'editor' });
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      ids.unshift((await alertsThrough(app).created(key, ruleOn(brands, { name }))).id);
    }
    const pages = await everyPage<Rule>(app, key, alertsOf(key), 1);
    expect(pages.map(({ id }) => id)).toEqual(ids);
    expect(pages.map(({ name }) => name)).toEqual(['three', 'two', 'one']);
    expect(pages[0]).not.toHaveProperty('webhook_secret');
  });

  test('lists rules for every member with the scope, and none of another workspace', async () => {
    const [key, foreign] = await Promise.all([tracking(), tracking()]);
    const viewer = await colleague(stack, key, 'viewer');
    const { id, created_by } = (await alertsThrough(app).created(key, ruleOn(brands))) as Rule & {
      created_by: string;
    };
    expect(created_by).toBe(key.memberId);
    expect((await rules(viewer)).map((rule) => rule.id)).toEqual([id]);
    expect(await rules(foreign)).toEqual([]);
  });
});

describe('listAlerts 400', () => {
  test('rejects a malformed cursor', async () => {
    const key = await stack.key();
    expect((await on(app).get(`${alertsOf(key)}?cursor=x`, { key })).status).toBe(400);
  });
});

describe('createAlert 201', () => {
  test('creates a rule on tracked brands with defaults', async () => {
    const key = await tracking();
    const body = ruleOn([beta, alpha, beta], { webhook_url: HOOK });
    const { status, data } = await alertsThrough(app).create(key, body);
    expect(status).toBe(201);
    const { id: _, created_at, ...shown } = data as Rule;
    expect(shown).toEqual({
      name: 'Launches',
      trigger: 'new_ads',
      brand_ids: [alpha.id, beta.id].toSorted(),
      cadence: 'instant',
      email: true,
      webhook_url: HOOK,
      chat: null,
      enabled: true,
      sends_on: ['email', 'webhook'],
      suspended: [],
      created_by: key.memberId,
      updated_at: created_at,
      webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { webhook_secret: __, ...listed } = data as Rule;
    expect(await rules(key)).toEqual([listed]);
  });

  test('keeps limits, which a change sets and removes, and shows none that is not set', async () => {
    const key = await tracking();
    const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Vienna' };
    const limits = { threshold: 3, quiet_hours, max_per_day: 2 };
    const limited = await alertsThrough(app).created(key, ruleOn(brands, limits));
    expect(limited).toMatchObject(limits);
    expect(await rules(key)).toMatchObject([limits]);
    const { data } = await alertsThrough(app).change(key, limited.id, { threshold: null, quiet_hours: null });
    expect(data).toMatchObject({ max_per_day: 2 });
    for (const name of ['threshold', 'quiet_hours']) expect(data).not.toHaveProperty(name);
  });

  test('accepts every trigger, cadence and channel', async () => {
    const key = await tracking();
    const chat_webhook_url = 'https://hooks.slack.com/services/T0/B0/very-secret';
    for (const trigger of ['new_ads', 'stopped_ads', 'page_changes', 'new_partners', 'activity']) {
      for (const cadence of ['instant', 'daily', 'weekly']) {
        const more = { trigger, cadence, email: false, chat_webhook_url, enabled: false };
        const { data } = await alertsThrough(app).create(key, ruleOn([alpha], more));
        expect(data).toMatchObject({
          trigger,
          cadence,
          email: false,
          enabled: false,
          chat: { host: 'hooks.slack.com' },
        });
      }
    }
  });

  test('stores an address in canonical form', async () => {
    const key = await tracking();
    const { webhook_url } = await alertsThrough(app).created(
      key,
      ruleOn(brands, { webhook_url: 'HTTPS://Hooks.Shop.example:443/a\u0000 b' }),
    );
    expect(webhook_url).toBe('https://hooks.shop.example/a%00%20b');
  });

  test('creates one rule per idempotency key and repeats the reply', async () => {
    const key = await tracking();
    const headers = { 'idempotency-key': randomUUID() };
    const body = ruleOn(brands, { webhook_url: HOOK });
    const [first, second] = [
      await alertsThrough(app).create(key, body, headers),
      await alertsThrough(app).create(key, body, headers),
    ];
    expect(second.data).toEqual(first.data);
    expect((first.data as Rule).webhook_secret).not.toBeNull();
    expect(await rules(key)).toHaveLength(1);
  });
});

describe('createAlert 400', () => {
  test.each([
    ['no name', { name: '' }, 'name'],
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['a long name', { name: 'x'.repeat(101) }, 'name'],
    ['another trigger', { trigger: 'spend' }, 'trigger'],
    ['another cadence', { cadence: 'hourly' }, 'cadence'],
    ['no brand', { brand_ids: [] }, 'brand_ids'],
    ['what is no brand', { brand_ids: ['alpha'] }, 'brand_ids.0'],
    ['too many brands', { brand_ids: Array(ALERT_BRANDS_MAX + 1).fill(randomUUID()) }, 'brand_ids'],
    ['no channel', { email: false }, ''],
    ['a threshold that every message reaches', { threshold: 1 }, 'threshold'],
    ['a threshold that no message reaches', { trigger: 'activity', threshold: 2 }, 'threshold'],
    ['no message a day', { max_per_day: 0 }, 'max_per_day'],
    [
      'quiet hours without a length',
      { quiet_hours: { from: '07:00', to: '07:00', time_zone: 'UTC' } },
      'quiet_hours.to',
    ],
    [
      'an unknown time zone',
      { quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Nowhere' } },
      'quiet_hours.time_zone',
    ],
    ['an address that is too long', { webhook_url: `https://a.example/${'x'.repeat(2_048)}` }, 'webhook_url'],
  ])('rejects %s', async (_name, more, path) => {
    const key = await tracking();
    const reply = await alertsThrough(app).create(key, ruleOn([alpha], more));
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
    expect(await rules(key)).toEqual([]);
  });

  test('names each brand that is not tracked', async () => {
    const key = await stack.key();
    await alertsThrough(app).track(key, [alpha]);
    const unknown = randomUUID();
    const body = { ...ruleOn([alpha, beta], { webhook_url: HOOK }) };
    const reply = await alertsThrough(app).create(key, { ...body, brand_ids: [...body.brand_ids, unknown] });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([
      { path: 'brand_ids.1', code: 'not_tracked', message: expect.stringContaining(beta.id) },
      { path: 'brand_ids.2', code: 'not_tracked', message: expect.stringContaining(unknown) },
    ]);
    // The refused rules issued no secret: the first accepted rule with a webhook still returns it.
    const { webhook_secret } = await alertsThrough(app).created(key, ruleOn([alpha], { webhook_url: HOOK }));
    expect(webhook_secret).not.toBeNull();
  });

  const ADDRESSES = [
    'http://hooks.shop.example/in',
    'https://user:word@hooks.shop.example/in',
    'https://127.0.0.1/in',
    'https://0x7f000001/in',
    'https://017700000001/in',
    'https://10.0.0.8/in',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/in',
    'https://[::ffff:10.0.0.8]/in',
    'https://[64:ff9b::a00:8]/in',
    'https://localhost/in',
    'https://hooks.internal/in',
    'https://intranet/in',
    'https://hooks.shop.example./in',
    'ftp://hooks.shop.example/in',
    'https://',
    'hooks.shop.example/in',
    'https://hooks shop.example/in',
  ];
  test.each(ADDRESSES)('rejects the address %s on either channel', async (address) => {
    const key = await tracking();
    const both = { webhook_url: address, chat_webhook_url: address };
    const reply = await alertsThrough(app).create(key, ruleOn([alpha], both));
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([
      { path: 'webhook_url', code: 'target_refused' },
      { path: 'chat_webhook_url', code: 'target_refused' },
    ]);
  });
});

describe('createAlert and changeAlert 400', () => {
  test('name the supported chat tools for an address of another one', async () => {
    const key = await tracking();
    const chat_webhook_url = 'https://hooks.chat.example/services/T0/B0/very-secret';
    const refused = await alertsThrough(app).create(key, ruleOn([alpha], { chat_webhook_url }));
    const { id } = await alertsThrough(app).created(key, ruleOn([alpha]));
    const changed = await alertsThrough(app).change(key, id, { chat_webhook_url });
    for (const reply of [refused, changed]) {
      expect(reply.status).toBe(400);
      expect(reply.error.details).toEqual([
        { path: 'chat_webhook_url', message: UNKNOWN_CHAT_TOOL, code: 'target_refused' },
      ]);
      for (const tool of ['Slack', 'Discord', 'Microsoft Teams', 'Google Chat', 'Mattermost', 'Rocket.Chat'])
        expect(reply.body).toContain(tool);
      expect(reply.body).not.toContain('very-secret');
    }
  });
});

describe('createAlert 404', () => {
  test('rejects a key of another workspace', async () => {
    const [key, other] = await Promise.all([tracking(), tracking()]);
    expect((await on(app).post(alertsOf(other), { key, body: ruleOn(brands) })).status).toBe(404);
    expect(await rules(other)).toEqual([]);
  });
});

describe('createAlert 409', () => {
  test('rejects an idempotency key that was used with another body', async () => {
    const key = await tracking();
    const headers = { 'idempotency-key': randomUUID() };
    expect((await alertsThrough(app).create(key, ruleOn(brands), headers)).status).toBe(201);
    expect((await alertsThrough(app).create(key, ruleOn([alpha]), headers)).status).toBe(409);
  });

  test('rejects a rule beyond the limit of the workspace', async () => {
    const key = await tracking();
    const many = Array.from({ length: ALERT_RULES_MAX }, (_, index) => ruleOn([alpha], { name: `${index}` }));
    while (many.length > 0) {
      await Promise.all(many.splice(0, 50).map((body) => alertsThrough(app).created(key, body)));
    }
    expect((await alertsThrough(app).create(key, ruleOn(brands))).status).toBe(409);
  });
});
