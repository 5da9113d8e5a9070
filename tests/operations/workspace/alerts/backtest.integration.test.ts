import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AlertRuleEvent,
  type AlertRuleSettings,
  alertRuleStream,
} from '#contracts/events/workspace/alert-rule.ts';
import { type AlertBacktest, BACKTEST_EXAMPLES_MAX } from '#contracts/resources/workspace/alert-backtest.ts';
import { AlertCadence, AlertTrigger, type QuietHours } from '#contracts/values/alerts.ts';
import { DAY_MS, HOUR_MS, utcDate } from '#contracts/values/time.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Clock } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';
import { on } from '#tests/dsl/api.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { alertsOf, deliveriesOf, HOOK, ruleOn } from '#tests/operations/fixtures/alerting.ts';
import { matched, startAlerts } from '#tests/operations/fixtures/running-alerts.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { FEATURES } from '#tests/reference/features.ts';
import { place } from '#tests/reference/service/placement.ts';
import { at, dateOf, scan, shown } from '#tests/reference/sketch.ts';
import type { World } from '#tests/reference/world.ts';
import { worldArbitrary } from '#tests/reference/worlds.ts';
import { until } from '#tests/stack/wait-until.ts';

/** BACKTEST_WORLDS=100 is the long form. */
const { BACKTEST_WORLDS, BACKTEST_SEED } = readSettings(
  z.object({
    BACKTEST_WORLDS: z.coerce.number().int().positive().default(4),
    BACKTEST_SEED: z.coerce.number().int().default(20_261_129),
  }),
);
const LIMIT_MS = 120_000 + 30_000 * BACKTEST_WORLDS;
const WAIT_MS = 60_000;

let stack: ApiStack;
let app: FastifyInstance;
beforeAll(async () => {
  stack = await openApiStack();
  app = await stack.api({ requestsPerMinute: 1_000_000 });
}, LIMIT_MS);
afterAll(() => stack[Symbol.asyncDispose]());

/** A world of news: an ad that begins on a page of another account, and one that is gone from two scans. */
const NEWS: World = {
  brands: ['b1.example'],
  observations: [
    scan('s1', at(0), [shown('a1'), shown('a2')], { pages: ['P1', 'P2'] }),
    scan(
      's2',
      at(1),
      [shown('a1'), shown('a3', { page: 'P2', startedOn: dateOf(1) }), shown('a5', { startedOn: dateOf(1) })],
      {
        pages: ['P1', 'P2'],
      },
    ),
    scan('s3', at(2), [shown('a1'), shown('a4', { startedOn: dateOf(2) })], { pages: ['P1', 'P2'] }),
  ],
};

type Limits = Pick<AlertRuleSettings, 'cadence' | 'threshold' | 'quiet_hours' | 'max_per_day'>;

const clockTimeIn = (ms: number): string => new Date(Date.now() + ms).toISOString().slice(11, 16);
const quietHours = (): QuietHours => ({
  from: clockTimeIn(-HOUR_MS),
  to: clockTimeIn(HOUR_MS),
  time_zone: 'UTC',
});
/** Each cadence without a limit, and each limit. */
const limitsFor = (trigger: AlertTrigger): readonly Limits[] => [
  ...AlertCadence.options.map((cadence) => ({ cadence })),
  { cadence: 'instant', max_per_day: 1 },
  { cadence: 'instant', max_per_day: 2, quiet_hours: quietHours() },
  { cadence: 'daily', threshold: 2 },
  ...(trigger === 'activity' ? [] : [{ cadence: 'instant', threshold: 2 } as const]),
];

const backtestOf = (key: Key): string => `${alertsOf(key)}/backtest`;

type Existing = { readonly alert_id: string; readonly settings: AlertRuleSettings };

/** Appended without a command, because the brands of a world are not there yet. */
const ruleFromTheStart = async (
  { workspaceId, memberId }: Key,
  settings: AlertRuleSettings,
): Promise<Existing> => {
  const alert_id = randomUUID();
  const created = {
    workspace_id: workspaceId,
    alert_id,
    member_id: memberId,
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const event: AlertRuleEvent = { type: 'AlertRuleCreated', data: { ...created, ...settings } };
  await stack.eventStore.append(alertRuleStream(workspaceId, alert_id), -1n, [event], METADATA, () =>
    randomUUID(),
  );
  return { alert_id, settings };
};

/** `due`: when it is sent, which is later than its making in quiet hours. */
type Sent = { readonly payload: AlertPayload; readonly due: string };

const sentBy = async ({ alert_id }: Existing): Promise<readonly Sent[]> => {
  const { rows } = await stack.pool.query<{ payload: Buffer; next_attempt_at: Date; waits: boolean }>(
    `select payload, next_attempt_at, next_attempt_at > queued_at as waits
     from delivery.delivery d join delivery.due using (delivery_id) where d.alert_id = $1
     order by (select min(seq) from delivery.journal j where j.delivery_id = d.delivery_id)`,
    [alert_id],
  );
  return rows.map(({ payload: text, next_attempt_at, waits }) => {
    const payload = JSON.parse(text.toString()) as AlertPayload;
    return { payload, due: waits ? next_attempt_at.toISOString() : payload.created_at };
  });
};

const daysOf = (sent: readonly Sent[]): AlertBacktest['days'] =>
  [...Map.groupBy(sent, ({ due }) => utcDate(due))].map(([date, ofDay]) => ({
    date,
    deliveries: ofDay.length,
    items: ofDay.reduce((sum, { payload }) => sum + payload.items_total, 0),
  }));

/** The newest delivery of each rule follows from the events. */
const expectReasons = async (rules: ReadonlyMap<Existing, Key>): Promise<void> => {
  while ((await publishEvents(stack.pool, stack.eventStore)).entries > 0);
  await stack.projected(await stack.eventStore.head());
  for (const [{ alert_id, settings }, key] of rules) {
    const { data: deliveries } = await on(app).get(`${deliveriesOf(key)}?alert_id=${alert_id}&limit=1`, {
      key,
    });
    const [delivery] = deliveries as unknown as readonly { readonly id: string }[];
    if (delivery === undefined) continue;
    const { status, data, error } = await on(app).get(`${deliveriesOf(key)}/${delivery.id}/proof`, { key });
    const about = JSON.stringify([settings, error, data]);
    expect(status, about).toBe(200);
    const { faults, reasons } = data as { faults: readonly string[]; reasons: readonly unknown[] };
    expect(faults, about).toEqual([]);
    expect(reasons.length, about).toBeGreaterThan(0);
  }
};

describe('backtestAlert 200', () => {
  it(
    'tells what a rule that was there all the time has sent, for each trigger and cadence in generated worlds',
    async () => {
      const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
      await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
      const generated = fc.sample(worldArbitrary(FEATURES), {
        numRuns: BACKTEST_WORLDS,
        seed: BACKTEST_SEED,
      });
      const worlds = [NEWS, ...generated];
      const rules = new Map<Existing, Key>();
      {
        await using _ = await startAlerts(stack);
        for (const [index, world] of worlds.entries()) {
          const key = await stack.key();
          const placement = place(world, index + 1);
          const brand_ids = world.brands.map(placement.brandIdOf);
          for (const trigger of AlertTrigger.options) {
            for (const limits of limitsFor(trigger)) {
              const settings = {
                name: 'Launches',
                trigger,
                brand_ids,
                ...limits,
                email: false,
                webhook_url: HOOK,
                chat: null,
                enabled: true,
              };
              rules.set(await ruleFromTheStart(key, settings), key);
            }
          }
          const tracked = `/v1/workspaces/${key.workspaceId}/tracked-brands`;
          const track = async (): Promise<void> => {
            for (const brand_id of brand_ids) await on(app).post(tracked, { key, body: { brand_id } });
          };
          const messages = world.observations.flatMap(placement.messagesOf);
          for (const [step, message] of messages.entries()) {
            await intake.submit(message);
            await matched(stack);
            if (world === NEWS) continue;
            // One brand is not tracked for a while.
            if (step === Math.floor(messages.length / 2)) {
              await track();
              await on(app).delete(`${tracked}/${brand_ids[0]}`, { key, body: {} });
            }
            if (step === Math.floor((messages.length * 3) / 4)) await track();
          }
          await track();
        }
      }
      // Days and weeks have ended.
      const later: Clock = { now: () => new Date(Date.now() + 8 * DAY_MS) };
      await using _ = await startAlerts(stack, later);
      await until('the digests', WAIT_MS, async () => {
        const { rows } = await stack.pool.query(`select from alerting.collected where cadence <> 'instant'`);
        return rows.length === 0;
      });
      const testing = await stack.api({ requestsPerMinute: 1_000_000, clock: later });
      const sentBySettings = new Map<string, number>();
      for (const [rule, key] of rules) {
        const { chat: _chat, ...settings } = rule.settings;
        const sent = await sentBy(rule);
        const reply = await on(testing).post(backtestOf(key), { key, body: settings });
        expect(reply.status, JSON.stringify(reply)).toBe(200);
        const told = reply.data as AlertBacktest;
        const about = JSON.stringify(settings);
        expect(told.deliveries_total, about).toBe(sent.length);
        expect(told.days, about).toEqual(daysOf(sent));
        expect(told.examples, about).toEqual(
          sent
            .slice(-BACKTEST_EXAMPLES_MAX)
            .toReversed()
            .map(({ payload: { kind, created_at, items_total, items } }) => ({
              kind,
              at: created_at,
              items_total,
              items: items.slice(0, 3),
            })),
        );
        // Small worlds have scans with several new ads, and few with several of other things.
        const { threshold, max_per_day, trigger } = settings;
        if (threshold && trigger !== 'new_ads') continue;
        const name = [trigger, settings.cadence, threshold, max_per_day].join(' ');
        sentBySettings.set(name, (sentBySettings.get(name) ?? 0) + sent.length);
      }
      expect([...sentBySettings].filter(([, count]) => count === 0)).toEqual([]);
      await expectReasons(rules);
    },
    LIMIT_MS,
  );
});

describe('backtestAlert 200, for a body', () => {
  it('of two channels counts a delivery on each, and appends and sends nothing', async () => {
    const [brand] = await stack.seed(['backtested']);
    const key = await stack.key();
    const body = ruleOn(brand ? [brand] : [], { webhook_url: HOOK, trigger: 'page_changes' });
    await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: brand?.id },
    });
    const before = await stack.eventStore.head();
    const { status, data } = await on(app).post(backtestOf(key), { key, body });
    expect(status).toBe(200);
    const { deliveries_total, days, examples, events } = data as AlertBacktest;
    expect(deliveries_total).toBe(2 * examples.length);
    expect(days).toMatchObject([{ date: utcDate(new Date().toISOString()), deliveries: deliveries_total }]);
    expect(deliveries_total).toBeGreaterThan(0);
    expect(events.considered).toBeGreaterThan(0);
    expect(events).toMatchObject({ older: 0, unread: 0 });
    expect(await stack.eventStore.head()).toBe(before);
    const { rows } = await stack.pool.query('select from delivery.delivery where workspace_id = $1', [
      key.workspaceId,
    ]);
    expect(rows).toEqual([]);
  });

  it('counts events that are older than the days, and sends nothing on them', async () => {
    const [brand] = await stack.seed(['long-ago']);
    const key = await stack.key();
    const later = await stack.api({ clock: { now: () => new Date(Date.now() + 91 * DAY_MS) } });
    await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: brand?.id },
    });
    const body = ruleOn(brand ? [brand] : [], { trigger: 'page_changes' });
    const { data } = await on(later).post(backtestOf(key), { key, body });
    expect(data).toMatchObject({ deliveries_total: 0, days: [], examples: [], events: { considered: 0 } });
    expect((data as AlertBacktest).events.older).toBeGreaterThan(0);
  });
});

describe('backtestAlert 400', () => {
  it.each([
    ['a brand that is not tracked', { brand_ids: [randomUUID()] }, 'brand_ids.0', 'not_tracked'],
    [
      'an address in a private network',
      { webhook_url: 'https://127.0.0.1/' },
      'webhook_url',
      'target_refused',
    ],
    ['an unknown trigger', { trigger: 'weather' }, 'trigger', 'invalid_value'],
  ])('refuses %s, as for a new rule', async (_, more, path, code) => {
    const [brand] = await stack.seed([`refused-${randomUUID()}`]);
    const key = await stack.key();
    await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: brand?.id },
    });
    const body = ruleOn(brand ? [brand] : [], more);
    for (const address of [backtestOf(key), alertsOf(key)]) {
      const reply = await on(app).post(address, { key, body });
      expect(reply).toMatchObject({ status: 400, error: { details: [{ path, code }] } });
    }
  });
});

describe('backtestAlert 404', () => {
  it('does not know another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const reply = await on(app).post(backtestOf(other), { key, body: ruleOn([]) });
    expect(reply.status).toBe(404);
  });
});

describe('backtestAlert 409', () => {
  it('refuses an idempotency key that was used for another body', async () => {
    const [brand] = await stack.seed(['tested-twice']);
    const key = await stack.key();
    await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: brand?.id },
    });
    const headers = { 'idempotency-key': randomUUID() };
    const statuses = [];
    for (const trigger of ['new_ads', 'new_ads', 'stopped_ads']) {
      const body = ruleOn(brand ? [brand] : [], { trigger });
      statuses.push((await on(app).post(backtestOf(key), { key, body, headers })).status);
    }
    expect(statuses).toEqual([200, 200, 409]);
  });
});
