import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { ERRORS, Refusal } from '#contracts/errors.ts';
import { observedAt } from '#application/as-of/event-streams.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event } from '#contracts/events/event.ts';
import { SCOPES_OF_ROLE } from '#contracts/values/access.ts';
import { WINDOW_DAYS, windowStart } from '#contracts/values/windows.ts';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { THUMBNAIL_TYPE } from '#application/media/thumbnails.ts';
import { getBrandDailyActivity } from '#operations/brands/activity.ts';
import { getBrand } from '#operations/brands/brands.ts';
import { getBrandCoverage } from '#operations/brands/coverage.ts';
import { listAdCreatives } from '#operations/creatives.ts';
import { listRadar } from '#operations/radar.ts';
import { listTrackedBrands } from '#operations/tracked-brands.ts';
import { isTrackedBrand } from '#projections/tracking/read.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { memoryFile, sendMemoryFile } from '#platform/http/memory-file.ts';
import { type McpDependencies, createToolContext, sentenceOf, takeRequests } from '../calls.ts';
import { creativesIn } from '../output/pictures.ts';
import { PLOT_DAYS } from '../pages/activity-plot.ts';
import {
  BRAND_SCRIPT,
  BRAND_STYLE,
  type BrandPage,
  type KnownBrand,
  brandPage,
  brandsPage,
  brandsPath,
} from '../pages/brand-page.ts';
import type { PastInput } from '../output/result.ts';
import type { ToolContext } from '../tools/define-tool.ts';
import { momentIn } from '../tools/parameters.ts';
import {
  ACCOUNT,
  type MemberPages,
  findSignedIn,
  sendMessage,
  sendPage,
  sendToSignIn,
} from './pages-context.ts';

const TRACKED_MAX = 100;
const RADAR_ITEMS = 20;
/** The brand now; then brand, activity and radar of a past moment, or activity, radar and coverage. */
const BRAND_PAGE_COST = 4;
const PICTURE_KEPT_SECONDS = 3_600;
const FIRST_TIMES_MAX = 10_000;

const FILES = [
  { url: BRAND_STYLE, type: 'text/css; charset=utf-8', name: 'brand.css' },
  { url: BRAND_SCRIPT, type: 'text/javascript; charset=utf-8', name: 'brand.js' },
];

/** The files hold no secret. Browsers revalidate them, so that a new version takes effect at once. */
const registerFiles = (app: FastifyInstance): void => {
  for (const { url, type, name } of FILES) {
    const file = memoryFile(type, readFileSync(new URL(`../pages/${name}`, import.meta.url), 'utf8'));
    app.get(url, (request, reply) => {
      void reply.headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
      return sendMemoryFile(request, reply, file);
    });
  }
};

/** The first event of a stream never changes, so entries do not expire. */
const createFirstTimes = (eventStore: Pick<EventStore, 'read'>) => {
  const known = new LRUCache<string, Date>({ max: FIRST_TIMES_MAX });
  return async (brandId: string): Promise<Date | null> => {
    let first = known.get(brandId);
    if (first !== undefined) return first;
    // Reads the short stream to its end: the client keeps an abandoned read open until disconnection.
    for await (const event of eventStore.read<Event>(brandStream(brandId)))
      first ??= new Date(observedAt(event));
    if (first !== undefined) known.set(brandId, first);
    return first ?? null;
  };
};

type Asked = {
  /** Empty: now. */
  readonly moments: PastInput;
  readonly cursor: string | undefined;
  readonly hasLeft: () => boolean;
};

/** One read after the other, because a workspace has one place for past reads. `left`: the client has gone. */
const readKnown = async (
  context: ToolContext,
  present: KnownBrand['brand'],
  { moments, cursor, hasLeft }: Asked,
): Promise<KnownBrand | 'left'> => {
  const params = { brandId: present.id };
  const moment = momentIn(moments);
  const past = moment === undefined ? null : await context.call(getBrand, { params, query: moments });
  if (hasLeft()) return 'left';
  const brand = past === null ? present : (past.data as unknown as KnownBrand['brand']);
  const end = new Date(moment ?? context.now).toISOString();
  // The figures are about days up to the last scan, which may be long ago.
  const [from] = [windowStart(end, PLOT_DAYS), windowStart(brand.as_of, WINDOW_DAYS.month)].toSorted();
  const activity = await context.call(getBrandDailyActivity, { params, query: { ...moments, from } });
  if (hasLeft()) return 'left';
  const radar = await context.call(listRadar, {
    query: { ...moments, brand_id: present.id, days: PLOT_DAYS, limit: RADAR_ITEMS, cursor },
  });
  const coverage = moment === undefined ? await context.call(getBrandCoverage, { params }) : null;
  return {
    brand,
    activity: activity.data as never,
    radar: radar.data as never,
    cursor: radar.cursor,
    coverage: coverage && (coverage.data as never),
    past: activity.past,
  };
};

/** Codes of moments that were and have no answer. The page stays, so that the slider leads on. */
const UNANSWERED: ReadonlySet<string> = new Set(['before_first_event', 'late_observation']);

/** Without what callers of the API may send in place of the moment. `null` for another error. */
const unansweredReason = (error: unknown): string | null => {
  const details = error instanceof Refusal ? error.details : [];
  const found = details.find(({ code }) => UNANSWERED.has(code));
  return found?.message.split(';')[0] ?? null;
};

const WITH_HEAD = { exposeHeadRoute: true };

type Visit = { readonly membership: Membership; readonly context: ToolContext };

const NOT_SIGNED_IN = new Refusal('unauthorized', 'Sign in.');
const NO_PAGE = new Refusal('not_found', 'No such page.');

/** Answers refusals in words. Other errors are worded by the handler of all pages. */
const sendRefusal = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  pages: MemberPages,
): FastifyReply => {
  if (!(error instanceof Refusal)) throw error;
  switch (error.code) {
    case 'unauthorized':
      return sendToSignIn(pages, request, reply);
    case 'not_found':
      return sendMessage(
        reply,
        ERRORS.not_found.status,
        'Page not found',
        'There is no such page in your workspaces. Your account lists them, with their brands.',
      );
    case 'rate_limited':
      void reply.header('retry-after', String(error.retryAfterSeconds));
      return sendMessage(reply, ERRORS.rate_limited.status, 'Too many requests', error.message);
    case 'invalid_input':
    case 'invalid_cursor':
      return sendMessage(
        reply,
        ERRORS.invalid_input.status,
        'This cannot be shown',
        sentenceOf(error, request.id, pages.log),
      );
    default:
      throw error;
  }
};

const registerRoutes = (app: FastifyInstance, pages: MemberPages, dependencies: McpDependencies): void => {
  const { history, clock } = pages;
  const firstObservedAt = createFirstTimes(dependencies.eventStore);

  /** Counts `cost` requests of the member. Throws `Refusal` for those who get no page. */
  const enter = async (request: FastifyRequest, cost: number, isPage = true): Promise<Visit> => {
    const signedIn = await findSignedIn(pages, request);
    if (!signedIn) throw NOT_SIGNED_IN;
    const { account, browser } = signedIn;
    const { ws } = request.params as { readonly ws: string };
    const membership = account.memberships.find(({ workspaceId }) => workspaceId === ws);
    if (!membership) throw NO_PAGE;
    const { role, workspaceName: _, ...member } = membership;
    const scopes = new Set(SCOPES_OF_ROLE[role].filter((scope) => scope.endsWith(':read')));
    const caller = { kind: 'connection', keyId: browser.signInId, role, scopes, ...member } as const;
    const allowance = takeRequests(caller, cost, dependencies.requestCounts);
    if (allowance && !allowance.allowed) {
      const message = `The limit of your plan is reached. Try again in ${allowance.resetIn} s.`;
      throw new Refusal('rate_limited', message, [], allowance.resetIn);
    }
    if (isPage) await history.opened(membership, browser);
    const call = { caller, requestId: request.id, now: clock.now().getTime() };
    return { membership, context: createToolContext(call, dependencies) };
  };

  app.get(`${ACCOUNT}/workspaces/:ws/brands`, WITH_HEAD, async (request, reply) => {
    const { membership, context } = await enter(request, 1);
    const { cursor } = request.query as { readonly cursor?: unknown };
    const { data, cursor: next } = await context.call(listTrackedBrands, {
      query: { limit: TRACKED_MAX, cursor },
    });
    const path = brandsPath(membership.workspaceId);
    const nextPath = next && `${path}?${new URLSearchParams({ cursor: next }).toString()}`;
    return sendPage(reply, brandsPage(membership, data as never, nextPath), { hasFiles: true });
  });

  app.get(`${ACCOUNT}/workspaces/:ws/brands/:brand`, WITH_HEAD, async (request, reply) => {
    const { membership, context } = await enter(request, BRAND_PAGE_COST);
    const { as_of, observed_as_of, cursor } = request.query as Readonly<Record<string, string | undefined>>;
    const moments = { as_of, observed_as_of };
    const { brand: brandId } = request.params as { readonly brand: string };
    const present = await context.call(getBrand, { params: { brandId } });
    const brand = present.data as unknown as KnownBrand['brand'];
    const asked = { moments, cursor, hasLeft: () => reply.raw.closed };
    const known = await readKnown(context, brand, asked).catch((error: unknown) => {
      const reason = unansweredReason(error);
      if (reason === null) throw error;
      return { reason };
    });
    if (known === 'left') return reply.hijack();
    const page: BrandPage = {
      membership,
      brand,
      known: 'reason' in known ? known.reason : known,
      firstObservedAt: (await firstObservedAt(brand.id)) ?? new Date(context.now),
      now: new Date(context.now),
      moments,
      isTracked: await isTrackedBrand(dependencies.db, membership.workspaceId, brand.id),
    };
    return sendPage(reply, brandPage(page), { hasFiles: true });
  });

  /** A thumbnail of the first stored file of an ad; 204 when none is stored. */
  app.get(`${ACCOUNT}/workspaces/:ws/ads/:adId/picture`, async (request, reply) => {
    const { context } = await enter(request, 1, false);
    const { adId } = request.params as { readonly adId: string };
    const { data } = await context.call(listAdCreatives, { params: { adId } });
    const asked = { count: 1, type: 'webp' } as const;
    const [picture] = (await context.pictures(creativesIn(data, context.baseUrl), asked)).blocks;
    // Files are copied some time after their ad was observed.
    if (picture === undefined) return reply.code(204).header('cache-control', 'no-store').send();
    return reply
      .headers({
        'cache-control': `private, max-age=${PICTURE_KEPT_SECONDS}`,
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      })
      .type(THUMBNAIL_TYPE)
      .send(Buffer.from(picture.data, 'base64'));
  });
};

export const registerBrandPages = async (
  app: FastifyInstance,
  pages: MemberPages,
  dependencies: McpDependencies,
): Promise<void> => {
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => sendRefusal(error, request, reply, pages));
    registerFiles(scope);
    registerRoutes(scope, pages, dependencies);
  });
};
