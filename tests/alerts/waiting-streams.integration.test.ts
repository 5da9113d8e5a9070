import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AD_LIBRARY, adLibraryStream, adLibraryVersions } from '#contracts/events/corpus/ad-library.ts';
import { SCHEMA_REGISTRY, type SchemaRegistry } from '#contracts/events/schema-registry.ts';
import { ALERT_RULE, alertRuleStream, alertRuleVersions } from '#contracts/events/workspace/alert-rule.ts';
import type { Clock } from '#platform/clock.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { PERIOD_GRACE_MS } from '#services/alerts/digests/period-end.ts';
import { listWaitingStreams } from '#services/ops/waiting-events.ts';
import { createServiceMetrics } from '#services/ops/http/service-metrics.ts';
import { until } from '../stack/wait-until.ts';
import { requireAlive, startAlertsProcess } from './alerts-process.ts';
import { type AlertsStack, openAlertsStack, type Rule, scanEvents } from './stack.ts';

const CLI = join(import.meta.dirname, '../../services/ops/cli.ts');
const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;
const registry = SCHEMA_REGISTRY as Record<string, SchemaRegistry[string]>;
const FIRST_PAGE = { limit: 10 } as const;
/** Streams that wait together, and the limit of the heap of a process that holds far fewer, in MiB. */
const WAITING_STREAMS = 400_000;
const HEAP_MIB = 96;

/** Releases: each knows one schema version more of `AdStarted` and of `AlertRuleChanged` than the one before. */
const release = (steps: number): void => {
  const added = Array.from({ length: steps }, () => (data: object) => data as never);
  registry[AD_LIBRARY] = {
    ...adLibraryVersions,
    AdStarted: [...adLibraryVersions.AdStarted, ...added],
  };
  registry[ALERT_RULE] = {
    ...alertRuleVersions,
    AlertRuleChanged: [...alertRuleVersions.AlertRuleChanged, ...added],
  };
};
const versionIn = (steps: number): string => String(1 + adLibraryVersions.AdStarted.length + steps);

let stack: AlertsStack;
beforeEach(async () => {
  release(0);
  stack = await openAlertsStack();
});
afterEach(async () => {
  registry[AD_LIBRARY] = adLibraryVersions;
  registry[ALERT_RULE] = alertRuleVersions;
  await stack[Symbol.asyncDispose]();
});

const scanBy = async (steps: number, brand: string, day: number, launches: number): Promise<void> => {
  release(steps);
  await stack.scan(scanEvents(brand, `2026-05-0${day}T08:00:00.000Z`, launches));
  release(0);
};
const totals = async (rule: Rule): Promise<readonly number[]> =>
  (await stack.queued(rule)).map(({ payload }) => payload.items_total);
const waiting = () => listWaitingStreams(stack.pool, FIRST_PAGE);
const run = async (steps: number): Promise<void> => {
  release(steps);
  await using _ = stack.start();
  await stack.matched();
  await until('streams continued', LIMIT_MS, async () =>
    (await waiting()).every(({ version }) => version > versionIn(steps)),
  );
};
const ops = async (...words: readonly string[]): Promise<string> => {
  const env = { ...inheritedEnvironment(), DATA_DIR: '/nowhere', ...stack.environment };
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...words], { env });
  return stdout;
};
const metrics = () =>
  createServiceMetrics({
    pool: stack.pool,
    eventStore: stack.eventStore,
    nats: () => null,
    missing: async () => [],
    servers: [],
    archiveCallsPerHour: 150,
  })();

const inDays = (days: number): Clock => ({
  now: () =>
    new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + (days - 1) * DAY_MS + PERIOD_GRACE_MS + 1_000),
});

describe('a stream with an event of a newer release', () => {
  test('waits while all others are matched, is shown to operators, and is continued exactly once', async () => {
    const [brand, other] = [await stack.brand('waits.example'), await stack.brand('goes-on.example')];
    const [rule, otherRule] = [await stack.rule([brand]), await stack.rule([other])];
    expect(await waiting()).toEqual([]);
    await scanBy(0, brand, 1, 1);
    await run(0);
    await scanBy(1, brand, 2, 2);
    // Readable events wait behind the unreadable one, because the order within a stream matters.
    await scanBy(0, brand, 3, 3);
    for (const others of [[4], [4, 4]]) {
      await scanBy(0, other, others.length, 4);
      await run(0);
      expect([await totals(rule), await totals(otherRule)]).toEqual([[1], others]);
      expect(await waiting()).toMatchObject([
        {
          stream: adLibraryStream(brand),
          type: 'AdStarted',
          version: versionIn(1),
          revision: '2',
          waiting: 6,
        },
      ]);
    }
    expect(await metrics()).toContain('\nadintel_alerts_waiting_streams 1\n');
    const printed = await ops('--json', 'alerts', 'waiting');
    expect(JSON.parse(printed)).toEqual(await waiting());
    const later = await stack.rule([brand]);
    await run(0);

    // The release that reads them is interrupted: nothing of the transaction remains.
    await stack.pool.query(`
      create sequence interrupted;
      create function interrupt() returns trigger language plpgsql as
        $$ begin perform nextval('interrupted'); raise exception 'interrupted'; end $$;
      create trigger interrupt before delete on alerting.waiting_event execute function interrupt()`);
    {
      release(1);
      await using _ = stack.start();
      await until('an interrupted attempt', LIMIT_MS, async () => {
        const { rows } = await stack.pool.query<{ is_called: boolean }>('select is_called from interrupted');
        return rows[0]?.is_called === true;
      });
      expect(await totals(rule)).toEqual([1]);
      await stack.pool.query('drop trigger interrupt on alerting.waiting_event');
      await until('no stream waits', LIMIT_MS, async () => (await waiting()).length === 0);
    }
    await scanBy(0, brand, 4, 5);
    await run(1);
    expect(await totals(rule)).toEqual([1, 2, 3, 5]);
    // A rule fires on events recorded after it was created, also when they are matched late.
    expect(await totals(later)).toEqual([5]);
    expect(await totals(otherRule)).toEqual([4, 4]);
    expect(await metrics()).toContain('\nadintel_alerts_waiting_streams 0\n');
  });

  test('is continued up to the next event that the release cannot read', async () => {
    const brand = await stack.brand('steps.example');
    const rule = await stack.rule([brand]);
    await scanBy(1, brand, 1, 2);
    await scanBy(2, brand, 2, 3);
    await run(0);
    await run(1);
    expect(await totals(rule)).toEqual([2]);
    expect(await waiting()).toMatchObject([{ version: versionIn(2), revision: '3', waiting: 3 }]);
    await run(2);
    expect(await totals(rule)).toEqual([2, 3]);
    expect(await waiting()).toEqual([]);
  });

  test('does not delay digests, and its late items are in the digest of the current period', async () => {
    const brand = await stack.brand('period.example');
    const rule = await stack.rule([brand], { cadence: 'daily' });
    await scanBy(0, brand, 1, 1);
    await scanBy(1, brand, 2, 2);
    {
      await using _ = stack.start(inDays(1));
      await until('the digest of the first day', LIMIT_MS, async () => (await totals(rule)).length === 1);
    }
    {
      release(1);
      await using _ = stack.start(inDays(2));
      await until('the digest of the second day', LIMIT_MS, async () => (await totals(rule)).length === 2);
    }
    expect(await totals(rule)).toEqual([1, 2]);
  });

  test('loses nothing when the tables are dropped and the log is matched again', async () => {
    const brand = await stack.brand('replayed.example');
    const rule = await stack.rule([brand]);
    await scanBy(0, brand, 1, 1);
    await scanBy(1, brand, 2, 2);
    await run(1);
    expect(await totals(rule)).toEqual([1, 2]);
    await stack.pool.query('drop schema alerting cascade');
    await run(0);
    expect(await waiting()).toHaveLength(1);
    await run(1);
    expect(await waiting()).toEqual([]);
    expect(await totals(rule)).toEqual([1, 2]);
  });
});

describe('a rule whose stream waits', () => {
  const changeBy = async (steps: number, ...change: Parameters<AlertsStack['change']>): Promise<void> => {
    release(steps);
    await stack.change(...change);
    release(0);
  };
  const targets = async (rule: Rule): Promise<readonly string[]> =>
    (await stack.queued(rule)).map(({ target }) => (JSON.parse(target) as { url: string }).url);

  test('keeps its last known settings, and the change applies to pending deliveries once it is read', async () => {
    const brand = await stack.brand('moved.example');
    const rule = await stack.rule([brand]);
    await changeBy(1, rule, { webhook_url: 'https://new.shop.example/in' });
    await scanBy(0, brand, 1, 1);
    await run(0);
    expect(await waiting()).toMatchObject([
      { stream: alertRuleStream(rule.workspace_id, rule.alert_id), type: 'AlertRuleChanged' },
    ]);
    expect(await targets(rule)).toEqual(['https://hooks.shop.example/in']);
    await scanBy(0, brand, 2, 1);
    await run(1);
    expect(await targets(rule)).toEqual(['https://new.shop.example/in', 'https://new.shop.example/in']);
  });

  test('keeps the items of its digest when it was disabled and enabled again meanwhile', async () => {
    const brand = await stack.brand('off-and-on.example');
    const rule = await stack.rule([brand], { cadence: 'daily' });
    await changeBy(1, rule, { enabled: false });
    await changeBy(1, rule, { enabled: true });
    await scanBy(0, brand, 1, 2);
    await run(0);
    release(1);
    await using _ = stack.start(inDays(1));
    await until('the digest', LIMIT_MS, async () => (await totals(rule)).length === 1);
    expect(await totals(rule)).toEqual([2]);
  });
});

test(
  'very many waiting streams do not fill the memory of the process',
  async () => {
    const brand = await stack.brand('goes-on.example');
    const rule = await stack.rule([brand]);
    await run(0);
    await stack.pool.query(
      `insert into alerting.waiting_event (stream, revision, position, type, version)
       select 'adLibrary-' || md5(n::text)::uuid, 0, n, 'AdStarted', '99' from generate_series(1, $1::int) n`,
      [WAITING_STREAMS],
    );
    const running = startAlertsProcess(stack, HEAP_MIB);
    try {
      await scanBy(0, brand, 1, 2);
      await until('the scan matched', LIMIT_MS, async () => {
        requireAlive(running);
        return (await totals(rule)).length === 1;
      });
    } finally {
      await running.stop();
    }
  },
  LIMIT_MS * 2,
);
