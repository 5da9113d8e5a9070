import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { utcDate } from '#contracts/values/time.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { BrandChange, EVENTS_OF_CHANGE_MAX } from '#contracts/resources/corpus/change.ts';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import type { Cut } from '#application/as-of/past-reads.ts';
import { listBrandAds } from '#projections/ads/read.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { findBrandWithFreshness } from '#projections/queries/brands.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';

export type Change = z.infer<typeof BrandChange>;
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

/** Read models that are compared. */
export const COMPARED = ['brands', 'freshness', 'daily-activity', 'ads'] as const;

export type Comparison = {
  readonly differences: readonly Difference[];
  /** Adds the events to a difference. */
  readonly show: (difference: Difference) => Change;
  /** The brand as of the later moment. */
  readonly brand: Rec | undefined;
  /** Events that were read. */
  readonly events: number;
  /** When the first event about the brand was recorded. */
  readonly firstRecorded: Date | null;
};

/** Compares the answers about a brand of two moments. Throws `Refusal` for too many events. */
export const compareMoments = async (
  { pastReads, pastPlaces, baseUrl }: OperationDependencies,
  workspaceId: string,
  brandId: string,
  { since, until }: { readonly since: Cut; readonly until: Cut },
): Promise<Comparison> => {
  const { before, after, between, basis } = await pastPlaces(workspaceId, () =>
    pastReads.compare(
      { streams: streamsOfBrand(brandId), ofTracked: null, readModels: COMPARED, until, since },
      (past) => readSnapshot(past, brandId, baseUrl),
    ),
  );
  const newest = between.toSorted((one, other) => Number(other.position - one.position));
  const show = (difference: Difference): Change => {
    const events = newest.filter((event) => isAbout(difference, event));
    return {
      ...difference,
      events: events.slice(0, EVENTS_OF_CHANGE_MAX).map(shownEvent),
      events_total: events.length,
      url: `${baseUrl}${addressOf(difference, `/v1/brands/${brandId}`)}`,
    };
  };
  return {
    differences: compareSnapshots(before, after),
    show,
    brand: after.brand.get(brandId),
    events: basis.events,
    firstRecorded: basis.earliest.recorded,
  };
};
