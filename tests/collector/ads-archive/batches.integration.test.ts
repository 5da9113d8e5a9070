import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, utcDateOfMs } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { type ArchiveWorld, createArchiveWorld } from '#tests/world/archive-world.ts';
import { readLibraryAccounts } from '#application/collecting/library-account.ts';
import { planArchive } from '#application/collecting/plan-sources.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { silentLog } from '#platform/logger.ts';
import { collectorCalls } from '#platform/telemetry/metrics.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { brands } from '#projections/brands/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { readAccount, requireOtherApp, storeToken } from '#services/collector/ads-archive/account-store.ts';
import type { ArchiveRunner } from '#services/collector/ads-archive/archive-runner.ts';
import { runArchive } from '#services/collector/ads-archive/run-batches.ts';
import { retryTargets } from '#services/collector/cli/change.ts';
import { recordWish } from '#services/collector/schedule/target-store.ts';
import { createTables } from '#application/read-models/schema.ts';
import { type CollectorStack, openCollectorStack, until } from '../collector-stack.ts';
import { DyingProcess } from '../dying-process.ts';
import { TOKEN, worldAds } from './archive-stack.ts';

/** With fewer counted points the test does not see the commits. */
const POINTS_MIN = 8;
const POINTS_MAX = 60;
const SHARED = '10000003';

const resources = new AsyncDisposableStack();
let stack: CollectorStack;
let world: ArchiveWorld;
let access: Pick<
  ArchiveRunner,
  'vault' | 'origin' | 'version' | 'appSecret' | 'countries' | 'reached' | 'callsPerHour' | 'wait'
>;
beforeAll(async () => {
  stack = resources.use(await openCollectorStack());
  await inTransaction(stack.database, async (client) => {
    await createTables(client, brands, 'brands');
    await createTables(client, socialPages, 'social_pages');
  });
  access = {
    vault: await openSecretVault(stack.database, Buffer.alloc(32, 7).toString('base64')),
    origin: 'https://graph.facebook.com',
    version: 'v24.0',
    appSecret: null,
    countries: ['DE', 'FR'],
    reached: false,
    callsPerHour: 150,
    wait: async (ms) => {
      stack.nowMs += ms;
    },
  };
});
afterAll(() => resources.disposeAsync());
beforeEach(async () => {
  await stack.database.query(
    `truncate collecting.target, collecting.account, collecting.archive_batch, collecting.archive_page,
       collecting.attempt, collecting.spool, brands.brand, social_pages.link`,
  );
  world = createArchiveWorld(() => new Date(stack.nowMs));
  world.percentPerCall = 0;
  world.tokens.add(TOKEN);
  stack.played.sites.set(
    'graph.facebook.com',
    (path, { headers }) => world.answer({ path, authorization: headers.authorization }) ?? undefined,
  );
  await storeToken(stack.database, access.vault, {
    token: TOKEN,
    expiresAt: null,
    now: new Date(stack.nowMs),
  });
});

const link = async (domain: string, ...pageIds: readonly string[]): Promise<void> => {
  const id = randomUUID();
  await stack.database.query('insert into brands.brand (brand_id, domain) values ($1, $2)', [id, domain]);
  await stack.database.query(
    'insert into social_pages.link (social_page_id, brand_id) select unnest($2::text[]), $1',
    [id, pageIds],
  );
};
const wish = (domain: string): Promise<void> =>
  recordWish(stack.database, {
    source: 'ads_archive',
    domain,
    cadence: 'daily',
    at: new Date(stack.nowMs),
    isUrgent: true,
  });
const start = (more: Partial<typeof access> = {}): AsyncDisposable =>
  stack.start({ archive: { ...access, ...more, databaseUrl: stack.databaseUrl } });

type Scan = {
  readonly complete: boolean;
  readonly pages: readonly string[];
  readonly ads: readonly string[];
};
const scansOf = async (domain: string): Promise<readonly Scan[]> => {
  const all: readonly Observation[] = await stack.observations();
  return all.flatMap((end) => {
    if (end.type !== 'ad_library.scan_end' || end.brand_domain !== domain) return [];
    const ads = all.flatMap((one) =>
      one.type === 'ad_library.scan' && one.scan_id === end.scan_id ? one.ads.map(({ ad_id }) => ad_id) : [],
    );
    const { complete, pages } = end.coverage;
    return [{ complete, pages: pages.map(({ page_id }) => page_id), ads }];
  });
};
const idsOf = (...pageIds: readonly string[]): readonly string[] =>
  world.ads
    .filter(({ pageId }) => pageIds.includes(pageId))
    .map(({ id }) => id)
    .toSorted();

const endAd = (index: number): void => {
  const ad = world.ads[index];
  if (ad === undefined) throw new Error(`The world has no ad ${index}.`);
  world.ads[index] = { ...ad, stoppedOn: utcDateOfMs(stack.nowMs) };
};

test('the forecast counts the batches that the collector makes, and matches its calls', async () => {
  for (const index of Array.from({ length: 12 }).keys()) {
    const pageIds = [String(30_000_001 + 2 * index), String(30_000_002 + 2 * index)];
    await link(`plan-${index}.example`, ...pageIds);
    for (const pageId of pageIds) world.ads.push(...worldAds(pageId, 5, Number(pageId)));
    await wish(`plan-${index}.example`);
  }
  await wish('unlinked.example');
  const now = new Date(stack.nowMs);
  // Two batches of five brands and one of two. Without a scan before, no call asks for ended ads.
  expect(await planArchive(stack.database, now, 150)).toMatchObject({
    source: 'ads_archive',
    targets: 12,
    callsPerRound: 3 * 2.5,
    late: [],
  });
  await using _ = start();
  for (const index of Array.from({ length: 12 }).keys()) await stack.attempt(`plan-${index}.example`);
  expect(world.calls).toHaveLength(3 * 2);
  const after = await planArchive(stack.database, now, 150);
  expect(after).toMatchObject({ callsPerRound: 3 * 3.5 });
  const slow = await planArchive(stack.database, new Date(stack.nowMs + 2 * DAY_MS), 0.01);
  expect(slow?.late).toContain('plan-0.example');
});

describe('due brands', () => {
  test('are read in one batch, each page once, and a shared page is sent with each of its brands', async () => {
    await link('first.example', '10000001', SHARED);
    await link('second.example', '10000002', SHARED);
    world.ads.push(
      ...worldAds('10000001', 30, 0),
      ...worldAds('10000002', 20, 1_000),
      ...worldAds(SHARED, 10, 2_000),
    );
    for (const domain of ['first.example', 'second.example', 'unlinked.example']) await wish(domain);
    await using _ = start();
    expect((await stack.attempt('first.example')).outcome).toBe('complete');
    expect((await stack.attempt('second.example')).outcome).toBe('complete');
    expect(await stack.attempt('unlinked.example')).toEqual({
      outcome: 'no_pages',
      detail: 'no social page is linked to the brand',
    });
    expect(await scansOf('first.example')).toEqual([
      { complete: true, pages: ['10000001', SHARED], ads: idsOf('10000001', SHARED) },
    ]);
    expect((await scansOf('second.example'))[0]?.ads).toEqual(idsOf('10000002', SHARED));
    expect(world.calls).toHaveLength(2);
    const { due_at } = await stack.target('first.example');
    expect(due_at.getTime()).toBeGreaterThan(stack.nowMs + 20 * HOUR_MS);
    const { rows } = await stack.database.query(
      `select (select count(*)::int from collecting.archive_batch) as batches, (select count(*)::int from collecting.spool) as pages,
         (select json_object_agg(social_page_id, ads) from collecting.archive_page) as ads`,
    );
    expect(rows).toEqual([{ batches: 0, pages: 0, ads: { '10000001': 30, '10000002': 20, [SHARED]: 10 } }]);
  });

  test('are asked for ended ads from the second scan on', async () => {
    await link('ended.example', '10000001');
    world.ads.push(...worldAds('10000001', 3, 0));
    await wish('ended.example');
    await using running = new AsyncDisposableStack();
    const first = running.use(start());
    expect((await stack.attempt('ended.example')).outcome).toBe('complete');
    await first[Symbol.asyncDispose]();
    stack.nowMs += 2 * DAY_MS;
    const [ended, ...rest] = world.ads;
    const stoppedOn = new Date(stack.nowMs - DAY_MS).toISOString().slice(0, 10);
    if (ended !== undefined) world.ads.splice(0, world.ads.length, { ...ended, stoppedOn }, ...rest);
    running.use(start());
    expect((await stack.attempt('ended.example', 2)).outcome).toBe('complete');
    const shown = (await stack.observations()).flatMap((one) =>
      one.type === 'ad_library.scan' && one.brand_domain === 'ended.example' ? one.ads : [],
    );
    expect(shown.filter(({ is_active }) => is_active === false)).toMatchObject([
      { ad_id: ended?.id, stopped_on: stoppedOn },
    ]);
  });

  test('are asked for ads that ended since their first scan, also when it was partial', async () => {
    await link('partial.example', '10000001');
    world.ads.push(...worldAds('10000001', 3, 0));
    world.faults.loops = true;
    await wish('partial.example');
    await using _ = start();
    expect((await stack.attempt('partial.example')).outcome).toBe('partial');
    world.faults.loops = false;
    endAd(0);
    stack.nowMs += 2 * DAY_MS;
    await stack.wish('partial.example', 'daily', 'ads_archive');
    expect((await stack.attempt('partial.example', 2)).outcome).toBe('complete');
    expect((await scansOf('partial.example')).at(-1)?.ads.toSorted()).toEqual(idsOf('10000001'));
  });

  test('are asked again for ended ads that could not be read', async () => {
    await link('fault.example', '10000001');
    world.ads.push(...worldAds('10000001', 3, 0));
    await using _ = start();
    const scan = async (n: number): Promise<string> => {
      await stack.wish('fault.example', 'weekly', 'ads_archive');
      const { outcome, detail } = await stack.attempt('fault.example', n);
      return `${outcome}: ${detail}`;
    };
    expect(await scan(1)).toMatch(/^complete: 3 ads$/);
    stack.nowMs += DAY_MS;
    world.ads.push(...worldAds('10000001', 1, 100));
    for (const index of [0, 3]) endAd(index);
    stack.nowMs += 6 * DAY_MS;
    const refused = Array.from({ length: 5 }, () => ({ kind: 'error', code: 2 }) as const);
    world.faults.next = [null, null, ...refused];
    expect(await scan(2)).toMatch(/^complete: 2 ads; ended ads were not read/);
    stack.nowMs += 7 * DAY_MS;
    expect(await scan(3)).toMatch(/^complete: 4 ads$/);
    expect((await scansOf('fault.example')).at(-1)?.ads.toSorted()).toEqual(idsOf('10000001'));
  });

  test('are asked for ads of a refused page that ended since its last complete scan, when it is read again', async () => {
    await link('again.example', '10000001', '10000002');
    world.ads.push(...worldAds('10000001', 3, 0), ...worldAds('10000002', 3, 1_000));
    await using _ = start();
    const scan = async (n: number): Promise<string> => {
      await stack.wish('again.example', 'daily', 'ads_archive');
      return (await stack.attempt('again.example', n)).outcome;
    };
    expect(await scan(1)).toBe('complete');
    world.faults.refused.add('10000002');
    stack.nowMs += DAY_MS;
    expect(await scan(2)).toBe('complete');
    endAd(3);
    stack.nowMs += 10 * DAY_MS;
    expect(await scan(3)).toBe('complete');
    world.faults.refused.clear();
    await retryTargets(stack.database, 'again.example', null, new Date(stack.nowMs));
    expect(await scan(4)).toBe('complete');
    const scans = await scansOf('again.example');
    expect(scans.map(({ pages }) => pages.length)).toEqual([2, 1, 1, 2]);
    expect(scans.at(-1)?.ads.toSorted()).toEqual(idsOf('10000001', '10000002'));
  });

  test('wait while the token is refused, and are partial after six hours', async () => {
    await link('refused.example', '10000001');
    world.ads.push(...worldAds('10000001', 600, 0));
    const message = `\0${'x'.repeat(298)}😀`;
    world.faults.next = [null, { kind: 'error', code: 190, message }];
    await wish('refused.example');
    await using running = new AsyncDisposableStack();
    const first = running.use(start());
    expect((await stack.attempt('refused.example')).outcome).toBe('refused');
    expect((await readAccount(stack.database, new Date(stack.nowMs)))?.state.access.kind).toBe('off');
    await first[Symbol.asyncDispose]();
    stack.nowMs += 7 * HOUR_MS;
    running.use(start());
    expect((await stack.attempt('refused.example', 2)).outcome).toBe('partial');
    expect(await scansOf('refused.example')).toMatchObject([{ complete: false, ads: { length: 250 } }]);
    expect(world.calls).toHaveLength(2);
  });

  test('go on with a new token where the refused one stopped, and are partial', async () => {
    await link('renewed.example', '10000001');
    world.ads.push(...worldAds('10000001', 600, 0));
    world.faults.next = [null, { kind: 'error', code: 190 }];
    await wish('renewed.example');
    await using _ = start();
    expect((await stack.attempt('renewed.example')).outcome).toBe('refused');
    const token = `${TOKEN}new`;
    world.tokens.clear();
    world.tokens.add(token);
    await storeToken(stack.database, access.vault, { token, expiresAt: null, now: new Date(stack.nowMs) });
    stack.nowMs += HOUR_MS;
    await stack.wish('renewed.example', 'daily', 'ads_archive');
    expect((await stack.attempt('renewed.example', 2)).outcome).toBe('partial');
    expect(await scansOf('renewed.example')).toMatchObject([{ complete: false, ads: { length: 600 } }]);
    // The first answer is not asked for again: the new token goes on at its cursor.
    expect(world.calls).toHaveLength(5);
  });

  test('show the countries that each ad reached, and no number of people, where that is asked for', async () => {
    await link('reached.example', '10000001');
    world.ads.push(...worldAds('10000001', 3, 0));
    await wish('reached.example');
    await using _ = start({ reached: true });
    expect((await stack.attempt('reached.example')).outcome).toBe('complete');
    const shown = (await stack.observations()).filter(
      (one) => one.type === 'ad_library.scan' && one.brand_domain === 'reached.example',
    );
    expect(shown).toMatchObject([{ ads: Array.from({ length: 3 }, () => ({ countries: ['DE', 'FR'] })) }]);
    expect(JSON.stringify(shown)).not.toMatch(/4711471|male|reach_/);
  });

  test('are shared by the accounts of two apps, and read by one when the other is refused', async () => {
    const second = `${TOKEN}ofthesecondapp`;
    world.tokens.add(second);
    const token = { token: second, expiresAt: null, now: new Date(stack.nowMs), name: 'second' };
    const app = { appId: '1000002', appSecret: 'secret_of_the_second_app' };
    await storeToken(stack.database, access.vault, { ...token, ...app });
    await expect(requireOtherApp(stack.database, 'third', app.appId)).rejects.toThrow('adds nothing');
    const used: { readonly isSecond: boolean; readonly hasProof: boolean }[] = [];
    stack.played.sites.set('graph.facebook.com', (path, { headers }) => {
      const isSecond = headers.authorization === `Bearer ${second}`;
      used.push({ isSecond, hasProof: path.includes('appsecret_proof=') });
      return world.answer({ path, authorization: headers.authorization }) ?? undefined;
    });
    const brandOf = async (n: number): Promise<string> => {
      const domain = `brand-${n}.example`;
      // A batch has ten pages.
      const pageIds = Array.from({ length: 10 }, (_, page) => String(40_000_000 + n * 100 + page));
      await link(domain, ...pageIds);
      world.ads.push(...worldAds(pageIds[0] as string, 5, n * 1_000));
      await wish(domain);
      return domain;
    };
    const first = [await brandOf(1), await brandOf(2), await brandOf(3), await brandOf(4)];
    await using _ = start();
    for (const domain of first) expect((await stack.attempt(domain)).outcome).toBe('complete');
    expect(used).toHaveLength(4 * 2);
    expect(new Set(used.map(({ isSecond }) => isSecond)).size).toBe(2);
    expect(used.every(({ isSecond, hasProof }) => isSecond === hasProof)).toBe(true);
    const counted = await collectorCalls.get();
    const pages = counted.values.filter(({ labels }) => labels.answer === 'page');
    expect(pages.map(({ labels }) => labels.account)).toEqual(expect.arrayContaining(['default', 'second']));
    world.tokens.delete(TOKEN);
    const next = [await brandOf(5), await brandOf(6)];
    await stack.wish(next[0] as string, 'daily', 'ads_archive');
    const outcomes: string[] = [];
    for (const domain of next) outcomes.push((await stack.attempt(domain)).outcome);
    if (outcomes.includes('refused')) {
      const account = await readAccount(stack.database, new Date(stack.nowMs));
      expect(account?.state.access.kind).toBe('off');
    }
    const last = await brandOf(7);
    await stack.wish(last, 'daily', 'ads_archive');
    expect((await stack.attempt(last)).outcome).toBe('complete');
    expect(await readLibraryAccounts(stack.database, new Date(stack.nowMs))).toMatchObject([
      { account: 'default' },
      { account: 'second', state: 'open', warning: null },
    ]);
  });

  test('are looked at each day where a round of scans does not fit into the calls, until an answer is not newest first', async () => {
    const domain = 'looked.example';
    await link(domain, '10000001');
    world.ads.push(...worldAds('10000001', 40, 100));
    await wish(domain);
    await using running = new AsyncDisposableStack();
    const first = running.use(start());
    expect((await stack.attempt(domain)).outcome).toBe('complete');
    await first[Symbol.asyncDispose]();
    // A scan takes 3.5 calls, and a day has less than three.
    running.use(start({ callsPerHour: 0.1 }));
    await stack.database.query('update collecting.target set due_at = $1', [
      new Date(stack.nowMs + 300 * DAY_MS),
    ]);
    const newest = (n: number): void => {
      const [ad] = worldAds('10000001', 1, 200 + n);
      if (ad !== undefined) world.ads.push({ ...ad, createdSeconds: ad.createdSeconds + 1_000 + n });
    };
    const dayLater = async (attempts: number): Promise<string | null> => {
      stack.nowMs += 1.1 * DAY_MS;
      const { outcome, detail } = await stack.attempt(domain, attempts);
      expect(outcome).toBe('look');
      return detail;
    };
    newest(1);
    newest(2);
    // An ad that ended is missing from the answer, and a look says nothing about it.
    world.ads.splice(0, 1);
    const before = world.calls.length;
    expect(await dayLater(2)).toBe('2 new ads');
    expect(world.calls.length - before).toBe(1);
    const [, look] = await scansOf(domain);
    expect(look).toEqual({
      complete: false,
      pages: ['10000001'],
      ads: ['900000000000201', '900000000000202'],
    });
    const { due_at } = await stack.target(domain);
    expect(due_at.getTime()).toBeGreaterThan(stack.nowMs + 200 * DAY_MS);
    // Newest by creation, but with start dates that ascend.
    for (const [index, ad] of world.ads.entries()) {
      const startedOn = `2026-04-${String(1 + (index % 28)).padStart(2, '0')}`;
      world.ads[index] = { ...ad, startedOn };
    }
    await dayLater(3);
    const { rows } = await stack.database.query<{ off: boolean }>(
      'select looks_off_until > $1 as off from collecting.account',
      [new Date(stack.nowMs)],
    );
    expect(rows).toEqual([{ off: true }]);
  });

  test('are read by one of two collectors, each page once, and by the other when that one has stopped', async () => {
    const domains = Array.from({ length: 12 }, (_, index) => `two-${index}.example`);
    for (const [index, domain] of domains.entries()) {
      const pageId = String(40_000_001 + index);
      await link(domain, pageId);
      world.ads.push(...worldAds(pageId, 5, Number(pageId)));
    }
    await using collectors = new AsyncDisposableStack();
    const running = [collectors.use(start()), collectors.use(start())];
    for (const n of [1, 2]) {
      const before = world.calls.length;
      for (const domain of domains) await stack.wish(domain, 'daily', 'ads_archive');
      for (const domain of domains) expect((await stack.attempt(domain, n)).outcome).toBe('complete');
      const asked = world.calls.slice(before).filter(({ path }) => path.includes('ad_active_status=ACTIVE'));
      const firsts = asked.filter(({ path }) => !path.includes('after='));
      const pageIds = firsts.flatMap(({ path }): readonly string[] => {
        const { searchParams } = new URL(path, 'https://graph.facebook.com');
        return searchParams.get('search_page_ids')?.match(/\d+/g) ?? [];
      });
      expect(pageIds.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
        domains.map((_, index) => String(40_000_001 + index)),
      );
      await running[n - 1]?.[Symbol.asyncDispose]();
      stack.nowMs += DAY_MS;
    }
    for (const domain of domains) expect(await scansOf(domain)).toHaveLength(2);
  });

  test('are read without a page that the library refuses, until it is asked for again', async () => {
    await link('part.example', '10000001', '10000002');
    await link('whole.example', '10000002');
    world.ads.push(...worldAds('10000001', 3, 0), ...worldAds('10000002', 3, 1_000));
    world.faults.refused.add('10000002');
    for (const domain of ['part.example', 'whole.example']) await wish(domain);
    await using _ = start();
    expect((await stack.attempt('part.example')).outcome).toBe('complete');
    expect((await stack.attempt('whole.example')).outcome).toBe('refused');
    const refusals = (): number => world.calls.filter(({ path }) => path.includes('10000002')).length;
    const before = refusals();
    stack.nowMs += DAY_MS;
    for (const domain of ['whole.example', 'part.example']) await stack.wish(domain, 'daily', 'ads_archive');
    const part = await stack.attempt('part.example', 2);
    expect(part).toMatchObject({
      outcome: 'complete',
      detail: expect.stringMatching(/^paused pages: 10000002; 3 ads/),
    });
    const whole = await stack.attempt('whole.example', 2);
    expect(whole).toMatchObject({
      outcome: 'refused',
      detail: expect.stringMatching(/10000002 is paused: .*code 100/),
    });
    expect(refusals()).toBe(before);
    world.faults.refused.clear();
    await retryTargets(stack.database, 'whole.example', null, new Date(stack.nowMs));
    await stack.wish('whole.example', 'daily', 'ads_archive');
    expect((await stack.attempt('whole.example', 3)).outcome).toBe('complete');
    expect(await scansOf('whole.example')).toMatchObject([{ complete: true, pages: ['10000002'] }]);
  });

  test('are never due for a retry next to a page that is still paused', async () => {
    await link('whole.example', '10000002');
    world.faults.refused.add('10000002');
    await wish('whole.example');
    {
      await using _ = start();
      expect((await stack.attempt('whole.example')).outcome).toBe('refused');
    }
    const at = new Date(stack.nowMs);
    const states: { due: boolean; paused: boolean }[] = [];
    const watched = {
      query: async (sql: string, values: unknown[]) => {
        const result = await stack.database.query(sql, values);
        const { rows } = await stack.database.query<{ due: boolean; paused: boolean }>(
          `select due_at <= $1 as due, paused_at is not null as paused
           from collecting.target, collecting.archive_page`,
          [at],
        );
        states.push(...rows);
        return result;
      },
    };
    await retryTargets(watched as unknown as Database, 'whole.example', null, at);
    expect(states).toContainEqual({ due: true, paused: false });
    expect(states).not.toContainEqual({ due: true, paused: true });
  });

  test('are not read with fewer countries than before', async () => {
    await link('fewer.example', '10000001');
    await wish('fewer.example');
    await stack.database.query(`update collecting.account set countries = '{DE,GB}'`);
    const lines: string[] = [];
    const ended = new AbortController();
    const egress = openEgress({ allowLoopback: true });
    await using _ = egress;
    const log = {
      ...silentLog(),
      warn: (fields: { reason?: string }) => {
        lines.push(fields.reason ?? '');
        ended.abort();
      },
    } as unknown as ArchiveRunner['log'];
    await using db = openReadDatabase(stack.databaseUrl);
    const { database, nats, played } = stack;
    const route = { egress, via: played.origin };
    const clock = { now: () => new Date(stack.nowMs) };
    const runner = {
      ...access,
      database,
      db,
      nats,
      route,
      userAgent: 'test',
      clock,
      log,
      signal: ended.signal,
    };
    await runArchive(runner, createWakeSignal());
    expect(lines).toEqual([expect.stringContaining('may only grow: GB')]);
    expect(world.calls).toEqual([]);
  });
});

test('a leader that is killed at any commit leaves what the next one publishes once, with the same bytes', async () => {
  await using db = openReadDatabase(stack.databaseUrl);
  await using egress = openEgress({ allowLoopback: true });
  const clock = { now: () => new Date(stack.nowMs) };
  const run = async (domain: string, dying: DyingProcess, messages: Map<string, string>): Promise<void> => {
    const done = new AbortController();
    const running = runArchive(
      {
        ...access,
        database: dying.database(stack.database),
        db,
        nats: dying.jetstream(stack.nats, messages),
        route: { egress, via: stack.played.origin },
        userAgent: 'test',
        clock,
        log: silentLog(),
        signal: AbortSignal.any([dying.ended.signal, done.signal]),
      },
      createWakeSignal(),
    );
    await until(`the end of ${domain}`, async () => {
      if (dying.isDead) return true;
      const { rows } = await stack.database.query('select 1 from collecting.attempt where domain = $1', [
        domain,
      ]);
      return rows.length > 0 ? true : null;
    });
    done.abort();
    await running;
  };
  let points = 0;
  for (; points < POINTS_MAX; points += 1) {
    const domain = `point-${points + 1}.example`;
    const pageId = String(20_000_000 + points);
    await link(domain, pageId);
    world.ads.splice(0, world.ads.length, ...worldAds(pageId, 260, points * 1_000));
    const messages = new Map<string, string>();
    await wish(domain);
    const dying = new DyingProcess(points + 1);
    await run(domain, dying, messages);
    if (dying.isDead) {
      // The next leader starts at another time, but the scan has the time of the batch.
      stack.nowMs += HOUR_MS;
      await run(domain, new DyingProcess(Number.POSITIVE_INFINITY), messages);
    }
    const ads = idsOf(pageId);
    expect(await scansOf(domain), domain).toEqual([{ complete: true, pages: [pageId], ads }]);
    const { rows } = await stack.database.query(
      `select outcome, (select count(*)::int from collecting.archive_batch) as batches
       from collecting.attempt where domain = $1`,
      [domain],
    );
    expect(rows, domain).toEqual([{ outcome: 'complete', batches: 0 }]);
    if (!dying.isDead) break;
  }
  expect(points).toBeGreaterThan(POINTS_MIN);
  expect(points).toBeLessThan(POINTS_MAX);
});
