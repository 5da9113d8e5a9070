import { expect, test } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import { createDigestPace, DIGEST_WAIT_MS } from '#services/alerts/digests/digest-pace.ts';

const PAGE = 50;
const DAY = '2026-05-03';
const PERIOD_END_MS = Date.parse(DAY);

/** Starts `sinceEndMs` after the end of the period. Returns when each page began. */
const sendAll = async (due: number, sinceEndMs: number): Promise<readonly number[]> => {
  let nowMs = PERIOD_END_MS + sinceEndMs;
  const pace = createDigestPace({ now: () => new Date(nowMs) });
  const begun: number[] = [];
  for (let left = due; left > 0; left -= PAGE) {
    nowMs += Math.ceil(pace.waitMs());
    begun.push(nowMs - PERIOD_END_MS);
    const page = { digests: Math.min(PAGE, left), periodEndMs: PERIOD_END_MS, day: DAY };
    await pace.begin(page, async () => due);
  }
  return begun;
};

test('digests that fit into one page are sent at once', async () => {
  expect(await sendAll(PAGE, 30 * SECOND_MS)).toEqual([30 * SECOND_MS]);
});

test('a thousand digests are sent within twenty seconds', async () => {
  const begun = await sendAll(1_000, 30 * SECOND_MS);
  expect(begun).toHaveLength(20);
  expect(begun.at(-1)).toBeLessThanOrEqual(50 * SECOND_MS);
});

test('100,000 digests are spread evenly, and end 15 minutes after their period', async () => {
  const begun = await sendAll(100_000, 30 * SECOND_MS);
  const last = begun.at(-1) ?? 0;
  expect(last).toBeLessThanOrEqual(DIGEST_WAIT_MS);
  expect(last).toBeGreaterThan(DIGEST_WAIT_MS - 5 * SECOND_MS);
  const ofMinute = Map.groupBy(begun, (at) => Math.floor((at - 30 * SECOND_MS) / MINUTE_MS));
  const counts = [...ofMinute.values()].slice(0, 14).map(({ length }) => length);
  expect(Math.max(...counts) / Math.min(...counts)).toBeLessThan(1.05);
});

test('digests that are left after a restart are spread over the time that is left', async () => {
  const last = (await sendAll(90_000, 10 * MINUTE_MS)).at(-1) ?? 0;
  expect(last).toBeLessThanOrEqual(DIGEST_WAIT_MS);
  expect(last).toBeGreaterThan(DIGEST_WAIT_MS - 5 * SECOND_MS);
});

test('digests later than the spread have no pause', async () => {
  expect(new Set(await sendAll(100_000, DIGEST_WAIT_MS))).toEqual(new Set([DIGEST_WAIT_MS]));
});

test('a clock that is set back does not prolong a pause', async () => {
  let nowMs = PERIOD_END_MS;
  const pace = createDigestPace({ now: () => new Date(nowMs) });
  await pace.begin({ digests: PAGE, periodEndMs: PERIOD_END_MS, day: DAY }, async () => 10 * PAGE);
  expect(pace.waitMs()).toBeGreaterThan(0);
  nowMs -= 60 * MINUTE_MS;
  expect(pace.waitMs()).toBe(0);
});
