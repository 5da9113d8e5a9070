import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PLANS } from '#contracts/values/access.ts';
import { on } from '#tests/dsl/api.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { type ApiStack, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { eventsOf, pathOf, trackingThrough } from '#tests/operations/fixtures/tracking.ts';

const RACERS = 50;
const { slots } = PLANS.free;

let stack: ApiStack;
let apis: readonly FastifyInstance[];
let brands: readonly CorpusBrand[];

beforeAll(async () => {
  stack = await openApiStack();
  const names = Array.from({ length: slots - 1 + RACERS }, (_, place) => `brand${place}`);
  const seeding = stack.seed(names);
  apis = await Promise.all([stack.api(), stack.api()]);
  brands = await seeding;
});
afterAll(() => stack[Symbol.asyncDispose]());

const apiOf = (place: number): FastifyInstance => apis[place % apis.length] as FastifyInstance;
const statusesOf = (replies: readonly { status: number }[], status: number): number =>
  replies.filter((reply) => reply.status === status).length;

test('exactly one of 50 concurrent requests for the last slot succeeds', async () => {
  const key = await stack.key({ plan: 'free' });
  for (const { id } of brands.slice(0, slots - 1)) await trackingThrough(apiOf(0)).track(key, id);
  const replies = await Promise.all(
    brands.slice(slots - 1).map(({ id }, place) => trackingThrough(apiOf(place)).track(key, id)),
  );
  expect(statusesOf(replies, 201)).toBe(1);
  expect(statusesOf(replies, 402)).toBe(RACERS - 1);
  expect(await eventsOf(stack, key)).toEqual(Array.from({ length: slots }, () => 'BrandTracked'));
  const { data } = await on(apiOf(1)).get(pathOf(key), { key });
  expect(data).toHaveLength(slots);
});

test('50 concurrent requests for one brand use one slot and get the same record', async () => {
  const key = await stack.key({ plan: 'free' });
  const brandId = brands[0]?.id ?? '';
  const replies = await Promise.all(
    Array.from({ length: RACERS }, (_, place) => trackingThrough(apiOf(place)).track(key, brandId)),
  );
  expect(statusesOf(replies, 201)).toBe(RACERS);
  expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
  expect(await eventsOf(stack, key)).toEqual(['BrandTracked']);
});

test('a changed cadence keeps the creation time and the position in the list', async () => {
  const key = await stack.key();
  const own = brands.slice(0, 3).map(({ id }) => id);
  for (const id of own) await trackingThrough(apiOf(0)).track(key, id, 'weekly');
  type Item = { brand: { id: string }; cadence: string; created_at: string };
  const listed = async () => (await on(apiOf(0)).get(pathOf(key), { key })).data as Item[];
  const before = await listed();
  const oldest = before.at(-1);
  const again = await trackingThrough(apiOf(0)).track(key, own[0] ?? '', 'daily');
  expect(again.data).toMatchObject({ cadence: 'daily', created_at: oldest?.created_at });
  const after = await listed();
  expect(after.map(({ brand }) => brand.id)).toEqual(own.toReversed());
  expect(after.map(({ created_at }) => created_at)).toEqual(before.map(({ created_at }) => created_at));
  expect(after.map(({ cadence }) => cadence)).toEqual(['weekly', 'weekly', 'daily']);
});

test('freshness is listed most overdue first, also across daily and weekly cadences', async () => {
  const key = await stack.key();
  const [daily = '', weekly = '', alsoDaily = ''] = brands.slice(0, 3).map(({ id }) => id);
  await trackingThrough(apiOf(0)).track(key, weekly, 'weekly');
  await trackingThrough(apiOf(0)).track(key, daily, 'daily');
  await trackingThrough(apiOf(0)).track(key, alsoDaily, 'daily');
  const later = await stack.api({ clock: { now: () => new Date(Date.now() + 60 * 3_600_000) } });
  const { data } = await on(later).get(`${pathOf(key)}/freshness`, { key });
  const items = data as { brand: { id: string }; hours_since_reliable: number; slo_hours: number }[];
  const overdue = items.map((item) => item.hours_since_reliable - item.slo_hours);
  expect(overdue).toEqual(overdue.toSorted((one, other) => other - one));
  expect(items.at(-1)?.brand.id).toBe(weekly);
  expect(data).toMatchObject([{ slo_status: 'breached' }, { slo_status: 'breached' }, { slo_status: 'ok' }]);
});
