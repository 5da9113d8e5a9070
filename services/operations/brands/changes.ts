import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { utcDate } from '#contracts/values/time.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { BrandChange, EVENTS_OF_CHANGE_MAX } from '#contracts/resources/corpus/change.ts';
import { BETWEEN_MAX, streamsOfBrand } from '#application/as-of/past-reads.ts';
import { listBrandAds } from '#projections/ads/read.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { findBrandWithFreshness } from '#projections/queries/brands.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { AD_ID, BASE_URL, BRAND_ID } from '../endpoint/examples.ts';
import {
  brandParams,
  isTimeWindow,
  pageQuery,
  TIME_WINDOW_FAULT,
  timeWindow,
} from '../endpoint/parameters.ts';
import { requirePast } from '../endpoint/read-past.ts';
import { requireBrand } from './find-brand.ts';

type Change = z.infer<typeof BrandChange>;
type Subject = Change['subject'];
type Rec = Readonly<Record<string, unknown>>;
/** Records by id. */
type Snapshot = Readonly<Record<Subject, ReadonlyMap<string, Rec>>>;

const SUBJECTS: readonly Subject[] = ['brand', 'day', 'ad'];
/** Grow with each scan that sees the ad or brand, so they tell that it was looked at and no more. */
const LEFT_OUT: readonly string[] = ['as_of', 'last_ad_seen_at', 'last_seen_at', 'days_active'];
const ADS_PAGE = 1_000;

const readAds = async (db: ReadDatabase, brandId: string): Promise<ReadonlyMap<string, Rec>> => {
  const ads = new Map<string, Rec>();
  for (let after: readonly (string | number)[] | null = null; ; ) {
    const page = await listBrandAds(db, brandId, { limit: ADS_PAGE, after });
    for (const item of page.items) {
      const ad = JSON.parse(item) as Rec;
      ads.set(String(ad['id']), ad);
    }
    if (page.next === null) return ads;
    after = page.next;
  }
};

const readSnapshot = async (db: ReadDatabase, brandId: string, baseUrl: string): Promise<Snapshot> => {
  const brand = await findBrandWithFreshness(db, { id: brandId });
  const { items } = await readDailyActivity(db, brandId, {});
  const days = items.map((item) => JSON.parse(item) as Rec);
  return {
    brand: new Map(
      brand ? [[brandId, JSON.parse(brand.detail.replaceAll(BASE_URL_MARK, baseUrl)) as Rec]] : [],
    ),
    day: new Map(days.map((day) => [String(day['date']), day])),
    ad: await readAds(db, brandId),
  };
};

type Difference = Omit<Change, 'events' | 'events_total' | 'url'>;

const differencesOf = (subject: Subject, id: string, before?: Rec, after?: Rec): readonly Difference[] => {
  if (before === undefined || after === undefined) {
    const change = before === undefined ? 'added' : 'removed';
    return [{ subject, id, change, field: null, before: before ?? null, after: after ?? null }];
  }
  return Object.keys(after)
    .filter((field) => !LEFT_OUT.includes(field) && !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({ subject, id, change: 'changed', field, before: before[field], after: after[field] }));
};

/** By subject, id and field. */
const compareSnapshots = (before: Snapshot, after: Snapshot): readonly Difference[] =>
  SUBJECTS.flatMap((subject) =>
    [...new Set([...before[subject].keys(), ...after[subject].keys()])]
      .toSorted()
      .flatMap((id) => differencesOf(subject, id, before[subject].get(id), after[subject].get(id))),
  );

type Told = {
  readonly ad_id?: string;
  readonly ad_ids?: readonly string[];
  readonly ads?: readonly { readonly ad_id: string }[];
  readonly observed_at?: string;
};

const isAbout = ({ subject, id }: Difference, { stream, data }: RecordedEvent): boolean => {
  const { ad_id, ad_ids, ads, observed_at } = data as Told;
  if (subject === 'ad')
    return ad_id === id || ad_ids?.includes(id) === true || ads?.some((one) => one.ad_id === id) === true;
  if (subject === 'day') return observed_at !== undefined && utcDate(observed_at) === id;
  return streamsOfBrand(id).includes(stream);
};

const shownEvent = ({ stream, revision, type, recordedAt, data }: RecordedEvent) => ({
  stream,
  revision: Number(revision),
  type,
  recorded_at: recordedAt.toISOString(),
  observed_at: (data as Told).observed_at ?? null,
});

const addressOf = ({ subject, id }: Difference, brand: string): string => {
  if (subject === 'ad') return `/v1/ads/${id}`;
  return subject === 'day' ? `${brand}/daily-activity?from=${id}&to=${id}` : brand;
};

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

export const listBrandChanges = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/changes',
  operationId: 'listBrandChanges',
  tag: 'Brands',
  scope: 'ads:read',
  summary: 'List what changed between two moments',
  description: `The differences between the answers of two past moments, field by field, with the events that were recorded between them: of the brand, of each day of its activity, and of each of its ads. Times of sightings and ages, which grow with each scan, are left out. At most ${BETWEEN_MAX.toLocaleString('en')} events may lie between the moments. To follow a brand, send \`until\` too, and the same time as the \`since\` of the next call: \`meta.as_of\` is a time of observation.`,
  params: brandParams,
  query: z
    .strictObject({
      ...pageQuery,
      since: timeWindow.since
        .unwrap()
        .meta({ description: 'The earlier moment, such as `2026-11-01T00:00:00Z`.' }),
      until: timeWindow.until.meta({ description: 'The later moment. Now when absent.' }),
    })
    .refine(isTimeWindow, TIME_WINDOW_FAULT),
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'paged', data: BrandChange, example: [example] },
  errors: ['not_found'],
  corpus: true,
  heavy: true,
  reads: ['brands', 'freshness', 'daily-activity', 'ads'],
  beyondContract: true,
  handler: async ({ params, query, page, caller }, { db, pastReads, pastPlaces, clock, baseUrl }) => {
    const { brand_id: brandId } = await requireBrand(db, params.brandId);
    // Later pages compare the moments of the first.
    const [start = 0, first = query.until] = page.after ?? [];
    const now = clock.now();
    const until = first === undefined ? now : requirePast('until', String(first), now);
    const since = requirePast('since', query.since, now);
    const { before, after, between } = await pastPlaces(caller.workspaceId, () =>
      pastReads.compare(
        {
          streams: streamsOfBrand(brandId),
          ofTracked: null,
          readModels: ['brands', 'freshness', 'daily-activity', 'ads'],
          recordedUntil: until,
          since,
        },
        (past) => readSnapshot(past, brandId, baseUrl),
      ),
    );
    const all = compareSnapshots(before, after);
    const from = Number(start);
    const shown = all.slice(from, from + page.limit);
    const newest = between.toSorted((one, other) => Number(other.position - one.position));
    const items = shown.map((difference): Change => {
      const events = newest.filter((event) => isAbout(difference, event));
      return {
        ...difference,
        events: events.slice(0, EVENTS_OF_CHANGE_MAX).map(shownEvent),
        events_total: events.length,
        url: `${baseUrl}${addressOf(difference, `/v1/brands/${brandId}`)}`,
      };
    });
    const end = from + shown.length;
    const observed = after.brand.get(brandId)?.['as_of'];
    return {
      data: JSON.stringify(items),
      asOf: typeof observed === 'string' ? observed : until.toISOString(),
      count: items.length,
      next: end < all.length ? [end, until.toISOString()] : null,
    };
  },
});
