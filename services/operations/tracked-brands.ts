import { z } from 'zod';
import { LRUCache } from 'lru-cache';
import {
  BulkTracked,
  TRACKED_AT_ONCE_MAX,
  TrackBrand,
  TrackBrands,
  TrackedBrand,
  TrackedBrandFreshness,
  TrackedBrandListItem,
  UntrackBrand,
  UntrackedBrand,
} from '#contracts/resources/workspace/tracked-brand.ts';
import { listTrackedFreshness, readTrackedAsOf } from '#projections/freshness/read.ts';
import { readNewestObservation } from '#projections/brands/read.ts';
import { listTrackedBrands as readTrackedBrands } from '#projections/queries/tracked.ts';
import { Refusal } from '#contracts/errors.ts';
import { type BrandRegistered, brandStream } from '#contracts/events/corpus/brand.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { eventIdOf } from '#contracts/values/derived-id.ts';
import { PLANS } from '#contracts/values/access.ts';
import {
  trackBrand as decideToTrack,
  trackBrands as decideToTrackAll,
  untrackBrand as decideToUntrack,
  tracking,
} from '#domain/workspace/tracked-brands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { latestOf, listReply, pageAsOf } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import {
  BRAND_ID,
  WORKSPACE_ID,
  brandReference,
  brandSummary,
  freshnessExample,
  trackedBrand,
} from './endpoint/examples.ts';
import {
  pastQuery,
  noQuery,
  pageQuery,
  workspaceBrandParams,
  workspaceParams,
} from './endpoint/parameters.ts';
import { removalEndpoint } from './endpoint/removal-endpoint.ts';
import { workspaceRead } from './endpoint/kinds.ts';

export const listTrackedBrandsFreshness = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/tracked-brands/freshness',
  operationId: 'listTrackedBrandsFreshness',
  tag: 'Tracked brands',
  scope: 'brands:read',
  summary: 'List the freshness of tracked brands',
  description:
    'Hours since the last reliable scan of each tracked brand, and the hours that its cadence allows, most overdue first.',
  query: noQuery,
  reply: {
    status: 200,
    shape: 'whole',
    data: TrackedBrandFreshness,
    example: [
      {
        brand: brandReference,
        cadence: 'daily',
        freshness: freshnessExample,
        slo_hours: 36,
        hours_since_reliable: 4,
        slo_status: 'ok',
      },
    ],
  },
  reads: ['freshness'],
  handler: async ({ params }, { db, clock }) => {
    const [asOf, items] = await Promise.all([
      readTrackedAsOf(db, params.ws),
      listTrackedFreshness(db, params.ws, clock.now()),
    ]);
    return listReply(items, asOf);
  },
});

export const listTrackedBrands = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/tracked-brands',
  operationId: 'listTrackedBrands',
  tag: 'Tracked brands',
  scope: 'brands:read',
  summary: 'List tracked brands',
  description: 'The brands the workspace tracks, newest first.',
  query: z.strictObject({ ...pageQuery, ...pastQuery }),
  reply: {
    status: 200,
    shape: 'paged',
    data: TrackedBrandListItem,
    example: [
      {
        brand: brandSummary,
        cadence: 'daily',
        created_at: trackedBrand.created_at,
        freshness: freshnessExample,
      },
    ],
  },
  past: 'workspace',
  reads: ['tracking', 'brands', 'freshness'],
  handler: async ({ params, page }, { db }) =>
    pageAsOf(
      () => readTrackedBrands(db, params.ws, page),
      ({ asOf }) => latestOf(asOf),
      () => readNewestObservation(db),
    ),
});

/** The slug of a registered brand never changes. */
const CACHED_SLUGS_MAX = 20_000;
const slugCaches = new WeakMap<EventStore, LRUCache<string, string>>();

const slugCacheOf = (eventStore: EventStore): LRUCache<string, string> => {
  const slugs = slugCaches.get(eventStore) ?? new LRUCache<string, string>({ max: CACHED_SLUGS_MAX });
  slugCaches.set(eventStore, slugs);
  return slugs;
};

/** Reads the log, so that a brand can be tracked right after its registration. */
const slugOfRegistered = async (eventStore: EventStore, brandId: string): Promise<string> => {
  const slugs = slugCacheOf(eventStore);
  let slug = slugs.get(brandId);
  if (slug !== undefined) return slug;
  // Reads the short stream to its end: the client keeps an abandoned read open until disconnection.
  for await (const event of eventStore.read<BrandRegistered>(brandStream(brandId))) slug ??= event.data.slug;
  if (slug === undefined) throw new Refusal('brand_unknown', 'Brand not found.');
  slugs.set(brandId, slug);
  return slug;
};

/** Slots of each plan, as the description names them. */
const SLOTS = Object.entries(PLANS)
  .map(([plan, { slots }]) => `${plan} ${slots}`)
  .join(', ');

export const trackBrand = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/tracked-brands',
  operationId: 'trackBrand',
  tag: 'Tracked brands',
  scope: 'tracking:write',
  summary: 'Track a brand',
  description: `Tracks a brand; tracking it again changes the cadence only. The scraper is notified asynchronously. 402 when all slots of the plan are used: ${SLOTS}.`,
  params: workspaceParams,
  query: noQuery,
  body: { schema: TrackBrand, example: { brand_id: BRAND_ID, cadence: 'daily' } },
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 201, shape: 'record', data: TrackedBrand, example: trackedBrand },
  errors: ['payment_required', 'not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, body, caller, execute }, dependencies) => {
    const { cadence } = body;
    const brand_id = body.brand_id.toLowerCase();
    const workspace_id = params.ws;
    const at = dependencies.clock.now().toISOString();
    const slug = await slugOfRegistered(dependencies.eventStore, brand_id);
    const { state, events, position, eventId } = await execute({
      stream: trackingStream(workspace_id),
      decider: tracking,
      decision: decideToTrack({ workspace_id, brand_id, cadence, plan: caller.plan, at }),
      shownIn: ['tracking', 'freshness'],
      isShared: true,
    });
    if (events[0]?.type === 'BrandTracked' && eventId !== undefined) {
      dependencies.scrapeRequests.request({ brand_id, cadence, requested_at: at }, eventId);
    }
    const created_at = state.brands.get(brand_id)?.tracked_at ?? at;
    // The items of the list have another shape.
    const url = `${dependencies.baseUrl}/v1/brands/${slug}`;
    return {
      data: JSON.stringify({ brand_id, workspace_id, cadence, url, created_at }),
      asOf: null,
      position,
    };
  },
});

type BulkResult = BulkTracked['results'][number];

const changedTo = { BrandTracked: 'tracked', TrackingCadenceChanged: 'cadence_changed' } as const;

/** `null` for an unknown brand. */
export const findSlug = async (eventStore: EventStore, brandId: string): Promise<string | null> => {
  try {
    return await slugOfRegistered(eventStore, brandId);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

export const trackBrands = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/tracked-brands/bulk',
  operationId: 'trackBrands',
  tag: 'Tracked brands',
  scope: 'tracking:write',
  summary: 'Track several brands',
  description: `Tracks up to ${TRACKED_AT_ONCE_MAX} brands, each as a request of its own would, in their order, and tells the result of each. A brand that is unknown, or for which the plan has no slot, changes nothing for the others. The changes are recorded all at once, so a request that fails has made all of them or none. Repeat it with the same \`Idempotency-Key\`: what it has tracked is then \`already_tracked\`.`,
  params: workspaceParams,
  query: noQuery,
  body: { schema: TrackBrands, example: { brands: [{ brand_id: BRAND_ID, cadence: 'daily' }] } },
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: BulkTracked,
    example: {
      workspace_id: WORKSPACE_ID,
      results: [{ brand_id: BRAND_ID, result: 'tracked', tracked_brand: trackedBrand }],
    },
  },
  errors: ['not_found'],
  corpus: false,
  reads: [],
  beyondContract: true,
  handler: async ({ params, body, caller, commandId, execute }, dependencies) => {
    const workspace_id = params.ws;
    const at = dependencies.clock.now().toISOString();
    const asked = body.brands.map(({ brand_id, cadence }) => ({ brand_id: brand_id.toLowerCase(), cadence }));
    const slugs = await Promise.all(asked.map(({ brand_id }) => findSlug(dependencies.eventStore, brand_id)));
    const known = asked.filter((_, index) => slugs[index] !== null);
    const { state, events, position } = await execute({
      stream: trackingStream(workspace_id),
      decider: tracking,
      decision: decideToTrackAll(known.map((one) => ({ ...one, workspace_id, plan: caller.plan, at }))),
      shownIn: ['tracking', 'freshness'],
      isShared: true,
    });
    const changed = new Map<string, BulkResult['result']>();
    for (const [index, { type, data }] of events.entries()) {
      if (type === 'BrandUntracked') continue;
      changed.set(data.brand_id, changedTo[type]);
      if (type !== 'BrandTracked') continue;
      const { brand_id, cadence } = data;
      const eventId = eventIdOf(commandId, index);
      dependencies.scrapeRequests.request({ brand_id, cadence, requested_at: at }, eventId);
    }
    const results = asked.map(({ brand_id, cadence }, index): BulkResult => {
      const slug = slugs[index];
      const tracked = state.brands.get(brand_id);
      if (!slug) return { brand_id, result: 'brand_unknown', tracked_brand: null };
      if (!tracked) return { brand_id, result: 'no_slot', tracked_brand: null };
      const url = `${dependencies.baseUrl}/v1/brands/${slug}`;
      const tracked_brand = { brand_id, workspace_id, cadence, url, created_at: tracked.tracked_at };
      return { brand_id, result: changed.get(brand_id) ?? 'already_tracked', tracked_brand };
    });
    return { data: JSON.stringify({ workspace_id, results }), asOf: null, position };
  },
});

/** Reads the log, so that it includes brands that were just tracked. */
export const trackedBrandIds = async (
  eventStore: EventStore,
  workspaceId: string,
): Promise<ReadonlySet<string>> => {
  const { state } = await eventStore.load(trackingStream(workspaceId), tracking);
  return new Set(Array.from(state.brands, ([brandId]) => brandId));
};

export const untrackBrand = removalEndpoint({
  path: '/v1/workspaces/{ws}/tracked-brands/{brandId}',
  operationId: 'untrackBrand',
  tag: 'Tracked brands',
  scope: 'tracking:write',
  summary: 'Stop tracking a brand',
  description: 'Takes an empty object as body. `removed` is false when the brand was not tracked.',
  params: workspaceBrandParams,
  body: UntrackBrand,
  paramsExample: { ws: WORKSPACE_ID, brandId: BRAND_ID },
  reply: { data: UntrackedBrand, example: { brand_id: BRAND_ID, workspace_id: WORKSPACE_ID } },
  handler: async ({ params, execute }, dependencies) => {
    const brand_id = params.brandId.toLowerCase();
    const workspace_id = params.ws;
    const { events, position } = await execute({
      stream: trackingStream(workspace_id),
      decider: tracking,
      decision: decideToUntrack({ workspace_id, brand_id, at: dependencies.clock.now().toISOString() }),
      shownIn: ['tracking', 'freshness'],
      isShared: true,
    });
    return { target: { brand_id, workspace_id }, removed: events.length > 0, position };
  },
});
