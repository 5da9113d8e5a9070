import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { AlertPayload, PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import type { Clock } from '#platform/clock.ts';
import { PERIOD_GRACE_MS, PERIOD_WAIT_MS, waitForPeriodEnd } from '#services/alerts/digests/period-end.ts';
import { proxied } from '../../faults/fault-proxy.ts';
import { until } from '../../stack/wait-until.ts';
import { type AlertsStack, openAlertsStack, type Queued, type Rule, scanEvents } from '../stack.ts';

const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;

/** Each test has its own log, because the log clock only moves forward. */
let stack: AlertsStack;
beforeEach(async () => {
  stack = await openAlertsStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

/** Events are recorded today; the clock of the test decides when a period has ended. */
const today = new Date().toISOString().slice(0, 10);
/** Shortly after the next midnight: the day of the test run is over. */
const tomorrow: Clock = {
  now: () => new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + PERIOD_GRACE_MS + 1_000),
};
const nextWeek: Clock = { now: () => new Date(tomorrow.now().getTime() + 7 * DAY_MS) };

const totalsOf = (queued: readonly Queued[]): readonly number[] =>
  queued.map(({ payload }) => payload.items_total);
const digestOf = async (rule: Rule, channels = 1): Promise<readonly Queued[]> => {
  await until('the digest', LIMIT_MS, async () => (await stack.queued(rule)).length >= channels);
  return stack.queued(rule);
};
/** By default the clock stays within the day. */
const matchAll = async (clock?: Clock): Promise<void> => {
  await using _ = stack.start(clock);
  await stack.matched();
};

test('a digest is made once when its period has ended, from all its items, and an empty period makes none', async () => {
  const brand = await stack.brand('digest.example');
  const [daily, weekly, quiet] = [
    await stack.rule([brand], { cadence: 'daily' }),
    await stack.rule([brand], { cadence: 'weekly' }),
    await stack.rule([brand], { cadence: 'daily', trigger: 'stopped_ads' }),
  ];
  {
    await using _ = stack.start();
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 2));
    await stack.matched();
  }
  {
    await using _ = stack.start();
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 3));
    await stack.matched();
    expect(await stack.queued(daily)).toEqual([]);
  }
  for (let again = 0; again < 2; again += 1) {
    await using _ = stack.start(tomorrow);
    await until('the digest', LIMIT_MS, async () => (await stack.queued(daily)).length > 0);
    const [digest, ...more] = await stack.queued(daily);
    expect(more).toEqual([]);
    expect(digest?.payload).toMatchObject({
      type: 'alert.digest',
      kind: 'digest',
      items_total: 5,
      period: { from: today, to: today },
      created_at: new Date(Date.parse(today) + DAY_MS).toISOString(),
    });
  }
  await using _ = stack.start(nextWeek);
  await until('the digest of the week', LIMIT_MS, async () => (await stack.queued(weekly)).length > 0);
  const [ofWeek] = await stack.queued(weekly);
  expect(ofWeek?.payload.items_total).toBe(5);
  const { from = '', to = '' } = ofWeek?.payload.period ?? {};
  expect(new Date(from).getUTCDay(), 'a Monday').toBe(1);
  expect(Date.parse(to) - Date.parse(from)).toBe(6 * DAY_MS);
  expect(from <= today && today <= to).toBe(true);
  expect(await stack.queued(quiet)).toEqual([]);
  expect(await stack.queued(daily)).toHaveLength(1);
});

test('a digest holds the first hundred items in order and counts all of them, across restarts, on each channel', async () => {
  const brand = await stack.brand('bulk.example');
  const chat = { fingerprint: 'a'.repeat(64), host: 'chat.example' };
  const rule = await stack.rule([brand], { cadence: 'daily', email: true, chat });
  const scans = [2, 3, 4].map((day) => scanEvents(brand, `2026-05-0${day}T08:00:00.000Z`, 70));
  for (const events of scans) {
    // The process stops in the middle of each scan.
    await stack.scan(events.slice(0, 40));
    await matchAll();
    await stack.scan(events.slice(40));
    await matchAll();
  }
  expect(await stack.queued(rule)).toEqual([]);
  await using _ = stack.start(tomorrow);
  const queued = await digestOf(rule, 3);
  expect(queued.map(({ channel, kind }) => `${channel} ${kind}`).toSorted()).toEqual([
    'chat digest',
    'email digest',
    'webhook digest',
  ]);
  const launched = scans.flat().flatMap(({ data }) => ('ad_id' in data ? [data.ad_id] : []));
  for (const { delivery_id, payload } of queued) {
    expect(AlertPayload.parse(payload)).toMatchObject({ id: delivery_id, items_total: 210 });
    expect(payload.items.map(({ ad_id }) => ad_id)).toEqual(launched.slice(0, PAYLOAD_ITEMS_MAX));
    expect(payload.as_of).toBe('2026-05-04T08:00:00.000Z');
  }
});

test('a digest is unchanged when the state store is lost before its creation, and is not created twice when it is lost afterwards', async () => {
  const brand = await stack.brand('forgetful.example');
  const rule = await stack.rule([brand], { cadence: 'daily' });
  await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 120));
  await matchAll();
  await stack.pool.query('drop schema alerting cascade');
  {
    await using _ = stack.start(tomorrow);
    expect(totalsOf(await digestOf(rule))).toEqual([120]);
  }
  const before = await stack.queued(rule);
  const publishedBefore = stack.published.length;
  await stack.pool.query('drop schema alerting cascade');
  await matchAll(tomorrow);
  await matchAll(nextWeek);
  expect(await stack.queued(rule)).toEqual(before);
  expect(stack.published.slice(publishedBefore)).toEqual([]);
});

test('a digest of a rule that was disabled for a while holds only items from after it was enabled again', async () => {
  const brand = await stack.brand('switched.example');
  const rule = await stack.rule([brand], { cadence: 'daily' });
  {
    await using _ = stack.start();
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 2));
    await stack.matched();
    await stack.change(rule, { enabled: false });
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 4));
    await stack.change(rule, { enabled: true });
    await stack.scan(scanEvents(brand, '2026-05-04T08:00:00.000Z', 1));
    await stack.matched();
  }
  await using _ = stack.start(tomorrow);
  expect(totalsOf(await digestOf(rule))).toEqual([1]);
});

test('no digest is made for a rule that was deleted before the day ended', async () => {
  const brand = await stack.brand('deleted.example');
  const [rule, other] = [
    await stack.rule([brand], { cadence: 'daily' }),
    await stack.rule([brand], { cadence: 'daily' }),
  ];
  await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 2));
  await matchAll();
  await stack.delete(rule);
  await using _ = stack.start(tomorrow);
  expect(totalsOf(await digestOf(other))).toEqual([2]);
  expect(await stack.queued(rule)).toEqual([]);
});

test('a rule that becomes instant still sends its pending items in one digest', async () => {
  const brand = await stack.brand('becomes-instant.example');
  const rule = await stack.rule([brand], { cadence: 'daily' });
  {
    await using _ = stack.start();
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 2));
    await stack.change(rule, { cadence: 'instant' });
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 3));
    await stack.matched();
    expect(totalsOf(await stack.queued(rule))).toEqual([3]);
  }
  await using _ = stack.start(tomorrow);
  const queued = await digestOf(rule, 2);
  expect(queued.map(({ kind, payload }) => [kind, payload.items_total])).toEqual([
    ['alert', 3],
    ['digest', 2],
  ]);
});

/** `isAgain`: also adds the ads again, with another destination. */
const withdrawal = (
  events: readonly AdLibraryEvent[],
  observed_at: string,
  isAgain = false,
): readonly AdLibraryEvent[] =>
  events.flatMap((event): readonly AdLibraryEvent[] => {
    if (event.type !== 'AdStarted') return [];
    const {
      brand_id,
      scan_id,
      collector,
      content,
      missing_since: _,
      branded_content: __,
      ...ad
    } = event.data;
    const before = {
      ...ad,
      status: 'active',
      first_seen_at: event.data.observed_at,
      seen_at: event.data.observed_at,
      observed_running: true,
      missing_since: null,
      inactive_since: null,
      basis: null,
      stopped_on: null,
    } as const;
    const withdrawn = [{ kind: 'started', scan_id, observed_at: event.data.observed_at } as const];
    const after = {
      ...before,
      novelty: 'baseline',
      first_seen_at: observed_at,
      collector,
      content,
      looks: [],
    } as const;
    const sighting = { brand_id, scan_id: `late ${scan_id}`, observed_at };
    const added = isAgain ? withdrawn.map((one) => ({ ...one, to_url: 'https://other.example/' })) : [];
    return [
      {
        type: 'AdObservationCorrected',
        data: { ...sighting, ad_id: ad.ad_id, before, after, withdrawn, added },
      },
    ];
  });

test('a digest leaves out items that a correction withdrew and did not add again before its period ended, and is not sent without items', async () => {
  const [brand, other] = [await stack.brand('withdrawn.example'), await stack.brand('nothing.example')];
  const some = await stack.rule([brand], { cadence: 'daily' });
  const none = await stack.rule([other], { cadence: 'daily' });
  const instant = await stack.rule([brand], { cadence: 'instant' });
  const [seen, unseen] = [
    scanEvents(brand, '2026-05-02T08:00:00.000Z', PAYLOAD_ITEMS_MAX + 5),
    scanEvents(other, '2026-05-02T08:00:00.000Z', 2),
  ];
  {
    await using _ = stack.start();
    await stack.scan(seen);
    await stack.scan(unseen);
    await stack.matched();
  }
  await stack.scan(
    withdrawal([...seen.slice(0, 2), ...seen.slice(PAYLOAD_ITEMS_MAX + 1)], '2026-05-01T08:00:00.000Z'),
  );
  await stack.scan(withdrawal(seen.slice(2, 4), '2026-05-01T08:00:00.000Z', true));
  await stack.scan(withdrawal(unseen, '2026-05-01T08:00:00.000Z'));
  await matchAll();
  await using _ = stack.start(tomorrow);
  const [digest] = await digestOf(some);
  expect(digest?.payload.items_total).toBe(PAYLOAD_ITEMS_MAX - 1);
  expect(digest?.payload.items).toHaveLength(PAYLOAD_ITEMS_MAX - 2);
  expect(await stack.queued(none)).toEqual([]);
  expect(totalsOf(await stack.queued(instant))).toEqual([PAYLOAD_ITEMS_MAX + 5]);
});

test('an instant alert is as its scan ended, also when a correction follows in the same batch', async () => {
  const brand = await stack.brand('same-batch.example');
  const rule = await stack.rule([brand], { cadence: 'instant' });
  const seen = scanEvents(brand, '2026-05-02T08:00:00.000Z', 3);
  await stack.scan([...seen, ...withdrawal(seen, '2026-05-01T08:00:00.000Z')]);
  await matchAll();
  expect(totalsOf(await stack.queued(rule))).toEqual([3]);
});

describe('while the event store sends nothing', () => {
  /** Further looks at the clock of the test in which the process makes a digest, if it does not wait. */
  const LOOKS = 5;

  /**
   * Records two items that the process matches and three that it does not receive. `looks`: how often it has looked at
   * the clock since. `looksWithoutAnswer`: how often it looked without an answer whether everything is matched.
   */
  const withUnreceived = async (resources: AsyncDisposableStack, sinceMidnightMs: number) => {
    const brand = await stack.brand('unreceived.example');
    const rule = await stack.rule([brand], { cadence: 'daily' });
    const { proxy, url } = await proxied(stack.environment['EVENT_STORE_URL'] ?? '');
    resources.use(proxy);
    let time: Date | null = null;
    let looks = 0;
    let looksWithoutAnswer = 0;
    const clock: Clock = {
      now: () => {
        if (time !== null) looks += 1;
        if (time !== null && new Error('now').stack?.includes(waitForPeriodEnd.name)) looksWithoutAnswer += 1;
        return time ?? new Date();
      },
    };
    resources.use(stack.start(clock, undefined, url));
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 2));
    await stack.matched();
    proxy.set('mute');
    await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 3));
    time = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + sinceMidnightMs);
    return { rule, proxy, looks: () => looks, looksWithoutAnswer: () => looksWithoutAnswer };
  };

  test('a digest waits for what was recorded in its period', async () => {
    await using resources = new AsyncDisposableStack();
    const { rule, proxy, looks, looksWithoutAnswer } = await withUnreceived(
      resources,
      PERIOD_GRACE_MS + 1_000,
    );
    await expect.poll(looksWithoutAnswer).toBeGreaterThan(0);
    const before = looks();
    await expect.poll(looks).toBeGreaterThan(before + LOOKS);
    expect(await stack.queued(rule)).toEqual([]);
    proxy.set('pass');
    expect(totalsOf(await digestOf(rule))).toEqual([5]);
  });

  test('a digest is made five minutes later all the same, and what is received then goes into the next one', async () => {
    await using resources = new AsyncDisposableStack();
    const { rule, proxy } = await withUnreceived(resources, PERIOD_WAIT_MS);
    expect(totalsOf(await digestOf(rule))).toEqual([2]);
    proxy.set('pass');
    await stack.matched();
    const { rows } = await stack.pool.query(
      'select items_total from alerting.collected where alert_id = $1',
      [rule.alert_id],
    );
    expect(rows).toEqual([{ items_total: 3 }]);
  });
});
