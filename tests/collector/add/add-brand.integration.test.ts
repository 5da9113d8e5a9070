import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { type ArchiveWorld, createArchiveWorld, type WorldAd } from '#tests/world/archive-world.ts';
import { answerSite } from '#tests/world/site-world.ts';
import { WHOLE, createRunTables } from '#platform/postgres/lease/leases.ts';
import { ROW_LEASE_MS } from '#platform/postgres/lease/row-lease.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { brands } from '#projections/brands/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { readAccount, saveAccountState, storeToken } from '#services/collector/ads-archive/account-store.ts';
import { createTables } from '#application/read-models/schema.ts';
import { type HostedCommands, openHostedCommands } from '#tests/ops/fixtures/hosted-commands.ts';
import { CONTACT, type CollectorStack, openCollectorStack } from '../collector-stack.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');
const TOKEN = 'EAAaddtokenaddtokenaddtokenadd';
const DOMAIN = 'shop.example';
const DECISION = '1 pages need your decision. Link one with: collect link shop.example PAGE_ID';
const SITE = {
  domain: DOMAIN,
  name: 'The Shop',
  description: 'Things',
  company: 'Shop GmbH',
  country: 'DE',
  scripts: [],
  products: ['shoe'],
};

let stack: CollectorStack;
let world: ArchiveWorld;
let commands: HostedCommands;
beforeAll(async () => {
  commands = openHostedCommands({ program: 'collect' });
  stack = await openCollectorStack();
  await inTransaction(stack.database, async (client) => {
    await createTables(client, brands, 'brands');
    await createTables(client, socialPages, 'social_pages');
  });
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stack.database.query(
    `truncate collecting.target, collecting.account, collecting.batch, collecting.spool, collecting.page_proposal,
       brands.brand, social_pages.link`,
  );
  stack.played.sites.set(DOMAIN, (path) => answerSite(SITE, { path }) ?? undefined);
  world = createArchiveWorld(() => new Date());
  world.tokens.add(TOKEN);
  stack.played.sites.set(
    'graph.facebook.com',
    (path, { headers }) => world.answer({ path, authorization: headers.authorization }) ?? undefined,
  );
});

type Ended = { readonly code: number; readonly out: string; readonly error: string };

const environmentOf = () => ({
  DATABASE_URL: stack.databaseUrl,
  NATS_URL: stack.natsUrl,
  DATA_DIR: '/nonexistent',
  MEMBER_VAULT_KEY: VAULT_KEY,
  COLLECT_CONTACT: CONTACT,
  COLLECT_SOURCES: 'storefront,site',
  COLLECT_VIA: stack.played.origin,
  // The default pace has 24 seconds between two calls.
  ADS_ARCHIVE_CALLS_PER_HOUR: '10000',
  EGRESS_ALLOW_LOOPBACK: 'true',
});

const collect = async (...args: readonly string[]): Promise<Ended> => {
  const { code, stdout, stderr } = await commands.run(args, environmentOf());
  return { code, out: stdout, error: stderr };
};

const startAlone = (...args: readonly string[]) => {
  const ended = Promise.withResolvers<Ended>();
  const env = { ...inheritedEnvironment(), ...environmentOf() };
  const child = execFile(
    process.execPath,
    ['services/collector/cli.ts', ...args],
    { cwd: ROOT, env },
    (_error, out, error) => ended.resolve({ code: child.exitCode ?? -1, out, error }),
  );
  return { child, ended: ended.promise };
};
const collectAlone = (...args: readonly string[]): Promise<Ended> => startAlone(...args).ended;
const json = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
  const { code, out, error } = await collect('--json', ...args);
  expect({ code, error: code === 0 ? '' : error }).toEqual({ code: 0, error: '' });
  return JSON.parse(out) as Record<string, unknown>;
};

const storeTestToken = async (): Promise<void> =>
  storeToken(stack.database, await openSecretVault(stack.database, VAULT_KEY), {
    token: TOKEN,
    expiresAt: null,
    now: new Date(),
  });

const ads = (pageId: string, pageName: string, count: number, caption = DOMAIN): readonly WorldAd[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `9000${pageId}${index}`,
    pageId,
    pageName,
    createdSeconds: 1_770_000_000 + index,
    startedOn: '2026-04-01',
    stoppedOn: null,
    bodies: ['Buy at The Shop'],
    titles: ['Title'],
    caption,
    countries: ['DE'],
  }));

/** Links a page in the read models, as ingest and the projector do. */
const showLink = async (pageId: string): Promise<void> => {
  const id = randomUUID();
  await stack.database.query('insert into brands.brand (brand_id, domain) values ($1, $2)', [id, DOMAIN]);
  await stack.database.query('insert into social_pages.link (social_page_id, brand_id) values ($1, $2)', [
    pageId,
    id,
  ]);
};
const sources = async (): Promise<readonly string[]> => {
  const { rows } = await stack.database.query<{ source: string }>(
    'select source from collecting.target where domain = $1 order by source',
    [DOMAIN],
  );
  return rows.map(({ source }) => source);
};

test('without a token the site and the shop are read, and a sentence says how to get one', async () => {
  const { out, error } = await collectAlone('add', 'https://www.shop.example/');
  expect(error).toContain('Reading the site of shop.example');
  expect(out).toMatch(/^shop\.example \(The Shop\)\n/);
  expect(out).toMatch(/site +complete +5 of 5 pages/);
  expect(out).toMatch(/storefront +no_catalogue/);
  expect(out).toContain('collect token set < token.txt');
  expect(await sources()).toEqual(['site', 'storefront']);
  const types = (await stack.observations()).map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['brand.profile', 'site.scan', 'operator.record']));
}, 240_000);

test('a command that Ctrl-C interrupts says so, and the next one goes on at once where it stopped', async () => {
  const asked = Promise.withResolvers<void>();
  stack.played.sites.set(DOMAIN, (path) => {
    if (!path.startsWith('/products/')) return answerSite(SITE, { path }) ?? undefined;
    asked.resolve();
    return () => undefined;
  });
  const { child, ended } = startAlone('add', DOMAIN);
  await asked.promise;
  child.kill('SIGINT');
  const { code, out, error } = await ended;
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toMatch(/\nInterrupted\. What was read is kept\. Repeat the command to go on\.\n$/);
  stack.played.sites.set(DOMAIN, (path) => answerSite(SITE, { path }) ?? undefined);
  const before = stack.played.requests.length;
  const started = performance.now();
  expect(await json('add', DOMAIN)).toMatchObject({ sources: [{ source: 'site', outcome: 'complete' }, {}] });
  expect(performance.now() - started).toBeLessThan(ROW_LEASE_MS / 2);
  expect(stack.played.requests.slice(before)).not.toContain(`${DOMAIN} /`);
}, 240_000);

test('a command after a killed one waits for its lease to end, and reads the site', async () => {
  await stack.database.query(
    `insert into collecting.target (source, domain, cadence, wished_at, due_at, lease_owner, lease_until)
     values ('site', $1, 'daily', now(), now(), 'killed', now() + interval '3 seconds')`,
    [DOMAIN],
  );
  const { out, error } = await collect('add', DOMAIN);
  expect(error).toContain('Another process reads the site of shop.example');
  expect(out).toMatch(/site +complete +5 of 5 pages/);
}, 240_000);

test('a paused source is named with its reason, and not read', async () => {
  await stack.database.query(
    `insert into collecting.target (source, domain, cadence, wished_at, due_at, paused)
     values ('site', $1, 'daily', now(), now(), 'asked by the shop')`,
    [DOMAIN],
  );
  expect(await json('add', DOMAIN)).toMatchObject({
    sources: [
      {
        source: 'site',
        outcome: 'paused',
        detail: 'asked by the shop; end it with: collect resume shop.example',
      },
      { source: 'storefront', outcome: 'no_catalogue' },
    ],
  });
}, 240_000);

describe('with a token', () => {
  beforeEach(storeTestToken);

  test('pages are proposed, the certain one is linked, and the other waits for `link`', async () => {
    world.ads.push(
      ...ads('10001', 'the shop', 3),
      ...ads('10002', 'Fan Page', 5),
      ...ads('10003', 'Other', 9, 'other.example'),
    );
    await showLink('10001');
    const added = await json('add', DOMAIN);
    expect(added).toMatchObject({
      domain: DOMAIN,
      name: 'The Shop',
      pages: [
        { page_id: '10002', ads_with_domain: 5, state: 'quarantined' },
        { page_id: '10001', ads_with_domain: 3, state: 'linked' },
      ],
      forecast: { calls_of_first_scan: 4, days_a_round: expect.any(Number) },
      notes: [DECISION, expect.stringMatching(/^No collector reads ads .+,ads_archive\.$/)],
    });
    expect(await sources()).toEqual(['ads_archive', 'site', 'storefront']);
    const links = (await stack.observations()).filter((one) => one.type === 'social_page.link');
    expect(
      links.map(({ page_id, role, confidence, quarantined }) => [page_id, role, confidence, quarantined]),
    ).toEqual([
      ['10002', 'UNVERIFIED', 0.4, true],
      ['10001', 'OFFICIAL', 0.8, false],
    ]);
    const { out } = await collect('link', DOMAIN);
    expect(out).toMatch(/10002 +Fan Page +5 +quarantined/);
    await createRunTables(stack.database);
    await stack.database.query(
      `insert into run.lease (kind, part, owner, epoch, until)
       values ('collector-ads-archive', $1, 'a collector', 1, now() + interval '1 hour')`,
      [WHOLE],
    );
    expect(await json('add', DOMAIN)).toMatchObject({ pages: added['pages'], notes: [DECISION] });
  }, 240_000);

  test('all forecasts count with the allowed calls and all accounts that make any', async () => {
    world.ads.push(...ads('10001', 'The Shop', 3));
    await showLink('10001');
    await stack.database.query(
      `insert into collecting.account (name, token_fingerprint, set_at, expires_at, access) values
         ('second', 'none', now(), now() + interval '60 days', '{"kind":"open"}'),
         ('unused', 'none', now(), now() + interval '60 days', '{"kind":"off","reason":"the token was refused"}')`,
    );
    // 240,002.5 calls: half a day at 10,000 an hour with each of two accounts.
    await stack.database.query(
      `insert into collecting.archive_page (social_page_id, ads, scanned_at) values ('10001', 60000000, now())
       on conflict (social_page_id) do update set ads = excluded.ads`,
    );
    expect(await json('add', DOMAIN)).toMatchObject({ forecast: { days_a_round: 0.5 } });
    const ofArchive = { source: 'ads_archive', calls_an_hour: 20_000, days_a_round: 0.5 };
    const isArchive = ({ source }: Readonly<Record<string, unknown>>): boolean => source === 'ads_archive';
    const planned = (await json('plan')) as unknown as readonly Readonly<Record<string, unknown>>[];
    expect(planned.find(isArchive)).toMatchObject(ofArchive);
    const { plans } = (await json('status')) as { plans: typeof planned };
    expect(plans.find(isArchive)).toMatchObject(ofArchive);
    const supposed = await json('plan', '--pages', '20000', '--ads', '100');
    expect(supposed).toMatchObject([{ calls_an_hour: 10_000, days_a_round: 0.054 }, {}]);
    await stack.database.query('truncate collecting.archive_page');
  }, 240_000);

  test('a page whose name cannot be stored is proposed without one', async () => {
    world.ads.push(...ads('10001', 'The\0Shop\ud83d', 3));
    expect(await json('add', DOMAIN)).toMatchObject({
      pages: [{ page_id: '10001', page_name: null, ads_with_domain: 3, state: 'quarantined' }],
    });
  }, 240_000);

  test('`link` links a page by the decision of an operator', async () => {
    await showLink('10002');
    expect((await collect('link', DOMAIN, '12')).error).toMatch(/^12 is no id of a page/);
    const { out, code } = await collect('link', DOMAIN, '10002');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/10002 .*linked/) });
    const last = (await stack.observations()).findLast((one) => one.type === 'social_page.link');
    expect(last).toMatchObject({ page_id: '10002', role: 'OFFICIAL', confidence: 1, quarantined: false });
    expect(await sources()).toEqual(['ads_archive']);
  }, 240_000);

  test('a brand that advertises elsewhere only gets a plain sentence', async () => {
    world.ads.push(...ads('10001', 'The Shop', 9).map((ad) => ({ ...ad, countries: ['US'] })));
    const { pages, notes } = await json('add', DOMAIN);
    expect(pages).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('such as the United States')]);
    expect(await sources()).toEqual(['site', 'storefront']);
  }, 240_000);

  test('a shut account is a sentence with its time, and nothing is called', async () => {
    const account = await readAccount(stack.database, new Date());
    if (account === null) throw new Error('the token is stored');
    const untilMs = Date.now() + 3_600_000;
    await saveAccountState(
      stack.database,
      account,
      { access: { kind: 'shut', untilMs, times: 1 }, percent: 100 },
      new Date(),
    );
    const { notes, sources: read } = await json('add', DOMAIN);
    expect(notes).toEqual([expect.stringContaining(`until ${new Date(untilMs).toISOString()}`)]);
    expect(read).toMatchObject([{ source: 'site', outcome: 'complete' }, { source: 'storefront' }]);
    expect(world.calls).toEqual([]);
  }, 240_000);
});

test('a domain that is none is refused with one sentence', async () => {
  const { code, error } = await collect('add', 'shop');
  expect({ code, error }).toEqual({
    code: 1,
    error: expect.stringMatching(/^shop is no domain of a brand\. .+\n$/),
  });
}, 240_000);
