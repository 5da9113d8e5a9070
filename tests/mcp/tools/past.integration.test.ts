import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { derivedId } from '#domain/ids.ts';
import { callTool } from '#services/mcp/calls.ts';
import { TOOLS } from '#services/mcp/tools/register-tools.ts';
import { scanRecorded } from '#tests/dsl/ad-events.ts';
import { metadataOf } from '#tests/dsl/metadata.ts';
import type { Reply } from '../../dsl/api.ts';
import { differences } from './agreement.ts';
import { type Content, openToolStack, textOf, type ToolStack } from './tool-stack.ts';

let opened: ToolStack;
let { ask, fetch, get } = {} as ToolStack;
let brandId: string;
let adIds: readonly string[];
/** The brand was scanned and tracked by then; a scan made before it is recorded after it. */
let moment: string;
let lateEvents: readonly AdLibraryEvent[];

const HOUR_MS = 3_600_000;

const missedLate = (): readonly AdLibraryEvent[] => {
  const observed_at = new Date(Date.now() - 5 * HOUR_MS).toISOString();
  const scan_id = derivedId('scan', `${brandId} ${observed_at}`);
  return [
    {
      type: 'AdsMissed',
      data: { brand_id: brandId, scan_id, observed_at, ad_ids: adIds.slice(0, 1) },
    },
    scanRecorded(brandId, observed_at, {
      pages: [{ page_id: '104857600', page_name: 'A page', baseline: false }],
      totals: { seen: 2, active: 3, total: 4 },
    }),
  ];
};

beforeAll(async () => {
  opened = await openToolStack();
  ({ ask, fetch, get } = opened);
  const { stack, key } = opened;
  for (const { id, adIds: ids } of await stack.seed(['alpha'])) [brandId, adIds] = [id, ids];
  await ask('track_brand', { brand: brandId });
  const tracked = await stack.eventStore.last(trackingStream(key.workspaceId));
  moment = tracked?.recordedAt.toISOString() ?? '';
  expect((await ask('get_workspace', { include: ['tracked_brands'] })).items).toHaveLength(1);
  const stream = adLibraryStream(brandId);
  const last = await stack.eventStore.last(stream);
  lateEvents = missedLate();
  const metadata = metadataOf('past');
  const { position } = await stack.eventStore.append(
    stream,
    last?.revision ?? -1n,
    lateEvents,
    metadata,
    'late',
  );
  await stack.projected(position);
});
afterAll(() => opened[Symbol.asyncDispose]());

type Parameter = 'as_of' | 'observed_as_of';
const getThen = async (path: string, parameter: Parameter = 'as_of'): Promise<Reply> => {
  const reply = await get(`${path}${path.includes('?') ? '&' : '?'}${parameter}=${moment}`);
  expect(reply.headers['x-as-of-late-events']).toBe(String(lateEvents.length));
  return reply;
};
const expectPastNote = (notes: readonly string[], parameter: Parameter = 'as_of'): void => {
  const [words, verb] = parameter === 'as_of' ? ['as known at', 'do not count'] : ['as observed by', 'count'];
  expect(notes.filter((note) => note.includes(`${words} ${moment}`))).toHaveLength(1);
  expect(notes[0]).toMatch(new RegExp(`afterwards, ${verb}: ${lateEvents.length}\\.$`));
};

/** Calls of list tools, with the request of the API. */
const LISTS: readonly (readonly [string, () => object, () => string])[] = [
  ['search_ads', () => ({ brand: brandId }), () => `/v1/brands/${brandId}/ads?limit=10`],
  ['search_ads', () => ({ brand: 'alpha' }), () => `/v1/brands/${brandId}/ads?limit=10`],
  ['list_changes', () => ({ view: 'items', days: 90 }), () => '/v1/{ws}/radar?days=90&limit=10'],
  [
    'list_changes',
    () => ({ view: 'items', brand: 'alpha' }),
    () => `/v1/{ws}/radar?brand_id=${brandId}&limit=10`,
  ],
  ['get_workspace', () => ({ include: ['tracked_brands'] }), () => '/v1/{ws}/tracked-brands?limit=10'],
];

describe('as_of', () => {
  test.each(LISTS)(
    '%s answers as the API does for the moment, and states its late events',
    async (name, args, path) => {
      const { data, meta } = await getThen(path());
      const shown = await ask(name, { ...args(), as_of: moment });
      expect(shown.items.length).toBe((data as readonly object[]).length);
      expect(shown.items.length).toBeGreaterThan(0);
      expect(differences(shown.items, data)).toEqual([]);
      expect(shown.as_of).toBe(meta.as_of);
      expectPastNote(shown.notes);
    },
  );

  test.each([
    ['profile', ''],
    ['velocity', '/velocity?weeks=12'],
    ['daily_activity', '/daily-activity'],
    ['formats', '/breakdown'],
  ])('section %s answers as the API does for the moment', async (name, path) => {
    const { data } = await getThen(`/v1/brands/${brandId}${path}`);
    const shown = await ask('get_brand', { brand: 'alpha', include: [name], as_of: moment });
    const { items, as_of: _asOf, ...record } = shown.sections[name] ?? {};
    expect(differences(items ?? record, data)).toEqual([]);
    expect(Object.keys(record).length + Number(items !== undefined)).toBeGreaterThan(0);
    expectPastNote(shown.notes);
  });

  test('weeks are counted back from the moment', async () => {
    const tool = TOOLS.find(({ name }) => name === 'get_brand');
    if (!tool) throw new Error('no tool');
    const { caller, dependencies } = opened;
    const args = { brand: brandId, include: ['daily_activity'], weeks: 2, as_of: moment };
    const yearLater = { caller, requestId: 'tests', now: Date.now() + 365 * DAY_MS };
    const shown = JSON.parse(textOf(await callTool(tool, args, yearLater, dependencies))) as Content;
    const from = utcDateOfMs(Date.parse(moment) - 14 * DAY_MS);
    const { data } = await getThen(`/v1/brands/${brandId}/daily-activity?from=${from}`);
    const days = shown.sections['daily_activity']?.['items'] as readonly object[];
    expect(days.length).toBe((data as readonly object[]).length);
    expect(days.length).toBeGreaterThan(0);
  });

  test.each([
    ['brand', () => brandId, '/v1/brands/'],
    ['ad', () => String(adIds[0]), '/v1/ads/'],
  ])('fetch %s answers as the API does for the moment', async (kind, id, path) => {
    const { data } = await getThen(`${path}${id()}`);
    const { text, metadata } = (await ask('fetch', { id: `${kind}:${id()}`, as_of: moment })) as never as {
      text: string;
      metadata: { notes: readonly string[] };
    };
    expect(differences(JSON.parse(text), data)).toEqual([]);
    expectPastNote(metadata.notes);
  });

  test('an ad that was missed by a late scan is active as of the moment, and missing now', async () => {
    const statusOf = async (when: object): Promise<unknown> => {
      const { items } = await ask('search_ads', { brand: brandId, ...when });
      return items.find(({ id }) => id === adIds[0])?.['status'];
    };
    expect(await statusOf({ as_of: moment })).toBe('active');
    expect(await statusOf({})).toBe('missing');
    const { text } = await fetch(`ad:${adIds[0]}`);
    expect(JSON.parse(text)).toMatchObject({ status: 'missing' });
  });

  test('a list goes on as of the same moment', async () => {
    const args = { brand: brandId, as_of: moment, limit: 3 };
    const first = await ask('search_ads', args);
    const second = await ask('search_ads', { ...args, cursor: first.next_cursor });
    const { data } = await getThen(`/v1/brands/${brandId}/ads`);
    expect(differences([...first.items, ...second.items], data)).toEqual([]);
    expect(second.items).toHaveLength(1);
    expectPastNote(second.notes);
  });
});

describe('observed_as_of', () => {
  const asked = (): object => ({ observed_as_of: moment });

  test.each(LISTS)('%s answers as the API does, with the late events', async (name, args, path) => {
    const { data } = await getThen(path(), 'observed_as_of');
    const shown = await ask(name, { ...args(), ...asked() });
    expect(shown.items.length).toBeGreaterThan(0);
    expect(differences(shown.items, data)).toEqual([]);
    expectPastNote(shown.notes, 'observed_as_of');
  });

  test('sections and objects answer as the API does, with the late events', async () => {
    const { data } = await getThen(`/v1/brands/${brandId}`, 'observed_as_of');
    const shown = await ask('get_brand', { brand: 'alpha', include: ['profile'], ...asked() });
    expect(differences(shown.sections['profile'] ?? {}, data)).toEqual([]);
    expectPastNote(shown.notes, 'observed_as_of');
    const id = String(adIds[0]);
    const ad = await getThen(`/v1/ads/${id}`, 'observed_as_of');
    const { text } = (await ask('fetch', { id: `ad:${id}`, ...asked() })) as never as { text: string };
    expect(differences(JSON.parse(text), ad.data)).toEqual([]);
    expect(JSON.parse(text)).toMatchObject({ status: 'missing' });
  });

  test.each([
    ['get_brand', { brand: 'alpha', include: ['proof'], figure: 'active_ads' }],
    ['get_brand', { brand: 'alpha', include: ['similar'] }],
    ['fetch', { id: 'category:shoes' }],
    ['search_ads', { brand: 'alpha', q: 'boots' }],
    ['get_workspace', { include: ['me'] }],
    ['list_changes', { view: 'signals' }],
  ])('%s refuses it for parts without a past: %j', async (name, args) => {
    const refused = await opened.call(name, { ...args, ...asked() });
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('`observed_as_of`')]);
  });
});

describe('list_changes with the view `differences`', () => {
  test('says how many there are at a brand when it shows fewer', async () => {
    const { data } = await get(`/v1/brands/${brandId}/changes?since=2026-01-01T00:00:00Z&limit=100`);
    const total = (data as readonly object[]).length;
    expect(total).toBeGreaterThan(1);
    const asked = { view: 'differences', brand: 'alpha', since: '2026-01-01T00:00:00Z' };
    const page = await ask('list_changes', { ...asked, limit: 1 });
    expect(page.notes).toContain(`The list has ${total} items in all.`);
    const whole = await ask('list_changes', { ...asked, limit: 25 });
    expect(whole.notes.join(' ')).not.toContain('items in all');
  });

  test.each([
    ['of a brand', () => ({ brand: 'alpha' }), () => `/v1/brands/${brandId}/changes`],
    ['of tracked brands', () => ({}), () => '/v1/{ws}/changes'],
  ])('%s shows what the API lists, page by page', async (_, args, path) => {
    const { data } = await get(`${path()}?since=${moment}&limit=100`);
    const seen: Record<string, unknown>[] = [];
    let cursor: string | undefined;
    do {
      const query = { view: 'differences', since: moment, limit: 1, ...args() };
      const page = await ask('list_changes', { ...query, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toHaveLength((data as readonly object[]).length);
    expect(differences(seen, data)).toEqual([]);
    expect(seen.find(({ subject }) => subject === 'ad')).toMatchObject({
      id: adIds[0],
      change: 'changed',
      events: [{ stream: `adLibrary-${brandId}`, type: 'AdsMissed' }],
    });
  });

  test('between two moments without an event between them is empty', async () => {
    const until = new Date(Date.parse(moment) + 1).toISOString();
    const { items, notes } = await ask('list_changes', {
      view: 'differences',
      brand: brandId,
      since: moment,
      until,
    });
    expect(items).toEqual([]);
    expect(notes.join(' ')).toContain('`next_cursor` is absent');
  });
});

describe('the section proof', () => {
  test.each([
    ['active_ads', {}],
    ['new_ads', { from: '2026-01-01', to: '2026-01-31' }],
  ])(
    'of %s has the statement, rule and counts of the API, and the address of the bundle',
    async (figure, days) => {
      const asked = { figure, ...days, as_of: moment };
      const { data } = await get(`/v1/brands/${brandId}/proof?${new URLSearchParams(asked).toString()}`);
      const shown = await ask('get_brand', { brand: 'alpha', include: ['proof'], ...asked });
      const { as_of: asOf, bundle_url: url, expires_at: expiresAt, ...proof } = shown.sections['proof'] ?? {};
      const { bundle_url: _url, expires_at: _expires, ...expected } = data as Record<string, unknown>;
      expect(proof).toEqual(expected);
      expect(proof).toMatchObject({
        events_left_out: lateEvents.length,
        statement: { figure, as_of: moment },
      });
      expect([asOf, Date.parse(String(expiresAt)) > Date.now()]).toEqual([moment, true]);
      expectPastNote(shown.notes);
      expect(shown.notes.join(' ')).toContain('`bundle_url`');
      const { pathname, search } = new URL(String(url));
      const bundle = await (await opened.stack.api()).inject({ url: `${pathname}${search}` });
      expect(bundle.statusCode).toBe(200);
      expect(JSON.parse(bundle.body.split('\n', 1)[0] ?? '')).toMatchObject({
        statement: proof['statement'],
      });
    },
  );
});
