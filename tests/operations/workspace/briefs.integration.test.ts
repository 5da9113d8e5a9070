import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { type BriefEvent, briefStream } from '#contracts/events/workspace/brief.ts';
import { on } from '#tests/dsl/api.ts';
import { recordBrief, WEEK_46 } from '../fixtures/brief-events.ts';
import type { CorpusBrand } from '../fixtures/corpus.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../fixtures/stack.ts';

let stack: ApiStack;
let app: FastifyInstance;
let alpha: CorpusBrand;
let beta: CorpusBrand;

beforeAll(async () => {
  stack = await openApiStack();
  const [opened, brands] = await Promise.all([stack.api(), stack.seed(['alpha', 'beta'])]);
  [app, alpha, beta] = [opened, brands[0] as CorpusBrand, brands[1] as CorpusBrand];
});
afterAll(() => stack[Symbol.asyncDispose]());

const pathOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/briefs`;
const none = { ads_started: 0, ads_stopped: 0, destinations_changed: 0 };
const counted = () => [
  { brand_id: alpha.id, ...none },
  { brand_id: beta.id, ads_started: 3, ads_stopped: 2, destinations_changed: 1 },
];
const eventsOf = async (key: Key, id: string): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const event of stack.eventStore.read<BriefEvent>(briefStream(key.workspaceId, id)))
    types.push(event.type);
  return types;
};

describe('listBriefs 200', () => {
  test('lists briefs newest period first over all pages, with counts over all brands', async () => {
    const key = await stack.key();
    for (const [name, from, to] of [
      ['2026-W45', '2026-11-02', '2026-11-08'],
      ['2026-W47', '2026-11-16', '2026-11-22'],
      ['2026-W46', '2026-11-09', '2026-11-15'],
    ] as const) {
      await recordBrief(stack, key, counted(), { week: { name, from, to } });
    }
    const seen: { week: string }[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(app).get(`${pathOf(key)}?limit=2${cursor}`, { key });
      seen.push(...(data as { week: string }[]));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen.map(({ week }) => week)).toEqual(['2026-W47', '2026-W46', '2026-W45']);
    expect(seen[0]).toMatchObject({
      from: '2026-11-16',
      to: '2026-11-22',
      brands: 2,
      changes: { ads_started: 3, ads_stopped: 2, destinations_changed: 1 },
      feedback: null,
    });
  });
});

describe('getBrief 200', () => {
  test('returns counts per tracked brand, most changes first, and the recorded notable items', async () => {
    const key = await stack.key();
    const title = 'A "quoted" title \u0001/ with what our own addresses begin with, "url":"\u0001/';
    const id = await recordBrief(stack, key, counted(), {
      notable_items: [
        {
          id: randomUUID(),
          type: 'ad_started',
          observed_at: '2026-11-10T06:00:00.000Z',
          brand: { id: beta.id, slug: 'as-it-was', name: 'As it was', logo_url: null },
          ad: { id: '9000000001', page: null, format: 'video', title, body: null, started_on: null },
          destination_url: null,
          previous_destination_url: null,
          basis: null,
          stopped_on: null,
        },
      ],
    });
    const { data } = await on(app).get(`${pathOf(key)}/${id}`, { key });
    expect(data).toMatchObject({
      id,
      week: '2026-W46',
      from: WEEK_46.from,
      to: WEEK_46.to,
      changes_by_brand: [
        {
          brand: { id: beta.id, slug: beta.slug, url: `${BASE_URL}/v1/brands/${beta.slug}` },
          changes: { ads_started: 3, ads_stopped: 2, destinations_changed: 1 },
        },
        { brand: { id: alpha.id }, changes: none },
      ],
      notable_items: [
        {
          type: 'ad_started',
          brand: { name: 'As it was', url: `${BASE_URL}/v1/brands/as-it-was` },
          ad: { title, url: `${BASE_URL}/v1/ads/9000000001` },
        },
      ],
    });
  });
});

describe('getBrief 404', () => {
  test('rejects an unknown brief and a brief of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const id = await recordBrief(stack, other, counted());
    expect((await on(app).get(`${pathOf(key)}/${id}`, { key })).status).toBe(404);
    expect((await on(app).get(`${pathOf(key)}/${randomUUID()}`, { key })).status).toBe(404);
  });
});

describe('giveBriefFeedback 200', () => {
  test('records feedback and its change, nothing for the same value, and clears it with null', async () => {
    const key = await stack.key();
    const id = await recordBrief(stack, key, counted());
    const path = `${pathOf(key)}/${id}`;
    for (const feedback of ['useful', 'wrong', 'wrong', 'already_known', null, null]) {
      const reply = await on(app).patch(path, { key, body: { feedback } });
      expect(reply.status).toBe(200);
      expect(reply.data).toMatchObject({ id, feedback, brands: 2, changes: { ads_started: 3 } });
      expect(typeof reply.headers['x-read-position']).toBe('string');
      const list = await on(app).get(pathOf(key), { key });
      expect(list.data).toEqual([reply.data]);
    }
    expect(await eventsOf(key, id)).toEqual([
      'BriefPrepared',
      ...Array.from({ length: 4 }, () => 'BriefFeedbackGiven'),
    ]);
  });
});

describe('giveBriefFeedback 400', () => {
  test.each([
    ['no body', undefined, ''],
    ['an empty object', {}, 'feedback'],
    ['another word', { feedback: 'great' }, 'feedback'],
  ])('rejects %s and appends no event', async (_case, body, path) => {
    const key = await stack.key();
    const id = await recordBrief(stack, key, counted());
    const reply = await on(app).patch(`${pathOf(key)}/${id}`, { key, ...(body ? { body } : {}) });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
    expect(await eventsOf(key, id)).toEqual(['BriefPrepared']);
  });
});

describe('giveBriefFeedback 404', () => {
  test('rejects an unknown brief and a brief of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const body = { feedback: 'useful' };
    const id = await recordBrief(stack, other, counted());
    expect((await on(app).patch(`${pathOf(key)}/${id}`, { key, body })).status).toBe(404);
    expect((await on(app).patch(`${pathOf(other)}/${id}`, { key, body })).status).toBe(404);
    expect((await on(app).patch(`${pathOf(key)}/${randomUUID()}`, { key, body })).status).toBe(404);
    expect(await eventsOf(other, id)).toEqual(['BriefPrepared']);
  });
});

describe('giveBriefFeedback 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const load = (): Promise<never> => Promise.reject(new Refusal('changed_meanwhile', 'Try again.'));
    const crowded = await stack.api({ eventStore: { ...stack.eventStore, load } });
    const path = `${pathOf(key)}/${randomUUID()}`;
    expect((await on(crowded).patch(path, { key, body: { feedback: null } })).status).toBe(409);
  });
});
