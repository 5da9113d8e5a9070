import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CARD_FIELDS_MAX } from '#services/mcp/output/cards.ts';
import { RESULT_MAX_BYTES } from '#services/mcp/output/fit.ts';
import { callTool } from '#services/mcp/calls/call-tool.ts';
import { sha256Of } from '#application/access/api-key-format.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { TOOLS } from '#services/mcp/tools/index.ts';
import { on } from '../dsl/api.ts';
import { BRAND_IDS, importDemo, prepareBriefs } from '../operations/fixtures/demo-walk.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { BRAND, LISTS, SECTIONS } from './equal-requests.ts';
import { differences, wordsOutsideObserved } from './agreement.ts';
import { HOSTILE, INJECTION, recordHostileBrand } from './hostile-events.ts';

let stack: ApiStack;
let api: FastifyInstance;
let key: Key;
let caller: Caller;
let dependencies: OperationDependencies;

beforeAll(async () => {
  stack = await openApiStack();
  [key, api] = await Promise.all([stack.key({ plan: 'enterprise' }), stack.api()]);
  await importDemo(stack);
  await recordHostileBrand(stack);
  dependencies = stack.operations();
  const found = await dependencies.callers.find(sha256Of(key.text));
  if (!found) throw new Error('no caller');
  caller = found;
  const tracked = BRAND_IDS.slice(0, 6).map((brand) => call('track_brand', { brand }));
  expect((await Promise.all(tracked)).every(({ isError }) => isError !== true)).toBe(true);
  await prepareBriefs(stack);
});
afterAll(() => stack[Symbol.asyncDispose]());

const call = async (name: string, args: object = {}): Promise<CallToolResult> => {
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return callTool(tool, args, { caller, requestId: 'tests', now: Date.now() }, dependencies);
};
const textOf = (result: CallToolResult): string => {
  const [first] = result.content;
  return first?.type === 'text' ? first.text : '';
};
type Content = {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly as_of: string;
  readonly next_cursor?: string;
  readonly notes: readonly string[];
};
/** Calls a tool that must succeed, and checks what holds for every result. */
const ask = async (name: string, args: object = {}): Promise<Content> => {
  const result = await call(name, args);
  expect(result.isError, textOf(result)).toBeUndefined();
  const content = JSON.parse(textOf(result)) as Content & { results?: { text: string }[]; text?: string };
  if (result.structuredContent !== undefined) expect(content).toEqual(result.structuredContent);
  expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(RESULT_MAX_BYTES);
  for (const item of content.items ?? [])
    expect(Object.keys(item).length).toBeLessThanOrEqual(CARD_FIELDS_MAX);
  const opened = {
    ...content,
    results: content.results?.map(({ text }) => JSON.parse(text) as unknown),
    text: content.text === undefined ? null : (JSON.parse(content.text) as unknown),
  };
  expect(wordsOutsideObserved({ ...content, ...opened, title: null }, INJECTION)).toEqual([]);
  return content;
};
const get = (path: string) => on(api).get(path.replace('{ws}', `workspaces/${key.workspaceId}`), { key });

const firstId = async (path: string, field = 'id'): Promise<string> => {
  const { data } = await get(path);
  return String((data as readonly Record<string, unknown>[])[0]?.[field]);
};

describe('lists', () => {
  test.each(LISTS)('%s %j shows the figures and the time of the API', async (name, args, path) => {
    const reply = await get(path);
    const content = await ask(name, args);
    expect(content.items.length, path).toBeGreaterThan(0);
    expect(differences(content.items, reply.data)).toEqual([]);
    if (reply.meta.cursor !== undefined) expect(content.next_cursor).toBeDefined();
    // Workspace replies hold now; those of the corpus have a fixed time.
    if (!path.includes('{ws}')) expect(content.as_of).toBe(reply.meta.as_of);
  });

  test('a category may be named by its slug', async () => {
    const { data } = await get('/v1/brands?limit=1');
    const [brand] = data as { category: { id: string; slug: string } }[];
    const reply = await get(`/v1/brands?category_id=${brand?.category.id}&limit=10`);
    const { items } = await ask('find_brands', { category: brand?.category.slug });
    expect(items.length).toBeGreaterThan(0);
    expect(differences(items, reply.data)).toEqual([]);
  });

  test('a page cut by size continues at the item that was left out', async () => {
    const seen: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 4; page += 1) {
      const content = await ask('search_ads', { limit: 25, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...content.items.map(({ id }) => id));
      cursor = content.next_cursor;
    }
    const { data } = await get('/v1/ads?limit=100');
    expect(seen).toEqual((data as { id: string }[]).slice(0, seen.length).map(({ id }) => id));
    expect(seen.length).toBeGreaterThan(40);
  });

  test('a list that its endpoint returns whole is served in pages', async () => {
    const first = await ask('explore_market', { kind: 'split_tests', limit: 1 });
    const cursor = first.next_cursor ?? '';
    const second = await ask('explore_market', { kind: 'split_tests', limit: 1, cursor });
    const { data } = await get('/v1/split-test-census');
    expect(differences([...first.items, ...second.items], data)).toEqual([]);
    expect(second.items).toHaveLength(1);
  });

  test('tool and audience boards rank the brands of the API', async () => {
    const slug = await firstId('/v1/tools', 'slug');
    const board = await ask('rank_brands', { board: 'tool', tool: slug });
    expect(differences(board.items, (await get(`/v1/tools/${slug}/brands?limit=10`)).data)).toEqual([]);
    const segment = await ask('rank_brands', { board: 'audience', segment: 'majority-female' });
    expect(differences(segment.items, (await get('/v1/audience/majority-female?limit=10')).data)).toEqual([]);
    expect(board.items.length + segment.items.length).toBeGreaterThan(1);
  });
});

describe('get_brand', () => {
  test.each(SECTIONS)('section %s shows the figures of the API', async (name, path) => {
    const reply = await get(`/v1/brands/${BRAND}${path}`);
    const { sections } = await ask('get_brand', { brand: BRAND, include: [name] });
    const { items, as_of: asOf, ...record } = sections[name] ?? {};
    if (reply.status === 404) return expect(sections[name]).toHaveProperty('unavailable');
    expect(differences(items ?? record, reply.data)).toEqual([]);
    if (name !== 'profile') expect(asOf).toBe(reply.meta.as_of);
  });

  test('five sections fit, and are as old as the oldest', async () => {
    const include = ['creative_library', 'store', 'daily_activity', 'network', 'copy_reuse'];
    const { sections, as_of: asOf } = await ask('get_brand', { brand: BRAND, include, weeks: 52, images: 1 });
    expect(Object.keys(sections).toSorted()).toEqual(include.toSorted());
    const times = Object.values(sections).map((section) => String(section['as_of']));
    expect(times.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0]).toBe(asOf);
  });
});

describe('search and fetch', () => {
  test('search returns ids that fetch accepts', async () => {
    const { data } = await get(`/v1/ads?limit=1`);
    const [ad] = data as { body: string }[];
    const query = ad?.body.split(/\W+/).find((word) => word.length > 4) ?? '';
    const { results } = (await ask('search', { query })) as unknown as { results: { id: string }[] };
    expect(results.length).toBeGreaterThan(0);
    for (const { id } of results.slice(0, 2)) {
      const fetched = (await ask('fetch', { id })) as unknown as { id: string; url: string };
      expect(fetched.id).toBe(id);
      expect(fetched.url).toMatch(/^https:/);
    }
  });

  const adWithFiles = async (): Promise<string> => {
    for (const id of BRAND_IDS) {
      const { data } = await get(`/v1/creatives?brand_id=${id}&limit=1`);
      const [file] = data as { ad_id: string }[];
      if (file) return file.ad_id;
    }
    throw new Error('no files in the demo corpus');
  };
  const KINDS: readonly [string, () => Promise<string>, string][] = [
    ['brand', async () => BRAND, '/v1/brands/{id}'],
    ['ad', adWithFiles, '/v1/ads/{id}'],
    ['page', () => firstId('/v1/pages'), '/v1/pages/{id}'],
    ['creative', () => firstId('/v1/creative-records', 'creative_key'), '/v1/creative-records/{id}'],
    ['category', () => firstId('/v1/categories'), '/v1/categories/{id}'],
    ['operator', () => firstId('/v1/operators'), '/v1/operators/{id}'],
    ['tool', () => firstId('/v1/tools', 'slug'), '/v1/tools/{id}'],
    ['brief', () => firstId('/v1/{ws}/briefs'), '/v1/{ws}/briefs/{id}'],
  ];
  test.each(KINDS)('fetch %s shows the record of the API', async (kind, idOf, path) => {
    const id = await idOf();
    const reply = await get(path.replace('{id}', id));
    const fetched = (await ask('fetch', { id: `${kind}:${id}` })) as unknown as {
      text: string;
      metadata: { notes: string[] };
    };
    const { creatives, stats, ...record } = JSON.parse(fetched.text) as Record<string, unknown>;
    expect(differences(record, reply.data)).toEqual([]);
    if (kind === 'ad')
      expect(differences(creatives, (await get(`/v1/ads/${id}/creatives`)).data)).toEqual([]);
    if (kind === 'category')
      expect(differences(stats, (await get(`/v1/categories/${id}/stats`)).data)).toEqual([]);
    const noteOnImages = fetched.metadata.notes.some((note) => note.includes('thumbnail'));
    expect(noteOnImages).toBe(kind === 'ad' || kind === 'creative');
  });
});

describe('words of advertisers', () => {
  test('a hostile brand and its ad are shown under `observed` alone, without invisible characters', async () => {
    const { items } = await ask('find_brands', { q: 'Ignore' });
    expect(items.map(({ slug }) => slug)).toEqual([HOSTILE.slug]);
    const ads = await ask('search_ads', { brand: HOSTILE.slug });
    const { observed } = ads.items[0] as { observed: { body: string } };
    expect(observed.body).toContain(INJECTION);
    // oxlint-disable-next-line no-control-regex
    expect(JSON.stringify(ads)).not.toMatch(/[\u0007\u200B\u202E\u{E0041}]/u);
    expect(Array.from(observed.body)).toHaveLength(301);
    const fetched = (await ask('fetch', { id: `ad:${HOSTILE.adId}` })) as unknown as {
      title: string;
      text: string;
    };
    expect(fetched.title).not.toContain(INJECTION);
    expect(fetched.text.length).toBeGreaterThan(3_000);
    await ask('get_brand', { brand: HOSTILE.slug, include: ['profile', 'creative_library'] });
    await ask('search', { query: 'Ignore' });
  });
});

describe('writers', () => {
  test('write to the workspace of the member and may be repeated', async () => {
    const item = { item_type: 'ad', item_key: HOSTILE.adId };
    for (let time = 0; time < 2; time += 1) {
      await ask('save_item', item);
      await ask('write_note', { subject_type: 'ad', subject_key: HOSTILE.adId, text: 'Seen.' });
      await ask('request_report', { from: '2026-01-01', to: '2026-01-31', idempotency_key: 'january' });
    }
    const { sections } = await ask('get_workspace', { include: ['saved', 'notes', 'reports'] });
    for (const name of ['saved', 'notes', 'reports']) expect(sections[name]?.['items'], name).toHaveLength(1);
    await ask('untrack_brand', { brand: BRAND_IDS[5] });
    const { items } = await ask('get_workspace', { include: ['tracked_brands'] });
    expect(items).toHaveLength(5);
  });

  test('every other part of the workspace is readable', async () => {
    const { sections } = await ask('get_workspace', { include: ['me', 'alerts', 'deliveries'] });
    expect(sections['me']).toMatchObject({ connection_id: caller.keyId, role: caller.role });
    expect(sections['me']).not.toHaveProperty('key_id');
    await ask('get_workspace', { include: ['collections', 'coverage'] });
  });
});

describe('bad input', () => {
  test.each([
    ['get_brand', { brand: 'no-such-brand.example' }, /slug|not found/i],
    ['get_brand', { brand: 'no-such-brand' }, /not found.*find_brands/i],
    ['get_brand', { brand: BRAND, include: [] }, /include/],
    ['find_brands', { cursor: 'altered' }, /start again without a cursor/i],
    ['find_brands', { limit: 26 }, /limit/],
    ['find_brands', { unknown: 1 }, /unknown/i],
    ['rank_brands', { board: 'traffic' }, /needs `country`/],
    ['rank_brands', { board: 'risers', days: 3 }, /days/],
    ['fetch', { id: 'http://169.254.169.254/' }, /must begin with/],
    ['fetch', { id: 'constructor:1' }, /must begin with/],
    ['fetch', { id: 'ad:99900099' }, /not found/i],
    ['search', { query: '\u0000' }, /NUL/],
    ['list_changes', { brand: BRAND }, /view `items`/],
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
    const broken = {
      ...dependencies,
      db: {
        query: () => Promise.reject(new Error('secret host')),
        slow: () => Promise.reject(new Error('slow')),
      },
    };
    const tool = TOOLS.find(({ name }) => name === 'find_brands');
    if (!tool) throw new Error('no tool');
    const result = await callTool(tool, {}, { caller, requestId: 'request-1', now: Date.now() }, broken);
    expect(textOf(result)).toBe('Internal error. Try again, and report the request id request-1.');
  });
});
