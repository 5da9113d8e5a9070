import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { until } from '../stack/wait-until.ts';
import { type AlertsStack, openAlertsStack, type Queued, type Rule, scanEvents } from './stack.ts';

const LIMIT_MS = 60_000;

let stack: AlertsStack;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openAlertsStack());
});
afterAll(() => resources.disposeAsync());

const idsOf = (queued: readonly Queued[]): readonly string[] => queued.map(({ delivery_id }) => delivery_id);
const totalsOf = (queued: readonly Queued[]): readonly number[] =>
  queued.map(({ payload }) => payload.items_total);

describe('instant alerts', () => {
  test('queues one delivery per channel and scan, with the documented payload, and notifies the delivery queue', async () => {
    await using _ = stack.start();
    const brand = await stack.brand('instant.example');
    const rule = await stack.rule([brand], { email: true });
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 3));
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 120));
    await stack.scan(scanEvents(brand, '2026-05-04T08:00:00.000Z', 0));
    await stack.matched();
    const queued = await stack.queued(rule);
    expect(queued.map(({ channel, kind, payload }) => [channel, kind, payload.items_total])).toEqual([
      ['email', 'alert', 3],
      ['webhook', 'alert', 3],
      ['email', 'alert', 120],
      ['webhook', 'alert', 120],
    ]);
    for (const { delivery_id, payload } of queued) {
      expect(AlertPayload.parse(payload).id).toBe(delivery_id);
      expect(payload.items).toHaveLength(Math.min(100, payload.items_total));
    }
    expect(queued[1]?.target).toBe('{"channel":"webhook","url":"https://hooks.shop.example/in"}');
    expect(stack.published).toEqual(expect.arrayContaining([...idsOf(queued)]));
  });

  test('derive the same delivery for a scan when matching is interrupted at any event', async () => {
    const [one, other] = [await stack.brand('halves.example'), await stack.brand('whole.example')];
    const rule = await stack.rule([one]);
    const events = scanEvents(one, '2026-05-02T08:00:00.000Z', 130);
    for (const [from, to] of [
      [0, 1],
      [1, 90],
      [90, 125],
      [125, events.length],
    ] as const) {
      await using _ = stack.start();
      await stack.scan(events.slice(from, to));
      await stack.matched();
    }
    const [before, ...more] = await stack.queued(rule);
    expect(more).toEqual([]);
    expect(before?.payload.items_total).toBe(130);
    expect(before?.payload.items.map(({ ad_id }) => ad_id)).toEqual(
      events.slice(0, 100).map(({ data }) => ('ad_id' in data ? data.ad_id : '')),
    );
    // A replay of the whole log in one batch derives the same delivery.
    await stack.pool.query('drop schema alerting cascade');
    for (const table of ['delivery', 'due', 'journal'])
      await stack.pool.query(`delete from delivery.${table} where delivery_id = $1`, [before?.delivery_id]);
    await using _ = stack.start();
    await stack.scan(scanEvents(other, '2026-05-02T08:00:00.000Z', 0));
    await stack.matched();
    const [after] = await stack.queued(rule);
    expect(after).toEqual(before);
  });

  test('fire on events recorded after the rule was created or enabled, for its brands and trigger', async () => {
    await using _ = stack.start();
    const [brand, other] = [await stack.brand('after.example'), await stack.brand('beside.example')];
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
    const [rule, stops, off] = [
      await stack.rule([brand]),
      await stack.rule([brand], { trigger: 'stopped_ads' }),
      await stack.rule([brand], { enabled: false }),
    ];
    await stack.scan(scanEvents(other, '2026-05-03T08:00:00.000Z', 1));
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 2));
    await stack.change(off, { enabled: true });
    await stack.scan(scanEvents(brand, '2026-05-04T08:00:00.000Z', 4));
    await stack.matched();
    expect(totalsOf(await stack.queued(rule))).toEqual([2, 4]);
    expect(await stack.queued(stops)).toEqual([]);
    expect(totalsOf(await stack.queued(off))).toEqual([4]);
  });
});

describe('an untracked brand', () => {
  test('fires no rule until it is tracked again, while other brands of the rule still fire', async () => {
    const fresh = resources.use(await openAlertsStack());
    const [brand, other] = [await fresh.brand('left.example'), await fresh.brand('kept.example')];
    for (const id of [brand, other]) await fresh.track(id);
    const rules = [await fresh.rule([brand, other]), await fresh.rule([brand, other], { cadence: 'daily' })];
    const [rule, daily] = rules as [Rule, Rule];
    const scans = async (day: number, launches: number): Promise<void> => {
      for (const [id, count] of [
        [brand, launches],
        [other, launches * 10],
      ] as const) {
        await fresh.scan(scanEvents(id, `2026-05-0${day}T08:00:00.000Z`, count));
      }
      await fresh.matched();
    };
    {
      await using _ = fresh.start();
      await scans(2, 1);
      await fresh.untrack(brand);
      await scans(3, 2);
    }
    expect(totalsOf(await fresh.queued(rule))).toEqual([1, 10, 20]);
    {
      await using _ = fresh.start();
      await scans(4, 3);
      await fresh.track(brand);
      await scans(5, 4);
      expect(totalsOf(await fresh.queued(rule))).toEqual([1, 10, 20, 30, 4, 40]);
    }
    const { rows } = await fresh.pool.query(
      'select items_total from alerting.collected where alert_id = $1',
      [daily.alert_id],
    );
    expect(rows).toEqual([{ items_total: 1 + 10 + 20 + 30 + 4 + 40 }]);
  });
});

describe('activity alerts', () => {
  const ramp = {
    id: '6f0c1c4e-3b7a-8f0e-8a58-5d9a2f0d7b11',
    kind: 'ramp',
    observed_at: '2026-05-02T08:00:00.000Z',
    summary: '40 active ads, up from 20.',
  };

  test('deliver each signal once, after the read model has passed the scan, even when the day is scanned again', async () => {
    const fresh = resources.use(await openAlertsStack());
    let isShown = false;
    const source = {
      shown: async () => isShown,
      list: async (_: string, date: string) => (date === '2026-05-02' ? [ramp] : []),
    };
    const brand = await fresh.brand('ramp.example');
    const [rule, daily] = [
      await fresh.rule([brand], { trigger: 'activity' }),
      await fresh.rule([brand], { trigger: 'activity', cadence: 'daily' }),
    ];
    {
      await using _ = fresh.start(undefined, source);
      await fresh.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
      await fresh.matched();
      expect(await fresh.queued(rule)).toEqual([]);
    }
    isShown = true;
    for (const hour of ['09', '10']) {
      await using _ = fresh.start(undefined, source);
      await fresh.scan(scanEvents(brand, `2026-05-02T${hour}:00:00.000Z`, 1));
      await fresh.matched();
      await until('every signal check done', LIMIT_MS, async () => {
        const { rows } = await fresh.pool.query('select from alerting.signal_look');
        return rows.length === 0;
      });
    }
    const queued = await fresh.queued(rule);
    expect(queued).toHaveLength(1);
    expect(AlertPayload.parse(queued[0]?.payload).items).toMatchObject([
      { id: ramp.id, type: 'activity', signal: 'ramp', title: 'ramp: 40 active ads, up from 20.' },
    ]);
    const { rows } = await fresh.pool.query(
      'select items_total from alerting.collected where alert_id = $1',
      [daily.alert_id],
    );
    expect(rows).toEqual([{ items_total: 1 }]);
  });
});

describe('pending deliveries of a rule', () => {
  test('are cancelled when the rule is disabled, retargeted when its address changes, and removed when it is deleted', async () => {
    await using _ = stack.start();
    const brand = await stack.brand('waits.example');
    const [off, moved, gone, silent] = [
      await stack.rule([brand]),
      await stack.rule([brand]),
      await stack.rule([brand]),
      await stack.rule([brand], { email: true }),
    ];
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
    await stack.change(off, { enabled: false });
    await stack.change(moved, { webhook_url: 'https://hooks.shop.example/elsewhere' });
    await stack.change(silent, { webhook_url: null });
    await stack.delete(gone);
    await stack.matched();
    const statusesOf = async (rule: typeof off) =>
      (await stack.queued(rule)).map(({ channel, status }) => `${channel} ${status}`);
    expect(await statusesOf(off)).toEqual(['webhook cancelled']);
    expect(await statusesOf(silent)).toEqual(['email queued', 'webhook cancelled']);
    expect(await statusesOf(gone)).toEqual([]);
    const [there] = await stack.queued(moved);
    expect(there?.target).toContain('/elsewhere');
    await stack.change(off, { enabled: true });
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 1));
    await stack.matched();
    expect(await statusesOf(off)).toEqual(['webhook cancelled', 'webhook queued']);
  });
});

describe('the failure history of a rule', () => {
  const fail = async ({ workspace_id, alert_id }: Rule): Promise<void> => {
    await stack.pool.query(
      `insert into delivery.failing (alert_id, channel, workspace_id, since, last_at)
       values ($1, 'webhook', $2, now() - interval '4 days', now())`,
      [alert_id, workspace_id],
    );
  };
  const isFailing = async ({ alert_id }: Rule): Promise<boolean> => {
    const { rows } = await stack.pool.query('select from delivery.failing where alert_id = $1', [alert_id]);
    return rows.length > 0;
  };

  test('is reset when its address changes or it is enabled again', async () => {
    await using _ = stack.start();
    const brand = await stack.brand('mended.example');
    const [moved, renamed] = [await stack.rule([brand]), await stack.rule([brand])];
    const [again, suspended] = [await stack.rule([brand], { enabled: false }), await stack.rule([brand])];
    const all = [moved, renamed, again, suspended];
    await stack.matched();
    for (const rule of all) await fail(rule);
    await stack.change(moved, { webhook_url: 'https://hooks.shop.example/mended' });
    await stack.change(renamed, { name: 'Launches and more', cadence: 'daily' });
    await stack.change(again, { enabled: true });
    await stack.suspend(suspended);
    await stack.matched();
    // The suspension keeps the history until its notice is queued, because the notice is built from it.
    expect(await Promise.all(all.map(isFailing))).toEqual([false, true, false, true]);
    await stack.change(suspended, { enabled: true });
    await stack.matched();
    expect(await isFailing(suspended)).toBe(false);
  });
});

describe('no alert fires twice', () => {
  test('after the alert and delivery tables are lost: finished deliveries are found in the log', async () => {
    const fresh = resources.use(await openAlertsStack());
    const brand = await fresh.brand('lost.example');
    const rule = await fresh.rule([brand]);
    const deleted = await fresh.rule([brand]);
    {
      await using _ = fresh.start();
      for (const day of [2, 3, 4]) await fresh.scan(scanEvents(brand, `2026-05-0${day}T08:00:00.000Z`, day));
      await fresh.matched();
    }
    const before = await fresh.queued(rule);
    expect(totalsOf(before)).toEqual([2, 3, 4]);
    await fresh.delete(deleted);
    // The first was delivered, the second cancelled, the third is pending.
    const [first, second, third] = idsOf(before);
    await fresh.pool.query(
      `insert into delivery.journal (delivery_id, type, at, attempt, outcome, duration_ms)
       values ($1, 'DeliveryAttempted', now(), 1, 'delivered', 5)`,
      [first],
    );
    await fresh.pool.query(
      `insert into delivery.journal (delivery_id, type, at, attempt, reason)
       values ($1, 'DeliveryCancelled', now(), 0, 'An operator said so.')`,
      [second],
    );
    while ((await publishEvents(fresh.pool, fresh.eventStore)).entries > 0);
    await fresh.pool.query('drop schema alerting cascade');
    await fresh.pool.query('drop schema delivery cascade');
    {
      await using _ = fresh.start();
      await fresh.matched();
      const after = await fresh.queued(rule);
      expect(idsOf(after)).toEqual([third]);
      expect(after[0]?.payload).toEqual(before[2]?.payload);
      expect(await fresh.queued(deleted)).toEqual([]);
      await fresh.scan(scanEvents(brand, '2026-05-05T08:00:00.000Z', 5));
      await fresh.matched();
      expect(totalsOf(await fresh.queued(rule))).toEqual([4, 5]);
    }
  });

  test('with two processes: one matches, and the other takes over when it stops', async () => {
    const brand = await stack.brand('standby.example');
    const rule = await stack.rule([brand]);
    const first = stack.start();
    await stack.matched();
    await using _ = stack.start();
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
    await stack.matched();
    await first[Symbol.asyncDispose]();
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 2));
    await stack.matched();
    expect(totalsOf(await stack.queued(rule))).toEqual([1, 2]);
  });
});
