import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { signals } from '#projections/signals/project.ts';
import { PERIOD_GRACE_MS } from '#services/alerts/digests/period-end.ts';
import { openSignalSource } from '#services/alerts/signals/signal-source.ts';
import { rebuildProjection } from '#services/projector/rebuild/rebuild-projection.ts';
import { createSharedReader } from '#services/projector/rebuild/shared-read.ts';
import { rebuildingIn, swapWithoutProjector } from '#tests/stack/verify-read-models.ts';
import { type Story, story } from '../projections/fixtures/signal-stories.ts';
import { until } from '../stack/wait-until.ts';
import { projectSignals } from './project-signals.ts';
import { type AlertsStack, openAlertsStack, type Rule } from './stack.ts';

const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;
const tomorrow: Clock = {
  now: () => new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + PERIOD_GRACE_MS + 1_000),
};
const FIRST_PAGE = '100000001';
const CREATOR_PAGE = '100000002';

let stack: AlertsStack;
beforeEach(async () => {
  stack = await openAlertsStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

const url = (): string => stack.environment['DATABASE_URL'] ?? '';

const checkSignals = async (clock?: Clock): Promise<void> => {
  await using source = openSignalSource(url(), silentLog());
  await using _ = stack.start(clock, source);
  await stack.matched();
  await until('every signal check done', LIMIT_MS, async () => {
    const { rows } = await stack.pool.query('select from alerting.signal_look');
    return rows.length === 0;
  });
};

const notifiedKinds = async (rule: Rule): Promise<readonly (readonly (string | null)[])[]> => {
  const queued = await stack.queued(rule);
  return queued.map(({ payload }) => payload.items.map(({ signal }) => signal));
};

const endOfDay = async (rule: Rule): Promise<void> => {
  await using _ = stack.start(tomorrow);
  await until('the digest', LIMIT_MS, async () => (await stack.queued(rule)).length > 0);
};

test('delivers a signal once, across restarts and a rebuild of the read model', async () => {
  const shop: Story = story('signal.example', 1);
  let recorded = 1;
  const appendNew = async (): Promise<void> => {
    for (const { stream, event } of shop.events.slice(recorded)) await stack.append(stream, [event]);
    recorded = shop.events.length;
  };
  const brand = await stack.brand('signal.example');
  const [instant, daily, other] = [
    await stack.rule([brand], { trigger: 'activity' }),
    await stack.rule([brand], { trigger: 'activity', cadence: 'daily' }),
    await stack.rule([await stack.brand('other.example')], { trigger: 'activity' }),
  ];
  {
    await using _ = projectSignals(stack);
    shop
      .link(0, FIRST_PAGE, 'OFFICIAL')
      .scan(0, { baseline: true, launches: [{ count: 20, novelty: 'baseline', since: -9 }] });
    await appendNew();
    await checkSignals();
    expect(await notifiedKinds(instant)).toEqual([]);

    // Ten more active ads are a ramp signal. The ad starts themselves are no activity signals.
    shop.scan(7, { launches: [{ count: 10 }] });
    await appendNew();
    await checkSignals();
    expect(await notifiedKinds(instant)).toEqual([['ramp']]);

    // Later checks of the same day deliver only the new signals.
    shop.scan(7, { hour: 9 }).link(7, CREATOR_PAGE, 'CREATOR', 10);
    await appendNew();
    await checkSignals();
    shop.shop(7, 20, 5);
    await appendNew();
    await checkSignals();
    await checkSignals();
    expect(await notifiedKinds(instant)).toEqual([['ramp'], ['new_linked_page'], ['sale']]);
  }
  const [first] = await stack.queued(instant);
  expect(first?.payload.items[0]).toMatchObject({
    type: 'activity',
    title: 'signal: Active ads went from 20 to 30 in 7 days.',
    url: 'https://api.test/v1/workspaces/ws_tests/radar/signals',
  });

  await rebuildProjection(rebuildingIn(stack.pool), createSharedReader(stack.eventStore), signals);
  await swapWithoutProjector(stack.pool, signals);
  {
    await using _ = projectSignals(stack);
    shop.scan(7, { hour: 11 });
    await appendNew();
    await checkSignals();
    expect(await notifiedKinds(instant)).toHaveLength(3);
    for (let again = 0; again < 2; again += 1) {
      await checkSignals(tomorrow);
      await endOfDay(daily);
      expect(await notifiedKinds(daily)).toEqual([['ramp', 'new_linked_page', 'sale']]);
    }
  }
  expect(await notifiedKinds(instant)).toHaveLength(3);
  expect(await notifiedKinds(other)).toEqual([]);
});
