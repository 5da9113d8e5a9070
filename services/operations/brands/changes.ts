import { z } from 'zod';
import { BrandChange, WorkspaceChange } from '#contracts/resources/corpus/change.ts';
import { BrandReference } from '#contracts/resources/corpus/brand.ts';
import { type BrandEvent, brandStream } from '#contracts/events/corpus/brand.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import { Refusal } from '#contracts/errors.ts';
import type { Event } from '#contracts/events/event.ts';
import {
  type TrackingEvent,
  trackingStream,
  workspaceStream,
} from '#contracts/events/workspace/workspace.ts';
import { BETWEEN_MAX, type Cut, isWithin } from '#application/as-of/past-reads.ts';
import { tracking } from '#domain/workspace/tracked-brands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { AD_ID, BASE_URL, BRAND_ID, brandReference } from '../endpoint/examples.ts';
import { isTimeWindow, pageQuery, TIME_WINDOW_FAULT, timeWindow } from '../endpoint/parameters.ts';
import { brandRead, workspaceRead } from '../endpoint/kinds.ts';
import { latestOf } from '../endpoint/reply.ts';
import { beforeFirstEvent, requirePast } from '../endpoint/read-past.ts';
import { type Change, COMPARED, compareMoments } from './compare-moments.ts';
import { requireBrand } from './find-brand.ts';

const changesQuery = z
  .strictObject({
    ...pageQuery,
    since: timeWindow.since.meta({
      description:
        'The earlier moment, such as `2026-11-01T00:00:00Z`. Required without `since_token`: send one of the two.',
    }),
    since_token: z.string().min(1).optional().meta({
      description:
        '`x-next-since-token` of the last page of an earlier call: the changes after that call. Takes no `until`.',
    }),
    until: timeWindow.until.meta({ description: 'The later moment. Now when absent.' }),
  })
  .refine(isTimeWindow, TIME_WINDOW_FAULT)
  .refine(({ since, since_token }) => (since === undefined) !== (since_token === undefined), {
    path: ['since'],
    message: 'send either `since`, such as `2026-11-01T00:00:00Z`, or the `since_token` of an earlier call',
  })
  .refine(({ since_token, until }) => since_token === undefined || until === undefined, {
    path: ['until'],
    message: '`since_token` takes no `until`: its call ends now',
  });

type Asked = {
  readonly operationId: string;
  readonly workspaceId: string;
  /** `null` for all tracked brands. */
  readonly brandId: string | null;
  readonly query: z.infer<typeof changesQuery>;
  /** Last values of the cursor, `cursorOf(window)`; empty on the first page. */
  readonly first: readonly (string | number)[];
};
/** `mark`: position of the workspace's first event, and id of the event at `position`. Another log has others. */
type Place = Cut & { readonly position: bigint; readonly mark: string };
type Window = { readonly since: Cut; readonly until: Place; readonly now: Date };

const TOKEN_FAULT =
  'The token is invalid, or belongs to another endpoint, workspace or brand, or to a log that was replaced. Send `since` instead, with the time of the call that you want to go on from.';
const tokenRefusal = (): Refusal =>
  new Refusal('invalid_cursor', TOKEN_FAULT, [
    { path: 'since_token', message: TOKEN_FAULT, code: 'invalid_token' },
  ]);
const CURSOR_FAULT = 'The cursor belongs to a log that was replaced. Start again without a cursor.';
const cursorRefusal = (): Refusal =>
  new Refusal('invalid_cursor', CURSOR_FAULT, [
    { path: 'cursor', message: CURSOR_FAULT, code: 'invalid_cursor' },
  ]);

const NO_TIME = '';
const cursorOf = ({ position, recordedUntil, mark }: Place): readonly string[] => [
  recordedUntil?.toISOString() ?? NO_TIME,
  position.toString(),
  mark,
];
const placeOf = ([time, position, mark]: readonly (string | number)[]): Place => ({
  recordedUntil: time === NO_TIME ? undefined : new Date(String(time)),
  position: BigInt(position ?? 0),
  mark: String(mark),
});

/** Reads the short stream to its end, because the client keeps an abandoned read open. */
const readMark = async (eventStore: EventStore, workspaceId: string): Promise<string> => {
  let mark = '';
  for await (const { revision, position } of eventStore.read<Event>(workspaceStream(workspaceId)))
    if (revision === 0n) mark = position.toString();
  return mark;
};

const scopeOf = ({ operationId, workspaceId, brandId }: Asked): string =>
  JSON.stringify(['since_token', operationId, workspaceId, brandId]);

const openToken = (asked: Asked, token: string, { cursors }: OperationDependencies): Place => {
  try {
    return placeOf(cursors.open(token, scopeOf(asked)));
  } catch (error) {
    throw error instanceof Refusal ? tokenRefusal() : error;
  }
};

/**
 * The later moment is a place in the log: an event that is being recorded now may have an earlier time, and would be
 * missed by a call that goes on from a time. Later pages have the moments of the first.
 */
const openWindow = async (asked: Asked, dependencies: OperationDependencies): Promise<Window> => {
  const { query, first } = asked;
  const { eventStore } = dependencies;
  const now = dependencies.clock.now();
  const created = await readMark(eventStore, asked.workspaceId);
  const markAt = async (position: bigint): Promise<string> =>
    `${created} ${(await eventStore.idAt(position)) ?? ''}`;
  const after = query.since_token === undefined ? null : openToken(asked, query.since_token, dependencies);
  if (after !== null && after.mark !== (await markAt(after.position))) throw tokenRefusal();
  const since = after ?? { recordedUntil: requirePast('since', query.since ?? '', now) };
  const recordedUntil = query.until === undefined ? undefined : requirePast('until', query.until, now);
  const ofPage = first.length > 0 ? placeOf(first) : null;
  const position = ofPage?.position ?? (await eventStore.head());
  const mark = await markAt(position);
  const until = ofPage ?? { recordedUntil, position, mark };
  if (until.mark !== mark) throw cursorRefusal();
  // An older backup of the log was restored.
  if (after !== null && after.position > until.position) throw tokenRefusal();
  return { since, until, now };
};

const signToken = (asked: Asked, { until }: Window, { cursors }: OperationDependencies): string =>
  cursors.sign(scopeOf(asked), cursorOf(until));

const example: Change = {
  subject: 'ad',
  id: AD_ID,
  change: 'changed',
  field: 'status',
  before: 'missing',
  after: 'inactive',
  events: [
    {
      stream: `adLibrary-${BRAND_ID}`,
      revision: 812,
      type: 'AdConfirmedInactive',
      recorded_at: '2026-11-20T06:00:04.121Z',
      observed_at: '2026-11-20T06:00:00.000Z',
    },
  ],
  events_total: 1,
  url: `${BASE_URL}/v1/ads/${AD_ID}`,
};

const FOLLOWING =
  'To follow changes, read all pages and send the header `x-next-since-token` of the last one as `since_token` of the next call: each change is then listed once, also what was being recorded during a call.';
const LIMITS = `At most ${BETWEEN_MAX.toLocaleString('en')} events of a brand may lie between the moments; send \`since\` and an earlier \`until\` when there are more.`;

export const listBrandChanges = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/changes',
  operationId: 'listBrandChanges',
  tag: 'Brands',
  scope: 'ads:read',
  summary: 'List what changed between two moments',
  description: `The differences between the answers of two past moments, field by field, with the events that were recorded between them: of the brand, of each day of its activity, and of each of its ads. Times of sightings and ages, which grow with each scan, are left out. ${LIMITS} ${FOLLOWING}`,
  query: changesQuery,
  reply: { status: 200, shape: 'paged', data: BrandChange, example: [example] },
  heavy: true,
  reads: COMPARED,
  beyondContract: true,
  handler: async ({ params, query, page, caller: { workspaceId } }, dependencies) => {
    const { brand_id: brandId } = await requireBrand(dependencies.db, params.brandId);
    const [start = 0, ...first] = page.after ?? [];
    const asked = { operationId: 'listBrandChanges', workspaceId, brandId, query, first };
    const window = await openWindow(asked, dependencies);
    const compared = await compareMoments(dependencies, workspaceId, brandId, window);
    const { differences, show, brand, firstRecorded } = compared;
    const { recordedUntil } = window.until;
    if (recordedUntil && firstRecorded && recordedUntil < firstRecorded)
      throw beforeFirstEvent('until', 'recorded', firstRecorded, window.now);
    const end = Number(start) + page.limit;
    const items = differences.slice(Number(start), end).map(show);
    const observed = brand?.['as_of'];
    return {
      data: JSON.stringify(items),
      asOf:
        typeof observed === 'string' ? observed : (window.until.recordedUntil ?? window.now).toISOString(),
      count: items.length,
      total: differences.length,
      next: end < differences.length ? [end, ...cursorOf(window.until)] : null,
      sinceToken: signToken(asked, window, dependencies),
    };
  },
});

/** Brands of a page whose streams are read; a page with fewer items than `limit` goes on at its cursor. */
const BRANDS_MAX = 250;
/** Brands of a page that are compared: each comparison opens tables, which takes its time even without a difference. */
const COMPARISONS_MAX = 16;
/** Events of a page after which no further brand is compared. */
const EVENTS_MAX = 50_000;
const STREAMS_AT_ONCE = 16;

/** Brands that the workspace tracked at the moment, in the order of their ids. */
const trackedAt = async (
  eventStore: EventStore,
  workspaceId: string,
  until: Cut,
): Promise<readonly string[]> => {
  let state = tracking.initial;
  for await (const event of eventStore.read<TrackingEvent>(trackingStream(workspaceId)))
    if (isWithin(until, event)) state = tracking.evolve(state, event);
  return Array.from(state.brands, ([brandId]) => brandId).toSorted();
};

/** Whether something was recorded after `since` about the brand, or about a category whose name it shows. */
const hasNews = async (
  brandId: string,
  since: Cut,
  isNewer: (stream: string) => Promise<boolean>,
  eventStore: EventStore,
): Promise<boolean> => {
  if (await isNewer(adLibraryStream(brandId))) return true;
  const categories = new Set<string>();
  for await (const { type, data, ...event } of eventStore.read<BrandEvent>(brandStream(brandId))) {
    if (!isWithin(since, event)) return true;
    const path = type === 'BrandRegistered' ? data.category_path : (data.changes.category_path ?? []);
    for (const { id } of path) categories.add(id);
  }
  for (const id of categories) if (await isNewer(categoryStream(id))) return true;
  return false;
};

/** Streams are read in chunks of brands, so that a page knows which brands to compare before it folds any. */
const selectChanged = async (
  brandIds: readonly string[],
  since: Cut,
  eventStore: EventStore,
): Promise<readonly string[]> => {
  const known = new Map<string, Promise<boolean>>();
  const isNewer = (stream: string): Promise<boolean> => {
    const asked =
      known.get(stream) ??
      eventStore.last<Event>(stream).then((event) => event !== null && !isWithin(since, event));
    known.set(stream, asked);
    return asked;
  };
  const changed: string[] = [];
  for (let from = 0; from < brandIds.length; from += STREAMS_AT_ONCE) {
    const chunk = brandIds.slice(from, from + STREAMS_AT_ONCE);
    const found = await Promise.all(chunk.map((id) => hasNews(id, since, isNewer, eventStore)));
    changed.push(...chunk.filter((_, index) => found[index]));
  }
  return changed;
};

export const listWorkspaceChanges = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/changes',
  operationId: 'listWorkspaceChanges',
  tag: 'Tracked brands',
  scope: 'ads:read',
  summary: 'List what changed at tracked brands between two moments',
  description: `The changes of each brand that the workspace tracked at the later moment, as the list of one brand has them, by the ids of the brands. A page ends after ${BRANDS_MAX} brands, ${COMPARISONS_MAX} of which something was recorded, or ${EVENTS_MAX.toLocaleString('en')} events; it can have fewer items than \`limit\`, or none, and the list goes on while there is a cursor. ${LIMITS} A brand that was tracked after the last call is listed with its changes since that call. ${FOLLOWING}`,
  query: changesQuery,
  reply: {
    status: 200,
    shape: 'paged',
    data: WorkspaceChange,
    example: [{ brand: brandReference, ...example }],
  },
  heavy: true,
  reads: ['tracking', ...COMPARED],
  beyondContract: true,
  handler: async ({ params: { ws: workspaceId }, query, page }, dependencies) => {
    const { eventStore } = dependencies;
    const [startBrand = '', startChange = 0, ...first] = page.after ?? [];
    const asked = { operationId: 'listWorkspaceChanges', workspaceId, brandId: null, query, first };
    const window = await openWindow(asked, dependencies);
    const tracked = await trackedAt(eventStore, workspaceId, window.until);
    const left = tracked.filter((brandId) => brandId >= String(startBrand));
    const looked = left.slice(0, BRANDS_MAX);
    const items: z.infer<typeof WorkspaceChange>[] = [];
    const times: string[] = [];
    /** Brand and change at which the next page begins. */
    let next: readonly [string, number] | null =
      left[BRANDS_MAX] === undefined ? null : [left[BRANDS_MAX], 0];
    let events = 0;
    const changed = await selectChanged(looked, window.since, eventStore);
    for (const [place, brandId] of changed.entries()) {
      if (items.length >= page.limit || place >= COMPARISONS_MAX || events >= EVENTS_MAX) {
        next = [brandId, 0];
        break;
      }
      const compared = await compareMoments(dependencies, workspaceId, brandId, window);
      events += compared.events;
      if (compared.brand === undefined) continue;
      const brand = BrandReference.parse(
        Object.fromEntries(Object.keys(BrandReference.shape).map((name) => [name, compared.brand?.[name]])),
      );
      if (typeof compared.brand['as_of'] === 'string') times.push(compared.brand['as_of']);
      const from = brandId === startBrand ? Number(startChange) : 0;
      const end = from + page.limit - items.length;
      for (const one of compared.differences.slice(from, end)) items.push({ brand, ...compared.show(one) });
      if (end < compared.differences.length) {
        next = [brandId, end];
        break;
      }
    }
    return {
      data: JSON.stringify(items),
      asOf: latestOf(times) ?? (window.until.recordedUntil ?? window.now).toISOString(),
      count: items.length,
      next: next && [...next, ...cursorOf(window.until)],
      sinceToken: signToken(asked, window, dependencies),
    };
  },
});
