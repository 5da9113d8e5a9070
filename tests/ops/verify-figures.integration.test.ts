import { pino } from 'pino';
import { verifyFigures } from '#services/worker/nightly.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type InvariantsReport,
  checkInvariants,
  readVerification,
} from '#application/invariants/check-invariants.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { createServiceMetrics } from '#services/ops/http/service-metrics.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';
import { projections } from '#projections/index.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import type { CorpusBrand } from '../operations/fixtures/corpus.ts';
import { openHostedCommands } from './fixtures/hosted-commands.ts';

const commands = openHostedCommands();
let stack: ApiStack;
let alpha: CorpusBrand;

beforeAll(async () => {
  stack = await openApiStack();
  [alpha] = (await stack.seed(['alpha', 'beta'])) as readonly [CorpusBrand];
  await stack.projected(await stack.eventStore.head());
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const check = (): Promise<InvariantsReport> =>
  checkInvariants(stack.pool, {
    invariants: INVARIANTS,
    clock: systemClock,
    waitMs: 10_000,
    recheckMs: 0,
  });

const violatedBy = async (): Promise<readonly string[]> =>
  (await check()).invariants.filter(({ state }) => state !== 'holds').map(({ name }) => name);

const raise = (table: string, column: string, field: string, by: number): string =>
  `update ${table} set ${column} = regexp_replace(${column}, '"${field}":[0-9]+',
     '"${field}":' || substring(${column} from '"${field}":([0-9]+)')::bigint + ${by}) where brand_id = $1`;

const inc = (table: string, column: string, by: number, condition = 'true'): string =>
  `update ${table} set ${column} = ${column} + ${by} where brand_id = $1 and ${condition}`;

/** Per invariant: the statement that corrupts one figure of alpha, and the one that restores it. */
const CORRUPTIONS: Readonly<Record<string, readonly [corrupt: string, restore: string]>> = {
  'ads-total': [inc('brands.brand', 'total_ads', 1), inc('brands.brand', 'total_ads', -1)],
  'ads-active': [inc('brands.brand', 'active_ads', 1), inc('brands.brand', 'active_ads', -1)],
  'brand-record': [
    raise('brands.brand', 'detail', 'inactive_ads', 1),
    raise('brands.brand', 'detail', 'inactive_ads', -1),
  ],
  breakdown: [
    raise('brands.brand', 'breakdown', 'video', 2),
    raise('brands.brand', 'breakdown', 'video', -2),
  ],
  countries: [inc('brands.country', 'ads', 1), inc('brands.country', 'ads', -1)],
  'pages-active': [inc('social_pages.run', 'active_ads', 1), inc('social_pages.run', 'active_ads', -1)],
  'pages-total': [inc('social_pages.run', 'total_ads', 1), inc('social_pages.run', 'total_ads', -1)],
  'creative-library': [
    `update creatives.ad set active = false where brand_id = $1 and ad_id = 'AD'`,
    `update creatives.ad set active = true where brand_id = $1 and ad_id = 'AD'`,
  ],
  'last-day': [
    inc('daily_activity.day', 'active_ads', 1, `date = (select max(date) from daily_activity.day)`),
    inc('daily_activity.day', 'active_ads', -1, `date = (select max(date) from daily_activity.day)`),
  ],
  weeks: [raise('velocity.week', 'item', 'new_ads', 1), raise('velocity.week', 'item', 'new_ads', -1)],
  'radar-started': [inc('daily_activity.day', 'new_ads', 1), inc('daily_activity.day', 'new_ads', -1)],
  'radar-stopped': [
    inc('daily_activity.day', 'retired_ads', 1),
    inc('daily_activity.day', 'retired_ads', -1),
  ],
  ...Object.fromEntries(
    ['new_ads_7d', 'new_ads_30d', 'retired_ads_7d', 'retired_ads_30d'].map((field) => [
      `radar-${field.replaceAll('_', '-')}`,
      [raise('brands.brand', 'detail', field, 1), raise('brands.brand', 'detail', field, -1)] as const,
    ]),
  ),
  'radar-signals': [
    `update signals.occurrence set is_withdrawn = true where brand_id = $1`,
    `update signals.occurrence set is_withdrawn = false where brand_id = $1`,
  ],
  'week-in-month': [
    raise('brands.brand', 'detail', 'new_ads_7d', 100),
    raise('brands.brand', 'detail', 'new_ads_7d', -100),
  ],
  'last-scan': [
    `update velocity.applied_scan set scanned_at = scanned_at - interval '1 hour' where brand_id = $1`,
    `update velocity.applied_scan set scanned_at = scanned_at + interval '1 hour' where brand_id = $1`,
  ],
  'dated-after-as-of': [
    `update radar.item set observed_at = observed_at + interval '1 minute' where brand_id = $1`,
    `update radar.item set observed_at = observed_at - interval '1 minute' where brand_id = $1`,
  ],
  'category-totals': [
    `update categories.category set total_ads = total_ads + 1 where $1::uuid is not null and slug = 'shoes'`,
    `update categories.category set total_ads = total_ads - 1 where $1::uuid is not null and slug = 'shoes'`,
  ],
  'category-names': [
    `update categories.category set defined_name = 'Other' where $1::uuid is not null and slug = 'shoes'`,
    `update categories.category set defined_name = null where $1::uuid is not null and slug = 'shoes'`,
  ],
  'corpus-totals': [
    `update brands.corpus_count set ads = ads + 1 where $1::uuid is not null and category_slug = 'apparel'`,
    `update brands.corpus_count set ads = ads - 1 where $1::uuid is not null and category_slug = 'apparel'`,
  ],
};

const ops = (...words: readonly string[]) =>
  commands.run(words, { DATA_DIR: '/nowhere', ...stack.environment });

describe('ops verify', () => {
  test('prints one line per rule and exits with 0', async () => {
    const { stdout, stderr, code } = await ops('verify');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout.trimEnd().split('\n')).toHaveLength(INVARIANTS.length);
    expect(stdout).toContain('ok           ads-total: The total of a brand');
  });

  test('shows the first brands and both figures of a violation, and exits with 1', async () => {
    const [corrupt, restore] = CORRUPTIONS['countries'] ?? ['', ''];
    await stack.pool.query(corrupt, [alpha.id]);
    try {
      const text = await ops('verify');
      expect(text.code).toBe(1);
      expect(text.stdout).toContain('VIOLATED     countries:');
      expect(text.stdout).toContain(
        `brand ${alpha.id} US: ads of the country 4, ads active or missing there 3`,
      );
      const json = await ops('--json', 'verify', '--wait', '5');
      expect(json.code).toBe(1);
      const report = JSON.parse(json.stdout) as InvariantsReport;
      expect(report.holds).toBe(false);
      expect(report.invariants.filter(({ state }) => state === 'violated')).toMatchObject([
        {
          name: 'countries',
          violations: 1,
          first: [{ brand_id: alpha.id, key: 'US', one: '4', other: '3' }],
        },
      ]);
    } finally {
      await stack.pool.query(restore, [alpha.id]);
    }
  });

  test('rejects a wait that is not a number of seconds', async () => {
    const { stderr, code } = await ops('verify', '--wait', 'long');
    expect(code).not.toBe(0);
    expect(stderr).toContain('wait');
  });
});

describe('the nightly verification', () => {
  const TIMES = { waitMs: 10_000, recheckMs: 0, limitMs: 60_000 };
  /** Lets the claim of the last verification expire. */
  const nextNight = () =>
    stack.pool.query(`update nightly.verification set started_at = started_at - interval '1 day'`);
  const metrics = () =>
    createServiceMetrics({
      pool: stack.pool,
      eventStore: stack.eventStore,
      nats: () => null,
      missing: async () => [],
      servers: [],
      archiveCallsPerHour: 150,
    })();

  test('logs each rule that is violated, and nothing but success otherwise', async () => {
    const logged: { readonly level: number; readonly msg: string; readonly invariant?: string }[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
    const options = { database: stack.pool, log, signal: new AbortController().signal };
    await verifyFigures(options, TIMES);
    expect(logged.splice(0).map(({ msg }) => msg)).toEqual(['figures verified']);
    const [corrupt, restore] = CORRUPTIONS['countries'] ?? ['', ''];
    await stack.pool.query(corrupt, [alpha.id]);
    try {
      await nextNight();
      await verifyFigures(options, TIMES);
    } finally {
      await stack.pool.query(restore, [alpha.id]);
    }
    expect(logged).toMatchObject([{ level: 50, msg: 'figures disagree', invariant: 'countries' }]);
    expect(await readVerification(stack.pool)).toMatchObject({ error: null, report: { holds: false } });
    expect(await metrics()).toContain('adintel_figures_rules{state="violated"} 1\n');
    expect(await metrics()).toMatch(/^adintel_figures_verified_timestamp_seconds \d{10}/m);
  });

  test('is done by one of the workers that are woken at once', async () => {
    await nextNight();
    const logged: { readonly msg: string }[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
    const options = { database: stack.pool, log, signal: new AbortController().signal };
    await Promise.all([1, 2, 3].map(() => verifyFigures(options, TIMES)));
    await verifyFigures(options, TIMES);
    expect(logged.map(({ msg }) => msg)).toEqual(['figures verified']);
  });

  test('is aborted after its limit, and keeps the report of the night before', async () => {
    await nextNight();
    const options = { database: stack.pool, log: silentLog(), signal: new AbortController().signal };
    await stack.pool.query(`update projector.projection set state = 'failed' where name = 'radar'`);
    try {
      await expect(verifyFigures(options, { ...TIMES, limitMs: 200 })).rejects.toThrow('timeout');
    } finally {
      await stack.pool.query(`update projector.projection set state = 'live' where name = 'radar'`);
    }
    expect(await readVerification(stack.pool)).toMatchObject({
      error: 'not finished within 0.2 seconds',
      report: { holds: true },
    });
  });
});

describe('invariants of figures', () => {
  test('hold after scans, and name only read models that exist', async () => {
    const report = await check();
    expect(report.invariants.filter(({ state }) => state !== 'holds')).toEqual([]);
    expect(report.holds).toBe(true);
    const names = projections.map(({ name }) => name);
    expect(INVARIANTS.flatMap(({ reads }) => reads).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('have each a corrupted figure in this file', () => {
    expect(Object.keys(CORRUPTIONS).toSorted()).toEqual(INVARIANTS.map(({ name }) => name).toSorted());
  });

  test.each(Object.entries(CORRUPTIONS))(
    '%s is violated by a corrupted figure',
    async (name, [corrupt, restore]) => {
      const of = (sql: string): string => sql.replace('AD', alpha.adIds[2] ?? '');
      await stack.pool.query(of(corrupt), [alpha.id]);
      try {
        const checked = (await check()).invariants.find((one) => one.name === name);
        expect(checked).toMatchObject({ state: 'violated', reason: null });
        expect(checked?.first[0]?.one).not.toBe(checked?.first[0]?.other);
        const [violation] = checked?.first ?? [];
        if (violation?.brand_id !== null) expect(violation?.brand_id).toBe(alpha.id);
      } finally {
        await stack.pool.query(of(restore), [alpha.id]);
      }
      expect(await violatedBy()).toEqual([]);
    },
  );

  test('leave out a brand with a parked event, and say how many', async () => {
    const [corrupt, restore] = CORRUPTIONS['countries'] ?? ['', ''];
    await stack.pool.query(corrupt, [alpha.id]);
    await stack.pool.query(
      `insert into projector.parked (projection, stream, position, type) values ('ads', 'adLibrary-' || $1, 1, 'AdStarted')`,
      [alpha.id],
    );
    try {
      const report = await check();
      expect(report).toMatchObject({ holds: true, left_out: 1 });
      const states = new Set(report.invariants.map(({ state }) => state));
      expect(states).toEqual(new Set(['holds', 'left_out']));
    } finally {
      await stack.pool.query(`delete from projector.parked where projection = 'ads'`);
      await stack.pool.query(restore, [alpha.id]);
    }
  });

  test('are not checked while a read model is behind', async () => {
    await stack.pool.query(`update projector.projection set state = 'failed' where name = 'radar'`);
    try {
      const report = await checkInvariants(stack.pool, {
        invariants: INVARIANTS,
        clock: systemClock,
        waitMs: 0,
        recheckMs: 0,
      });
      expect(report.holds).toBe(false);
      const skipped = report.invariants.filter(({ state }) => state === 'not_checked');
      const readers = INVARIANTS.filter(({ reads }) => reads.includes('radar'));
      expect(skipped.map(({ name }) => name)).toEqual(readers.map(({ name }) => name));
      expect(skipped[0]?.reason).toBe('radar is failed');
    } finally {
      await stack.pool.query(`update projector.projection set state = 'live' where name = 'radar'`);
    }
  });
});
