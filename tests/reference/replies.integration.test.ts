import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { on } from '#tests/dsl/api.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { FEATURES } from './features.ts';
import { type Placement, place } from './service/placement.ts';
import type { World, WorldObservation } from './world.ts';
import { worldArbitrary } from './worlds.ts';

/**
 * One service gets the observations in order, the other as they arrive; all replies must be the same (rule 11).
 * REPLY_WORLDS=200 is the long form, REPLY_SEED changes the worlds.
 */
const { REPLY_WORLDS, REPLY_SEED } = readSettings(
  z.object({
    REPLY_WORLDS: z.coerce.number().int().positive().default(4),
    REPLY_SEED: z.coerce.number().int().default(20_260_310),
  }),
);
const LIMIT_MS = 300_000 + 30_000 * REPLY_WORLDS;
/** After all observations of a world. */
const NOW = new Date('2026-03-25T00:00:00.000Z');

/** Differences that tell how observations arrived, by the end of the path. */
const OF_ARRIVAL: Readonly<Record<string, readonly string[]>> = {
  // Entries say by which scan something became known, and what was corrected.
  '/v1/ads/{adId}': ['history'],
  // The observation that registered the brand.
  '/v1/brands/{brandId}/coverage': ['known_since'],
  // The time of the last event that named the page.
  '/v1/pages': ['as_of', 'lag_hours'],
  '/v1/pages/{pageId}': ['as_of', 'lag_hours'],
};
/** The reply is as of the registration of the brand while nothing else is known of its site. */
const OF_REGISTRATION = /\/(demographics|operators|similar|split-tests|store|tech-stack|trajectory)$/;

type Json = { readonly [field: string]: unknown };

const keyOf = (one: WorldObservation): string => `${one.at} ${one.kind === 'scan' ? one.id : ''}`;

const inOrder = ({ observations }: World): readonly WorldObservation[] =>
  [...new Map(observations.map((one) => [JSON.stringify(one), one])).values()].toSorted((a, b) =>
    keyOf(a) < keyOf(b) ? -1 : 1,
  );

/** Returns ids by the name of the parameter that takes them. */
const idsOf = (world: World, { brandIdOf, adIdOf, messagesOf }: Placement): Record<string, string[]> => {
  const named = world.observations.filter((one) => one.kind !== 'link' || one.linked);
  const shown = world.observations.flatMap((one) => (one.kind === 'scan' ? one.ads : []));
  const links = world.observations
    .flatMap(messagesOf)
    .flatMap((message) => (message.type === 'ad_library.scan' ? message.ads : []))
    .map(({ link_url }) => landingPageOf(link_url ?? '')?.landing_page_id)
    .filter((id) => id !== undefined);
  return {
    brandId: world.brands.filter((name) => named.some(({ brand }) => brand === name)).map(brandIdOf),
    adId: [...new Set(shown.map(({ ad }) => adIdOf(ad)))],
    pageId: [...new Set(links)],
  };
};

/** Replies about what was recorded when, on which the order of arrival decides. */
const OF_RECORDING = ['/v1/brands/{brandId}/changes', '/v1/brands/{brandId}/proof', '/v1/ads/{adId}/proof'];
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/v1/brands/{brandId}/bounds': [
    '?figure=active_ads',
    '?figure=total_ads',
    '?figure=new_ads&from=2026-03-11&to=2026-03-14',
    '?figure=retired_ads&from=2026-03-13&to=2026-03-20',
  ],
};
const BY_BRAND = ['/v1/ads', '/v1/brand-network', '/v1/creatives', '/v1/pages'];

const urlsOf = ({ path, method }: Endpoint, ids: Readonly<Record<string, readonly string[]>>): string[] => {
  if (method !== 'GET' || OF_RECORDING.includes(path)) return [];
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const [name = ''] = parameters;
  if (parameters.length === 1)
    return (ids[name] ?? []).flatMap((id) =>
      (QUERIES[path] ?? ['']).map((query) => `${path.replace(`{${name}}`, id)}${query}`),
    );
  return BY_BRAND.includes(path) ? (ids['brandId'] ?? []).map((id) => `${path}?brand_id=${id}`) : [];
};

const withoutFields = (value: unknown, names: readonly string[]): unknown =>
  JSON.parse(JSON.stringify(value, (field, inner) => (names.includes(field) ? undefined : inner)));

/** Landing pages of one time are listed by ids that no rule gives. */
const ordered = (data: unknown): unknown =>
  Array.isArray(data) ? data.map((item) => JSON.stringify(item)).toSorted() : data;

/** Returns the radar's items that are not withdrawn, without the marks of corrections and without what the ad was like. */
const radarItems = (data: readonly Json[]): unknown =>
  ordered(
    data
      .filter(({ correction }) => correction !== 'withdrawn')
      .map(({ id: _id, correction: _correction, ad, ...item }) => ({ ...item, ad: (ad as Json)['id'] })),
  );

const readWorld = async (
  stack: ApiStack,
  app: ReturnType<typeof on>,
  world: World,
  placement: Placement,
): Promise<Json> => {
  const key = await stack.key({ plan: 'enterprise' });
  const ids = idsOf(world, placement);
  const workspace = `/v1/workspaces/${key.workspaceId}`;
  const replies: Record<string, unknown> = {};
  for (const endpoint of ENDPOINTS) {
    const left = ['request_id', ...(OF_ARRIVAL[endpoint.path] ?? [])];
    for (const url of urlsOf(endpoint, ids)) {
      const { status, data, meta } = await app.get(url, { key });
      const isOfRegistration = OF_REGISTRATION.test(url);
      replies[url] = {
        status,
        data: ordered(withoutFields(data, left)),
        meta: isOfRegistration ? null : withoutFields(meta, left),
      };
    }
  }
  for (const brand_id of ids['brandId'] ?? [])
    await app.post(`${workspace}/tracked-brands`, { key, body: { brand_id } });
  await stack.projected(await stack.eventStore.head());
  const radar = await app.get(`${workspace}/radar?days=30&limit=100`, { key });
  replies['radar'] = radarItems(radar.data);
  const freshness = await app.get(`${workspace}/tracked-brands/freshness`, { key });
  replies['freshness'] = withoutFields(freshness.data, []);
  return replies;
};

const readAll = async (
  worlds: readonly World[],
  orderOf: (world: World) => readonly WorldObservation[],
): Promise<readonly Json[]> => {
  await using stack = await openApiStack();
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
  for (const [index, world] of worlds.entries()) {
    const { messagesOf } = place(world, index + 1);
    for (const message of orderOf(world).flatMap(messagesOf)) await intake.submit(message);
  }
  await stack.projected(await stack.eventStore.head());
  const app = on(await stack.api({ clock: { now: () => NOW } }));
  const replies: Json[] = [];
  for (const [index, world] of worlds.entries()) {
    replies.push(await readWorld(stack, app, world, place(world, index + 1)));
  }
  return replies;
};

it(
  'replies are the same in the order of observation and in the order of arrival',
  async () => {
    const worlds = fc.sample(worldArbitrary(FEATURES), { numRuns: REPLY_WORLDS, seed: REPLY_SEED });
    const expected = await readAll(worlds, inOrder);
    expect(expected.flatMap((replies) => Object.keys(replies)).length).toBeGreaterThan(50 * REPLY_WORLDS);
    const actual = await readAll(worlds, ({ observations }) => observations);
    expect(actual).toEqual(expected);
  },
  LIMIT_MS,
);
