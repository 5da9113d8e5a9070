import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { type ArchiveWorld, createArchiveWorld } from '#deploy/local/world/archive-world.ts';
import { planArchive } from '#application/collecting/plan-archive.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { silentLog } from '#platform/logger.ts';
import { inTransaction, openReadDatabase } from '#platform/postgres/pool.ts';
import { brands } from '#projections/brands/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { readAccount, storeToken } from '#services/collector/ads-archive/account-store.ts';
import { type ArchiveRunner, runArchive } from '#services/collector/ads-archive/run-batches.ts';
import { recordWish } from '#services/collector/schedule/target-store.ts';
import { createTables } from '#services/projector/read-model-schema.ts';
import { type CollectorStack, openCollectorStack, until } from '../collector-stack.ts';
import { DyingProcess } from '../dying-process.ts';
import { TOKEN, worldAds } from './archive-stack.ts';

/** Points that a reading passes at least; a test that counts fewer does not see the commits. */
const POINTS_MIN = 8;
const POINTS_MAX = 60;
/** Page that two brands share. */
const SHARED = '10000003';

const resources = new AsyncDisposableStack();
let stack: CollectorStack;
let world: ArchiveWorld;
let access: Pick<
  ArchiveRunner,
  'vault' | 'origin' | 'version' | 'appSecret' | 'countries' | 'callsPerHour' | 'wait'
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

/** Adds a brand with linked pages to the read models. */
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
const start = (): AsyncDisposable => stack.start({ archive: { ...access, databaseUrl: stack.databaseUrl } });

type Scan = {
  readonly complete: boolean;
  readonly pages: readonly string[];
  readonly ads: readonly string[];
};
/** Returns the library scans of a brand, oldest first. */
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
  expect(await planArchive(stack.database, now)).toMatchObject({
    source: 'ads_archive',
    targets: 12,
    callsPerRound: 3 * 2.5,
    late: [],
  });
  await using _ = start();
  for (const index of Array.from({ length: 12 }).keys()) await stack.attempt(`plan-${index}.example`);
  expect(world.calls).toHaveLength(3 * 2);
  const after = await planArchive(stack.database, now);
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

  test('wait while the token is refused, and are partial after six hours', async () => {
    await link('refused.example', '10000001');
    world.ads.push(...worldAds('10000001', 600, 0));
    world.faults.next = [null, { kind: 'error', code: 190 }];
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
