import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLANS } from '#contracts/values/access.ts';
import { callTool } from '#services/mcp/calls.ts';
import { TOOLS } from '#services/mcp/tools/register-tools.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { HOSTILE, INJECTION, recordHostileBrand } from './hostile-events.ts';
import { openToolStack, textOf, type ToolStack } from './tool-stack.ts';

/** Before the first event. */
const THEN = '2026-01-01T00:00:00Z';

let opened: ToolStack;
let { ask, call, caller, dependencies, fetch } = {} as ToolStack;
let brands: readonly CorpusBrand[];

beforeAll(async () => {
  opened = await openToolStack();
  ({ ask, call, caller, dependencies, fetch } = opened);
  brands = await opened.stack.seed(['alpha', 'beta']);
  await recordHostileBrand(opened.stack);
});
afterAll(() => opened[Symbol.asyncDispose]());

describe('words of advertisers', () => {
  test('stand under `observed` alone, cut and without invisible characters', async () => {
    const { items } = await ask('find_brands', { q: 'Ignore' });
    expect(items.map(({ slug }) => slug)).toEqual([HOSTILE.slug]);
    const ads = await ask('search_ads', { brand: HOSTILE.slug });
    const { observed } = ads.items[0] as { observed: { body: string } };
    expect(observed.body).toContain(INJECTION);
    // oxlint-disable-next-line no-control-regex
    expect(JSON.stringify(ads)).not.toMatch(/[\u0007\u200B\u202E\u{E0041}]/u);
    expect(Array.from(observed.body)).toHaveLength(301);
    const fetched = await fetch(`ad:${HOSTILE.adId}`);
    expect(fetched.title).not.toContain(INJECTION);
    expect(fetched.text.length).toBeGreaterThan(3_000);
    await ask('get_brand', { brand: HOSTILE.slug, include: ['profile', 'creative_library'] });
    await ask('search', { query: 'Ignore' });
  });
});

test('an older slug names the brand', async () => {
  const { items } = await ask('search_ads', { brand: 'alpha-com' });
  expect(items).toEqual((await ask('search_ads', { brand: 'alpha' })).items);
  expect(items.length).toBeGreaterThan(0);
});

describe('writers', () => {
  test('write to the workspace of the member and may be repeated', async () => {
    const item = { item_type: 'ad', item_key: HOSTILE.adId };
    const [alpha, beta] = brands as [CorpusBrand, CorpusBrand];
    for (let time = 0; time < 2; time += 1) {
      await ask('track_brand', { brand: alpha.slug });
      await ask('track_brand', { brand: beta.id, cadence: 'daily' });
      await ask('save_item', item);
      await ask('write_note', { subject_type: 'ad', subject_key: HOSTILE.adId, text: 'Seen.' });
      await ask('request_report', { from: '2026-01-01', to: '2026-01-31', idempotency_key: 'january' });
    }
    const { sections } = await ask('get_workspace', { include: ['saved', 'notes', 'reports'] });
    for (const name of ['saved', 'notes', 'reports']) expect(sections[name]?.['items'], name).toHaveLength(1);
    expect((await ask('get_workspace', { include: ['tracked_brands'] })).items).toHaveLength(2);
    for (let time = 0; time < 2; time += 1) await ask('untrack_brand', { brand: alpha.slug });
    expect((await ask('get_workspace', { include: ['tracked_brands'] })).items).toHaveLength(1);
  });

  test('a full plan is answered by a sentence that names the limit', async () => {
    await using poor = await openToolStack('free');
    const limit = PLANS.free.slots;
    const more = await poor.stack.seed(Array.from({ length: limit + 1 }, (_, n) => `brand${n}`));
    for (const { id } of more.slice(0, limit)) await poor.ask('track_brand', { brand: id });
    const result = await poor.call('track_brand', { brand: more[limit]?.id });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(new RegExp(`\\b${limit}\\b`));
    expect(textOf(result)).not.toMatch(/Internal error/);
  });
});

describe('bad input', () => {
  test.each([
    ['get_brand', { brand: 'no-such-brand.example' }, /slug|not found/i],
    ['get_brand', { brand: 'no-such-brand' }, /not found.*find_brands/i],
    ['get_brand', { brand: 'alpha', include: [] }, /include/],
    ['find_brands', { cursor: 'altered' }, /start again without a cursor/i],
    ['find_brands', { limit: 26 }, /limit/],
    ['find_brands', { unknown: 1 }, /unknown/i],
    ['fetch', { id: 'ad:1', images: 5 }, /images/],
    ['check_claim', { brand: 'alpha', figure: 'new_ads', comparison: 'equals', value: 1 }, /send `from`/],
    ['check_claim', { brand: 'no.such', figure: 'active_ads', comparison: 'equals', value: 1 }, /not found/i],
    ['rank_brands', { board: 'traffic' }, /needs `country`/],
    ['rank_brands', { board: 'risers', days: 3 }, /days/],
    ['fetch', { id: 'http://169.254.169.254/' }, /must begin with/],
    ['fetch', { id: 'constructor:1' }, /must begin with/],
    ['fetch', { id: 'ad:99900099' }, /not found/i],
    ['search', { query: '\u0000' }, /NUL/],
    ['list_changes', { brand: 'alpha' }, /view `items`/],
    ['list_changes', { as_of: THEN }, /view `items`/],
    ['list_changes', { since: THEN }, /view `differences`/],
    ['list_changes', { view: 'differences' }, /needs `since`/],
    ['list_changes', { view: 'differences', since: THEN, kinds: ['ad_started'] }, /`signals` or `items`/],
    ['list_changes', { view: 'differences', since: '2999-01-01T00:00:00Z' }, /since.*later than now/],
    [
      'get_brand',
      { brand: 'alpha', include: ['coverage'], as_of: THEN },
      /`velocity`.*`proof`.*`coverage` with/,
    ],
    ['get_brand', { brand: 'alpha', as_of: '2999-01-01T00:00:00Z' }, /as_of.*later than now/],
    ['get_brand', { brand: 'alpha', as_of: 'yesterday' }, /as_of/],
    ['get_brand', { brand: 'alpha', as_of: THEN }, /recorded before .*send a moment/],
    ['get_brand', { brand: 'alpha', include: ['proof'] }, /needs `figure`/],
    ['get_brand', { brand: 'alpha', figure: 'active_ads' }, /section `proof`/],
    ['get_brand', { brand: 'alpha', include: ['proof'], figure: 'new_ads' }, /`from`/],
    ['search_ads', { brand: 'alpha', status: 'active', as_of: THEN }, /`brand` alone/],
    ['fetch', { id: 'category:apparel', as_of: THEN }, /`brand:` or `ad:`/],
    ['get_workspace', { as_of: THEN }, /`tracked_brands` alone/],
    ['explore_market', { kind: 'categories', parent: 'no-such-category' }, /explore_market/],
    ['save_item', { item_type: 'brand', item_key: 'x' }, /item_key/],
  ])('%s %j is answered by a sentence', async (name, args, sentence) => {
    const result = await call(name, args);
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toBeUndefined();
    expect(textOf(result)).toMatch(sentence);
    expect(textOf(result)).not.toMatch(/Internal error/);
  });

  test('our own fault is a constant text with the request id', async () => {
    const db = {
      query: () => Promise.reject(new Error('secret host')),
      slow: () => Promise.reject(new Error('slow')),
    };
    const routeOf = () => ({ name: 'standby', db, hasReadPrimary: () => true }) as const;
    const broken = { ...dependencies, readRoutes: { ...dependencies.readRoutes, routeOf } };
    const tool = TOOLS.find(({ name }) => name === 'find_brands');
    if (!tool) throw new Error('no tool');
    const result = await callTool(tool, {}, { caller, requestId: 'request-1', now: Date.now() }, broken);
    expect(textOf(result)).toBe('Internal error. Try again, and report the request id request-1.');
  });
});
