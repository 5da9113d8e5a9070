import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { findHistoryHead, listHistory } from '#projections/workspace-history/read.ts';
import { on } from '#tests/dsl/api.ts';
import {
  alertsOf,
  alertsThrough,
  HOOK,
  loseReply,
  openLoopbackChannels,
  openReceiver,
  type Received,
  type Receiver,
  ruleOn,
  verifySignatures,
} from '#tests/operations/fixtures/alerting.ts';
import { crowded } from '#tests/operations/fixtures/boards.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';

const CHAT_SECRET = 'T0CHAT/B0SECRET/v3ry-53cret-4ddress';

let stack: ApiStack;
let app: FastifyInstance;
let receiver: Receiver;
let brands: readonly CorpusBrand[];
let lines = '';

beforeAll(async () => {
  stack = await openApiStack();
  receiver = await openReceiver();
  const log = pino({ level: 'trace' }, { write: (line: string) => (lines += line) });
  [app, brands] = await Promise.all([
    stack.api({ alertChannels: openLoopbackChannels(), log }),
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

/** Returns how many signing secrets the vault holds of a workspace. While the log is gone, a single one signs. */
const secretsOf = async ({ workspaceId }: Key): Promise<number | null> => {
  const { rowCount } = await stack.pool.query(
    `select from vault.secret where workspace_id = $1 and owner = 'webhook-secret'`,
    [workspaceId],
  );
  return rowCount;
};

/** Each test uses its own path. */
const receivedAt = (path: string): readonly Received[] =>
  receiver.received.filter((request) => request.path === path);

describe('issueWebhookSecret 201', () => {
  test('creates and rotates the secret, and shows it once', async () => {
    const key = await tracking();
    const first = await alertsThrough(app).issueSecret(key);
    expect(first.status).toBe(201);
    expect(first.data).toMatchObject({ workspace_id: key.workspaceId, rotated: false });
    const second = await alertsThrough(app).issueSecret(key);
    expect(second.data).toMatchObject({ rotated: true });
    const secretOf = ({ data }: { data: unknown }) => (data as { webhook_secret: string }).webhook_secret;
    expect(secretOf(second)).not.toBe(secretOf(first));
    // A rule does not return the secret when the workspace already has one.
    expect((await created(key, { webhook_url: HOOK })).webhook_secret).toBeNull();
    expect((await on(app).get(alertsOf(key), { key })).body).not.toContain('whsec_');
  });

  test('returns it for the first rule with a webhook, created or changed, and not for later rules', async () => {
    const key = await tracking();
    const { id, webhook_secret } = await created(key, { email: true });
    expect(webhook_secret).toBeNull();
    const change = { webhook_url: HOOK };
    expect((await alertsThrough(app).change(key, id, change)).data).toMatchObject({
      webhook_secret: expect.stringMatching(/^whsec_/),
    });
    expect((await alertsThrough(app).change(key, id, change)).data).toMatchObject({ webhook_secret: null });
    expect((await created(key, { webhook_url: HOOK })).webhook_secret).toBeNull();
  });

  test('returns it for exactly one of several rules that are created concurrently', async () => {
    const key = await tracking();
    const rules = await Promise.all(Array.from({ length: 8 }, () => created(key, { webhook_url: HOOK })));
    expect(rules.filter(({ webhook_secret }) => webhook_secret !== null)).toHaveLength(1);
    expect(await secretsOf(key)).toBe(1);
  });

  test('is the only one in the vault after rotations in quick succession', async () => {
    const key = await tracking();
    for (let round = 0; round < 3; round += 1) {
      await alertsThrough(app).issueSecret(key);
      expect(await secretsOf(key)).toBe(1);
    }
  });

  test('no process signs with the previous secret after the reply', async () => {
    const key = await tracking();
    const path = `/${randomUUID()}`;
    const other = await stack.api({ alertChannels: openLoopbackChannels() });
    const { id } = await created(key, { webhook_url: receiver.url + path });
    let count = 0;
    for (let round = 0; round < 2; round += 1) {
      // Both processes have cached the secret that is replaced next.
      await Promise.all([app, other].map((one) => alertsThrough(one).test(key, id)));
      const { data } = await alertsThrough(app).issueSecret(key);
      await Promise.all([app, other].map((one) => alertsThrough(one).test(key, id)));
      count += 4;
      for (const request of receivedAt(path).slice(count - 2)) {
        await verifySignatures(request, (data as { webhook_secret: string }).webhook_secret);
      }
    }
    expect(receivedAt(path)).toHaveLength(count);
  });

  test('returns the same secret for a repeated request when the first reply was lost', async () => {
    const key = await tracking();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await alertsThrough(app).issueSecret(key, {}, headers);
    await loseReply(stack, headers['idempotency-key']);
    expect((await alertsThrough(app).issueSecret(key, {}, headers)).data).toEqual(first.data);
    const again = { 'idempotency-key': randomUUID() };
    const body = ruleOn(brands, { webhook_url: HOOK });
    const fresh = await tracking();
    const rule = await alertsThrough(app).create(fresh, body, again);
    await loseReply(stack, again['idempotency-key']);
    expect((await alertsThrough(app).create(fresh, body, again)).data).toEqual(rule.data);
    expect((rule.data as { webhook_secret: string }).webhook_secret).toMatch(/^whsec_/);
  });
});

describe('issueWebhookSecret 404', () => {
  test('rejects a key of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const reply = await on(app).post(`${alertsOf(other)}/webhook-secret`, { key, body: {} });
    expect(reply.status).toBe(404);
    expect(await stack.eventStore.last(webhookSecretStream(other.workspaceId))).toBeNull();
  });
});

describe('issueWebhookSecret 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    expect((await alertsThrough(await crowded(stack)).issueSecret(key)).error.type).toBe('conflict');
  });
});

/** Returns the text of all rows of all tables, including the encrypted secrets of the vault. */
const everythingStored = async (): Promise<string> => {
  const tables = await stack.pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await stack.pool.query<{ text: string }>(`select t::text as text from ${name} t`);
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n');
};

describe('secrets', () => {
  test('are in no event, no table, no log line and no later reply', async () => {
    const key = await tracking();
    const path = `/${randomUUID()}`;
    const chat_webhook_url = `${receiver.url}${path}/${CHAT_SECRET}`;
    const headers = { 'idempotency-key': randomUUID() };
    const body = ruleOn(brands, { webhook_url: receiver.url + path, chat_webhook_url });
    const { data } = await alertsThrough(app).create(key, body, headers);
    const { id, webhook_secret: first } = data as { id: string; webhook_secret: string };
    const rotated = (await alertsThrough(app).issueSecret(key)).data as { webhook_secret: string };
    const answers = [
      await alertsThrough(app).change(key, id, {
        chat_webhook_url: `https://u:p@x.example/${CHAT_SECRET}`,
      }),
      await alertsThrough(app).change(key, id, { chat_webhook_url: `${chat_webhook_url}/gone` }),
      await alertsThrough(app).change(key, id, { name: 'x', chat_webhook_url }),
      await alertsThrough(app).test(key, id),
      await on(app).get(alertsOf(key), { key }),
      await alertsThrough(app).deliveries(key),
    ].map(({ body: text }) => text);
    expect(receivedAt(`${path}/${CHAT_SECRET}`)).toHaveLength(1);

    const db = openReadDatabase(stack.environment['DATABASE_URL'] ?? '');
    const head = await findHistoryHead(db, key.workspaceId);
    const history = await listHistory(db, key.workspaceId, {}, { limit: head?.sequence ?? 0 });
    await db[Symbol.asyncDispose]();
    expect(new Set(history.map(({ resource }) => resource.category))).toEqual(
      new Set(['workspace', 'apiKeys', 'tracking', 'alertRule', 'alertDelivery', 'webhookSecret']),
    );

    const stored = await everythingStored();
    expect(stored).toContain(id);
    expect(lines).toContain('testAlert');
    const everywhere = [lines, stored, JSON.stringify(history), ...answers];
    for (const secret of [CHAT_SECRET, first, rotated.webhook_secret]) {
      for (const place of everywhere) expect(place.includes(secret)).toBe(false);
    }
  });

  test('are not made by a rotation while the event store does not answer', async () => {
    const key = await tracking();
    await alertsThrough(app).issueSecret(key);
    const gone = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('gone'), { type: 'unavailable' }));
    const eventStore = { ...stack.eventStore, last: gone, newest: gone, load: gone, append: gone };
    expect((await alertsThrough(await stack.api({ eventStore })).issueSecret(key)).status).toBe(503);
    expect(await secretsOf(key)).toBe(1);
  });

  test('of a deleted rule are removed from the vault', async () => {
    const key = await tracking();
    const { id } = await created(key, { chat_webhook_url: `${receiver.url}/${CHAT_SECRET}` });
    const kept = async () =>
      (await stack.pool.query('select from vault.secret where owner = $1', [id])).rowCount;
    expect(await kept()).toBe(1);
    await alertsThrough(app).delete(key, id);
    expect(await kept()).toBe(0);
  });

  test('are required: without a vault a webhook is refused, and the error names the missing setting', async () => {
    const key = await tracking();
    const bare = await stack.api({ secretVault: null });
    const chat_webhook_url = `https://hooks.slack.com/services/${CHAT_SECRET}`;
    for (const channel of [{ webhook_url: HOOK }, { chat_webhook_url }]) {
      const reply = await alertsThrough(bare).create(key, ruleOn(brands, channel));
      expect(reply.status).toBe(500);
      expect(reply.error.message).toContain('MEMBER_VAULT_KEY');
    }
    expect((await alertsThrough(bare).create(key, ruleOn(brands))).status).toBe(201);
  });
});
