import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Reply } from '../../dsl/api.ts';
import { BRAND_IDS, importDemo, prepareBriefs } from '../../operations/fixtures/demo-walk.ts';
import { openMcpStack } from '../mcp-stack.ts';
import { differences } from './agreement.ts';
import { BRAND, LISTS, SECTIONS, WORKSPACE_LISTS } from './equal-requests.ts';
import { INJECTION } from './hostile-events.ts';
import { withHostileWords } from './hostile-words.ts';
import { type Fetched, openToolStack, type ToolStack } from './tool-stack.ts';

/** Each text of others begins with an injected instruction; `ask` checks that it is under `observed` alone. */
let opened: ToolStack;
let { ask, fetch, get, post } = {} as ToolStack;

beforeAll(async () => {
  opened = await openToolStack();
  ({ ask, fetch, get, post } = opened);
  await importDemo(opened.stack, withHostileWords);
  const tracked = BRAND_IDS.slice(0, 6).map((brand) => ask('track_brand', { brand }));
  for (const { written } of (await Promise.all(tracked)) as unknown as { written: object }[])
    expect(written).toMatchObject({ cadence: 'weekly' });
  await prepareBriefs(opened.stack);
});
afterAll(() => opened[Symbol.asyncDispose]());

const firstId = async (path: string, field = 'id'): Promise<string> => {
  const { data } = await get(path);
  return String((data as readonly Record<string, unknown>[])[0]?.[field]);
};
/** The figures of some endpoints hold now, so the API is requested before and after the call. */
const around = async <T>(path: string, call: () => Promise<T>) => {
  const before = await get(path);
  const shown = await call();
  return { before, shown, after: await get(path) };
};
const expectTime = (asOf: unknown, before: Reply, after: Reply, path: string): void => {
  const [from, at, to] = [before.meta.as_of, String(asOf), after.meta.as_of].map(Date.parse);
  expect([(at ?? 0) >= (from ?? 0), (at ?? 0) <= (to ?? 0)], `${path}: ${String(asOf)}`).toEqual([
    true,
    true,
  ]);
};
const hasInjection = (value: unknown): boolean => JSON.stringify(value).includes(INJECTION);

describe('lists', () => {
  test.each(LISTS)('%s %j shows the figures and the time of the API', async (name, args, path) => {
    const { before, shown, after } = await around(path, () => ask(name, args));
    expect(shown.items.length, path).toBeGreaterThan(0);
    expect(differences(shown.items, before.data)).toEqual([]);
    if (before.meta.cursor !== undefined) expect(shown.next_cursor).toBeDefined();
    expectTime(shown.as_of, before, after, path);
    expect(shown.lag_hours).toBeCloseTo((Date.now() - Date.parse(shown.as_of)) / 3_600_000, 0);
  });

  test('a category may be named by its slug, for brands and for the categories below it', async () => {
    const { data } = await get('/v1/brands?limit=1');
    const [brand] = data as { category: { id: string; slug: string } }[];
    const reply = await get(`/v1/brands?category_id=${brand?.category.id}&limit=10`);
    const { items } = await ask('find_brands', { category: brand?.category.slug });
    expect(items.length).toBeGreaterThan(0);
    expect(differences(items, reply.data)).toEqual([]);
    const parent = await get('/v1/categories?limit=100');
    const top = (parent.data as { id: string; slug: string; parent: object | null }[]).find(
      (one) => one.parent === null,
    );
    const below = await get(`/v1/categories?parent_id=${top?.id}&limit=10`);
    const shown = await ask('explore_market', { kind: 'categories', parent: top?.slug });
    expect(shown.items.length).toBeGreaterThan(0);
    expect(differences(shown.items, below.data)).toEqual([]);
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

  test('the board of a tool, and the tools of a category, are those of the API', async () => {
    const { data } = await get('/v1/tools');
    const [{ slug, category } = { slug: '', category: '' }] = data as { slug: string; category: string }[];
    const path = `/v1/tools/${slug}/brands?limit=10`;
    const board = await around(path, () => ask('rank_brands', { board: 'tool', tool: slug }));
    expect(board.shown.items.length).toBeGreaterThan(0);
    expect(differences(board.shown.items, board.before.data)).toEqual([]);
    expectTime(board.shown.as_of, board.before, board.after, path);
    const tools = await get(`/v1/tools?category=${encodeURIComponent(category)}&limit=10`);
    const listed = await ask('explore_market', { kind: 'tools', parent: category });
    expect(listed.items.length).toBeGreaterThan(0);
    expect(differences(listed.items, tools.data)).toEqual([]);
  });

  test('the coverage of creatives is that of the API', async () => {
    const path = `/v1/creative-coverage?brand_id=${BRAND}`;
    const asked = () => ask('search_creatives', { brand: BRAND, coverage: true, limit: 1 });
    const { before, shown, after } = await around(path, asked);
    const { as_of: asOf, ...record } = (shown as unknown as { coverage: Record<string, unknown> }).coverage;
    expect(differences(record, before.data)).toEqual([]);
    expectTime(asOf, before, after, path);
  });
});

describe('get_brand', () => {
  test.each(SECTIONS)('section %s shows the figures and the time of the API', async (name, path) => {
    const asked = () => ask('get_brand', { brand: BRAND, include: [name] });
    const { before, shown, after } = await around(path, asked);
    const section = shown.sections[name] ?? {};
    if (before.status === 404) return expect(section).toHaveProperty('unavailable');
    const { items, as_of: asOf, ...record } = section;
    expect(differences(items ?? record, before.data)).toEqual([]);
    expectTime(name === 'profile' ? shown.as_of : asOf, before, after, path);
    expect(Object.keys(record).length + Number(items !== undefined)).toBeGreaterThan(0);
  });

  test('five sections fit, and are as old as the oldest', async () => {
    const include = ['creative_library', 'store', 'daily_activity', 'network', 'copy_reuse'];
    const { sections, as_of: asOf } = await ask('get_brand', { brand: BRAND, include, weeks: 52, images: 1 });
    expect(Object.keys(sections).toSorted()).toEqual(include.toSorted());
    const times = Object.values(sections).map((section) => String(section['as_of']));
    expect(times.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0]).toBe(asOf);
  });
});

describe('check_claim', () => {
  test.each([
    { figure: 'active_ads', comparison: 'at_least', value: 1 },
    { figure: 'active_ads', comparison: 'less_than', value: 1 },
    { figure: 'new_ads', comparison: 'equals', value: 2, from: '2026-01-01', to: '2026-01-31' },
  ])('%j has the verdict and the bounds of the API', async (claim) => {
    const body = { brand: BRAND, ...claim };
    const { data, meta } = await post('/v1/claims/check', body);
    const shown = (await ask('check_claim', body)) as unknown as {
      checked: { proof_url: string };
      as_of: string;
      notes: readonly string[];
    };
    const { proof_url: proof, ...checked } = shown.checked;
    expect(differences(checked, data)).toEqual([]);
    expect(Object.keys(shown.checked).toSorted()).toEqual(Object.keys(data as object).toSorted());
    expect(proof).toContain(`/v1/brands/${BRAND}/proof?figure=${claim.figure}`);
    expect(shown.as_of).toBe(meta.as_of);
    expect(shown.notes[0]).toContain('`supported`');
  });
});

describe('search and fetch', () => {
  test('search shows the brands and ads of the API, with ids that fetch accepts', async () => {
    const query = INJECTION.split(' ', 1)[0] ?? '';
    const found = (await ask('search', { query })) as unknown as {
      results: { id: string; title: string; url: string; text: string }[];
      as_of: string;
    };
    const [brands, ads] = await Promise.all(
      ['brands', 'ads'].map((kind) => get(`/v1/${kind}?q=${query}&limit=5`)),
    );
    const shown = found.results.map(({ text }) => JSON.parse(text) as object);
    expect(shown).toHaveLength(10);
    expect(differences(shown, [...(brands?.data ?? []), ...(ads?.data ?? [])])).toEqual([]);
    const times = [brands, ads].map((reply) => reply?.meta.as_of ?? '');
    expect(found.as_of).toBe(times.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0]);
    for (const { id } of [found.results[0], found.results[9]] as { id: string }[]) {
      const fetched = await fetch(id);
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
  const KINDS: readonly [string, () => Promise<string>, string, string?][] = [
    ['brand', async () => BRAND, '/v1/brands/{id}'],
    ['ad', adWithFiles, '/v1/ads/{id}', '/v1/ads/{id}/creatives'],
    ['page', () => firstId('/v1/pages'), '/v1/pages/{id}'],
    ['creative', () => firstId('/v1/creative-records', 'creative_key'), '/v1/creative-records/{id}'],
    ['category', () => firstId('/v1/categories'), '/v1/categories/{id}', '/v1/categories/{id}/stats'],
    ['operator', () => firstId('/v1/operators'), '/v1/operators/{id}'],
    ['tool', () => firstId('/v1/tools', 'slug'), '/v1/tools/{id}'],
    ['brief', () => firstId('/v1/{ws}/briefs'), '/v1/{ws}/briefs/{id}'],
  ];
  test.each(KINDS)('fetch %s shows the record and the time of the API', async (kind, idOf, path, more) => {
    const id = await idOf();
    const asked = (): Promise<Fetched> => fetch(`${kind}:${id}`);
    const { before, shown, after } = await around(path.replace('{id}', id), asked);
    const { creatives, stats, ...record } = JSON.parse(shown.text) as Record<string, unknown>;
    expect(differences(record, before.data)).toEqual([]);
    const added = more === undefined ? null : await get(more.replace('{id}', id));
    if (added) expect(differences(creatives ?? stats, added.data)).toEqual([]);
    const isOlder = added && Date.parse(added.meta.as_of) < Date.parse(before.meta.as_of);
    if (isOlder) expect(shown.metadata.as_of).toBe(added.meta.as_of);
    else expectTime(shown.metadata.as_of, before, after, path);
    const noteOnImages = shown.metadata.notes.some((note) => note.includes('thumbnail'));
    expect(noteOnImages).toBe(kind === 'ad' || kind === 'creative');
    const isOwn = kind === 'category' || kind === 'tool';
    expect([hasInjection(shown.text), hasInjection(shown.title)]).toEqual([!isOwn, false]);
  });
});

test('resources list the guide and the latest briefs, and read a brief, a brand and an ad as `fetch` does', async () => {
  await using mcp = await openMcpStack(opened.stack);
  const client = await mcp.client(await mcp.connect(opened.key));
  const { resources } = await client.listResources();
  const { data } = await get('/v1/{ws}/briefs?limit=10');
  const briefs = (data as { id: string }[]).map(({ id }) => `adintel://briefs/${id}`);
  expect(briefs.length).toBeGreaterThan(0);
  expect(resources.map(({ uri }) => uri)).toEqual(['adintel://guide', ...briefs]);
  const addresses: readonly (readonly [string, string])[] = [
    [briefs[0] ?? '', `brief:${(data as { id: string }[])[0]?.id}`],
    [`adintel://ads/${await firstId('/v1/ads')}`, `ad:${await firstId('/v1/ads')}`],
    [
      `adintel://brands/${await firstId('/v1/brands', 'slug')}`,
      `brand:${await firstId('/v1/brands', 'slug')}`,
    ],
  ];
  for (const [uri, id] of addresses) {
    const [content] = (await client.readResource({ uri })).contents as { text: string }[];
    const { text, metadata, ...others } = JSON.parse(content?.text ?? '') as Fetched;
    const fetched = await fetch(id);
    expect({ text, ...others }).toEqual({
      text: fetched.text,
      id: fetched.id,
      title: fetched.title,
      url: fetched.url,
    });
    // A brief holds now; the others have the time of their last scan.
    expect(Date.parse(metadata.as_of)).toBeLessThanOrEqual(Date.parse(fetched.metadata.as_of));
  }
  await client.close();
});

describe('get_workspace', () => {
  beforeAll(async () => {
    const adId = await firstId('/v1/ads');
    const item = { item_type: 'ad', item_key: adId };
    const { data } = await post('/v1/{ws}/collections', { name: 'Board' });
    await Promise.all([
      ask('save_item', item),
      ask('save_item', { ...item, collection_id: (data as { id: string }).id }),
      ask('write_note', { subject_type: 'ad', subject_key: adId, text: 'Seen.' }),
      ask('request_report', { from: '2026-01-01', to: '2026-01-31', idempotency_key: 'january' }),
    ]);
    const rule = { name: 'Launches', trigger: 'new_ads', brand_ids: [BRAND], email: true };
    const created = await post('/v1/{ws}/alerts', rule);
    await post(`/v1/{ws}/alerts/${(created.data as { id: string }).id}/test`, {});
  });

  test.each(WORKSPACE_LISTS)('%s shows the records and the time of the API', async (name, path) => {
    const { before, shown, after } = await around(path, () => ask('get_workspace', { include: [name] }));
    expect(shown.items.length, path).toBeGreaterThan(0);
    expect(differences(shown.items, before.data)).toEqual([]);
    expectTime(shown.as_of, before, after, path);
    const { sections } = await ask('get_workspace', { include: ['me', name] });
    expect(sections[name]?.['items']).toEqual(shown.items);
  });

  test('who is signed in, and the coverage of the corpus, are those of the API', async () => {
    const [me, coverage] = await Promise.all([get('/v1/me'), get('/v1/system/freshness')]);
    const { sections } = await ask('get_workspace', { include: ['me', 'coverage'] });
    const { connection_id: keyId, as_of: _now, ...person } = sections['me'] ?? {};
    expect(differences({ ...person, key_id: keyId }, me.data)).toEqual([]);
    const { as_of: asOf, ...figures } = sections['coverage'] ?? {};
    expect(differences(figures, coverage.data)).toEqual([]);
    expect(asOf).toBe(coverage.meta.as_of);
  });
});
