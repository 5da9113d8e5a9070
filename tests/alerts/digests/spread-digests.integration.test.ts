import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';
import { DIGEST_WAIT_MS } from '#services/alerts/digests/digest-pace.ts';
import { PERIOD_GRACE_MS } from '#services/alerts/digests/period-end.ts';
import { fillDigests } from './fill-digests.ts';
import { type AlertsStack, openAlertsStack, scanEvents } from '../stack.ts';

/** Digests of a page, and more than two pages of them. */
const PAGE = 50;
const DIGESTS = 3 * PAGE;
const CHANNELS = 2;
/** Looks at the clock of the test after which a round of the process has ended. */
const LOOKS = 8;

let stack: AlertsStack;
beforeEach(async () => {
  stack = await openAlertsStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

/** The clock stands still; `looks` counts how often it was read. */
const clockAfterMidnight = (sinceMidnightMs: number): Clock & { set(ms: number): void; looks(): number } => {
  const midnightMs = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  let sinceMs = sinceMidnightMs;
  let looks = 0;
  return {
    now: () => {
      looks += 1;
      return new Date(midnightMs + sinceMs);
    },
    set: (ms) => {
      sinceMs = ms;
      looks = 0;
    },
    looks: () => looks,
  };
};

const sentSoFar = async (): Promise<{ readonly digests: number; readonly deliveries: number }> => {
  const { rows } = await stack.pool.query<{ digests: number; deliveries: number }>(
    `select count(distinct alert_id)::int as digests, count(*)::int as deliveries
     from delivery.delivery where kind = 'digest'`,
  );
  return rows[0] ?? { digests: 0, deliveries: 0 };
};
const digestsSent = async (): Promise<number> => (await sentSoFar()).digests;

test('of many digests a page is sent at once, and the others wait until their time, also after a restart', async () => {
  await fillDigests(stack, { digests: DIGESTS, items: 1, day: utcDateOfMs(Date.now()) });
  const clock = clockAfterMidnight(PERIOD_GRACE_MS + 1_000);
  const waits = async (digests: number): Promise<void> => {
    await expect.poll(digestsSent).toBe(digests);
    clock.set(PERIOD_GRACE_MS + 1_000);
    await expect.poll(() => clock.looks()).toBeGreaterThan(LOOKS);
    expect(await digestsSent()).toBe(digests);
  };
  {
    await using _ = stack.start(clock);
    await waits(PAGE);
  }
  await using _ = stack.start(clock);
  await waits(2 * PAGE);
  clock.set(DIGEST_WAIT_MS);
  await expect.poll(sentSoFar).toEqual({ digests: DIGESTS, deliveries: DIGESTS * CHANNELS });
});

test('digests that wait hold up no instant alert', async () => {
  await fillDigests(stack, { digests: DIGESTS, items: 1, day: utcDateOfMs(Date.now()) });
  const brand = await stack.brand('instant.example');
  const rule = await stack.rule([brand]);
  await using _ = stack.start(clockAfterMidnight(PERIOD_GRACE_MS + 1_000));
  await expect.poll(digestsSent).toBe(PAGE);
  await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
  await expect.poll(() => stack.queued(rule)).toHaveLength(1);
  expect(await digestsSent()).toBe(PAGE);
});

test('many digests of a period that ended 15 minutes ago are sent without a pause', async () => {
  await fillDigests(stack, { digests: DIGESTS, items: 1, day: utcDateOfMs(Date.now()) });
  await using _ = stack.start(clockAfterMidnight(DIGEST_WAIT_MS));
  await expect.poll(sentSoFar).toEqual({ digests: DIGESTS, deliveries: DIGESTS * CHANNELS });
});
