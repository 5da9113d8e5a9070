import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { signals } from '#projections/signals/project.ts';
import { PERIOD_GRACE_MS } from '#services/alerts/run.ts';
import { openSignalSource } from '#services/alerts/signals/signal-source.ts';
import { buildBeside } from '#services/projector/rebuild/rebuild-projection.ts';
import { runProjections } from '#services/projector/run.ts';
import { swapIn } from '#services/projector/rebuild/swap-schema.ts';
import { type Story, story } from '../projections/fixtures/signal-stories.ts';
import { until } from '../stack/wait-until.ts';
import { type AlertsStack, openAlertsStack, type Rule } from './stack.ts';

const LIMIT_MS = 20_000;
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

/** The read model of signals, kept up until it is disposed of. */
const project = (): AsyncDisposable => {
  const ending = new AbortController();
  const running = runProjections({
    databaseUrl: url(),
    eventStoreUrl: stack.environment['EVENT_STORE_URL'] ?? '',
    projections: [signals],
    log: silentLog(),
    signal: ending.signal,
  });
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await running;
    },
  };
};

/** Matches everything recorded so far and looks at every signal there is to look at. */
const tell = async (clock?: Clock): Promise<void> => {
  await using source = openSignalSource(url(), silentLog());
  await using _ = stack.start(clock, source);
  await stack.matched();
  await until('every look taken', LIMIT_MS, async () => {
    const { rows } = await stack.pool.query('select from alerting.signal_look');
    return rows.length === 0;
  });
};

const kindsTold = async (rule: Rule): Promise<readonly (readonly (string | null)[])[]> => {
  const queued = await stack.queued(rule);
  return queued.map(({ payload }) => payload.items.map(({ signal }) => signal));
};

const endOfDay = async (rule: Rule): Promise<void> => {
  await using _ = stack.start(tomorrow);
  await until('the digest', LIMIT_MS, async () => (await stack.queued(rule)).length > 0);
};

test('a signal is one delivery, whatever is started again or built again', async () => {
  const shop: Story = story('signal.example', 1);
  let recorded = 1;
  /** Appends what the story went on with. */
  const goOn = async (): Promise<void> => {
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
    await using _ = project();
    shop
      .link(0, FIRST_PAGE, 'OFFICIAL')
      .scan(0, { baseline: true, launches: [{ count: 20, novelty: 'baseline', since: -9 }] });
    await goOn();
    await tell();
    expect(await kindsTold(instant)).toEqual([]);

    // Ten ads more are a ramp; that they started is no activity.
    shop.scan(7, { launches: [{ count: 10 }] });
    await goOn();
    await tell();
    expect(await kindsTold(instant)).toEqual([['ramp']]);

    // The day goes on: what it shows already is not told again, what is new is.
    shop.scan(7, { hour: 9 }).link(7, CREATOR_PAGE, 'CREATOR', 10);
    await goOn();
    await tell();
    shop.shop(7, 20, 5);
    await goOn();
    await tell();
    await tell();
    expect(await kindsTold(instant)).toEqual([['ramp'], ['new_linked_page'], ['sale']]);
  }
  const [first] = await stack.queued(instant);
  expect(first?.payload.items[0]).toMatchObject({
    type: 'activity',
    title: 'signal: Active ads went from 20 to 30 in 7 days.',
    url: 'https://api.test/v1/workspaces/ws_tests/radar/signals',
  });

  await buildBeside(stack.pool, stack.eventStore, signals, new AbortController().signal);
  await swapIn(stack.pool, signals);
  {
    await using _ = project();
    shop.scan(7, { hour: 11 });
    await goOn();
    await tell();
    expect(await kindsTold(instant)).toHaveLength(3);
    for (let again = 0; again < 2; again += 1) {
      await tell(tomorrow);
      await endOfDay(daily);
      expect(await kindsTold(daily)).toEqual([['ramp', 'new_linked_page', 'sale']]);
    }
  }
  expect(await kindsTold(instant)).toHaveLength(3);
  expect(await kindsTold(other)).toEqual([]);
});
