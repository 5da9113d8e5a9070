import { afterAll, beforeAll, expect, test } from 'vitest';
import type { QuietHours } from '#contracts/values/alerts.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';
import { PERIOD_GRACE_MS } from '#services/alerts/digests/period-end.ts';
import { until } from '../stack/wait-until.ts';
import { startAlertsProcess } from './alerts-process.ts';
import { type AlertsStack, openAlertsStack, type Rule, scanEvents } from './stack.ts';

const LIMIT_MS = 60_000;
/** Events are recorded now; the clock of the test ends their day. */
const tomorrow: Clock = {
  now: () => new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + PERIOD_GRACE_MS + 1_000),
};
const scanAt = (n: number): string => `2026-05-${String(n).padStart(2, '0')}T08:00:00.000Z`;

let stack: AlertsStack;
beforeAll(async () => {
  stack = await openAlertsStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Kind and number of items of each delivery. */
const sentBy = async (rule: Rule): Promise<readonly string[]> =>
  (await stack.queued(rule)).map(({ kind, payload }) => `${kind} of ${payload.items_total}`);

const dueOf = async ({ alert_id }: Rule): Promise<readonly Date[]> => {
  const { rows } = await stack.pool.query<{ next_attempt_at: Date }>(
    'select next_attempt_at from delivery.due where alert_id = $1 order by 1',
    [alert_id],
  );
  return rows.map(({ next_attempt_at }) => next_attempt_at);
};

test('an alert with fewer items of a brand in a scan than the threshold is not sent, and a digest counts all of its items', async () => {
  const [one, other] = [await stack.brand('threshold.example'), await stack.brand('elsewhere.example')];
  const rule = await stack.rule([one, other], { threshold: 3 });
  const daily = await stack.rule([one, other], { threshold: 3, cadence: 'daily' });
  const few = await stack.rule([other], { threshold: 3, cadence: 'daily' });
  {
    await using _ = stack.start();
    await stack.scan(scanEvents(one, scanAt(2), 2));
    await stack.scan(scanEvents(other, scanAt(2), 2));
    await stack.scan(scanEvents(one, scanAt(3), 3));
    await stack.matched();
  }
  expect(await sentBy(rule)).toEqual(['alert of 3']);
  await using _ = stack.start(tomorrow);
  await until('the digest', LIMIT_MS, async () => (await stack.queued(daily)).length > 0);
  expect(await sentBy(daily)).toEqual(['digest of 7']);
  expect(await sentBy(few)).toEqual([]);
});

test('an alert in quiet hours is due at their end, one outside them at once, and a restart changes neither', async () => {
  const brand = await stack.brand('quiet.example');
  const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
  const hours = (fromMs: number, toMs: number): QuietHours => ({
    from: clockTime(Date.now() + fromMs),
    to: clockTime(Date.now() + toMs),
    time_zone: 'UTC',
  });
  const now = await stack.rule([brand], { quiet_hours: hours(-HOUR_MS, 2 * HOUR_MS) });
  const later = await stack.rule([brand], { quiet_hours: hours(HOUR_MS, 2 * HOUR_MS) });
  {
    await using _ = stack.start();
    await stack.scan(scanEvents(brand, scanAt(4), 1));
    await stack.matched();
  }
  await stack.pool.query('drop schema alerting cascade');
  await using _ = stack.start();
  await stack.matched();
  const [due = new Date(), ...more] = await dueOf(now);
  expect(more).toEqual([]);
  expect(Math.abs(due.getTime() - Date.now() - 2 * HOUR_MS)).toBeLessThan(2 * MINUTE_MS);
  const [atOnce, ...others] = await dueOf(later);
  expect(others).toEqual([]);
  expect(atOnce?.getTime()).toBeLessThanOrEqual(Date.now());
});

test('alerts above the maximum of the day are one digest after it, also when the process is killed and when it starts over', async () => {
  const brand = await stack.brand('capped.example');
  const rule = await stack.rule([brand], { max_per_day: 2 });
  for (let scan = 5; scan <= 9; scan += 1) {
    const running = startAlertsProcess(stack, 256);
    await stack.scan(scanEvents(brand, scanAt(scan), scan));
    // It is killed in the middle of the second scan and of every further one.
    if (scan === 5) await stack.matched();
    else await until('the process to follow the log', LIMIT_MS, async () => running.output() !== '');
    await running.kill();
  }
  {
    await using _ = stack.start();
    await stack.matched();
  }
  expect(await sentBy(rule)).toEqual(['alert of 5', 'alert of 6']);
  for (let again = 0; again < 2; again += 1) {
    {
      await using _ = stack.start(tomorrow);
      await stack.matched();
      await until('the end of the day', LIMIT_MS, async () => {
        const { rowCount } = await stack.pool.query('select from alerting.collected');
        return rowCount === 0;
      });
    }
    expect(await sentBy(rule)).toEqual(['alert of 5', 'alert of 6', 'digest of 24']);
    await stack.pool.query('drop schema alerting cascade');
  }
  const [, , digest] = await stack.queued(rule);
  expect(digest?.payload.alert.cadence).toBe('instant');
});
