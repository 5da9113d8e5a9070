import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openProgress } from '#services/alerts/checkpoint.ts';
import { createDigestPace } from '#services/alerts/digests/digest-pace.ts';
import type { MatchingSession } from '#services/alerts/dependencies.ts';
import { PERIOD_GRACE_MS } from '#services/alerts/digests/period-end.ts';
import { readNextCheck, type SignalSource } from '#services/alerts/matching/pending-signal-checks.ts';
import { notifySignals } from '#services/alerts/signals/signal-checks.ts';
import { openSignalSource } from '#services/alerts/signals/signal-source.ts';
import { appendStory, projectAll, storyWithSignals } from './project-signals.ts';
import { type AlertsStack, openAlertsStack, scanEvents } from './stack.ts';

const DAY_MS = 86_400_000;
/** Failed reads of signals after which other alerts are looked at. */
const FAILED_READS = 2;

let stack: AlertsStack;
beforeEach(async () => {
  stack = await openAlertsStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

const epoch = async (): Promise<string | undefined> => {
  const { rows } = await stack.pool.query<{ epoch: string }>(
    `select epoch from run.lease where kind = 'alerts'`,
  );
  return rows[0]?.epoch;
};
const pendingChecks = async (): Promise<number | null> =>
  (await stack.pool.query('select from alerting.signal_look')).rowCount;

test('a locked table of signals delays no other alert and no digest, and the checks are made once it is free', async () => {
  const story = storyWithSignals('locked.example');
  const other = await stack.brand('other.example');
  const [first, ...events] = story.events;
  if (first) await stack.append(first.stream, [first.event]);
  const activity = await stack.rule([story.brand_id], { trigger: 'activity' });
  const [instant, daily] = [await stack.rule([other]), await stack.rule([other], { cadence: 'daily' })];
  await appendStory(stack, { ...story, events });
  await projectAll(stack);

  const url = stack.environment['DATABASE_URL'] ?? '';
  await using source = openSignalSource(url, silentLog());
  let failedReads = 0;
  const counting: SignalSource = {
    shown: (position) => source.shown(position),
    list: async (...of) => {
      try {
        return await source.list(...of);
      } catch (error) {
        failedReads += 1;
        throw error;
      }
    },
  };
  let tomorrow: Date | null = null;
  const clock = { now: () => tomorrow ?? new Date() };

  await using locking = new AsyncDisposableStack();
  const locks = openPool(url, 1);
  locking.defer(() => locks.end());
  const lock = await locks.connect();
  // Ends the transaction, too.
  locking.defer(() => lock.release(true));
  await lock.query('begin; lock table signals.signal in access exclusive mode');
  {
    await using _ = stack.start(clock, counting);
    await expect.poll(() => failedReads).toBeGreaterThanOrEqual(FAILED_READS);
    const before = await epoch();
    const pending = await pendingChecks();
    await stack.scan(scanEvents(other, '2026-05-02T08:00:00.000Z', 3));
    await expect.poll(() => stack.queued(instant)).toHaveLength(1);
    tomorrow = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + PERIOD_GRACE_MS + 1_000);
    await expect.poll(() => stack.queued(daily)).toHaveLength(1);
    const failedBefore = failedReads;
    await expect.poll(() => failedReads).toBeGreaterThan(failedBefore);
    expect(await pendingChecks()).toBe(pending);
    expect(await epoch()).toBe(before);

    await lock.query('rollback');
    await expect.poll(() => pendingChecks()).toBe(0);
    const signals = (await stack.queued(activity)).map(({ payload }) => payload.items[0]?.signal);
    expect(signals).toHaveLength(2);
    expect(new Set(signals)).toEqual(new Set(['new_linked_page', 'ramp']));
    expect(await epoch()).toBe(before);
  }
});

test('a replay reads earlier deliveries from the log before its transaction begins', async () => {
  const brand = await stack.brand('replayed.example');
  const rule = await stack.rule([brand], { trigger: 'activity' });
  {
    await using _ = stack.start();
    await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
    await stack.matched();
  }
  const { pool, eventStore } = stack;
  const progress = { ...(await openProgress(pool, eventStore)), replayedUntil: await eventStore.head() };
  const check = await readNextCheck(pool);
  const signals = [
    { id: randomUUID(), kind: 'ramp', observed_at: '2026-05-02T08:00:00.000Z', summary: '40 active ads.' },
  ];
  const openTransactions: (number | null)[] = [];
  const session: MatchingSession = {
    database: pool,
    eventStore,
    progress,
    settings: {
      databaseUrl: '',
      eventStoreUrl: '',
      baseUrl: 'https://api.test',
      clock: systemClock,
      log: silentLog(),
      signal: new AbortController().signal,
      signals: null,
      publish: () => undefined,
    },
    digestPace: createDigestPace(systemClock),
    replayGuard: {
      rule: () => Promise.reject(new Error('not asked')),
      open: async (deliveries) => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
        );
        openTransactions.push(rowCount);
        return deliveries;
      },
    },
  };
  if (check) await notifySignals(session, { check, signals });
  expect(openTransactions).toEqual([0]);
  expect(await stack.queued(rule)).toHaveLength(1);
  expect(await pendingChecks()).toBe(0);
});
