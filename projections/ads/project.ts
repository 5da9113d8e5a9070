import { isDeepStrictEqual } from 'node:util';
import type {
  AdAttributed,
  AdObservationCorrected,
  AdRecord,
  AdStanding,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import { utcDate } from '#contracts/values/time.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, type Row, type Statement, projection } from '../define-projection.ts';

/** Entries for events that correct earlier ones: never news in an ad's history. */

const FIELDS = {
  status: 'status',
  page_id: 'page_id',
  format: 'format',
  countries: 'countries',
  started_on: 'started_on',
  stopped_on: 'stopped_on',
  first_seen_at: 'first_seen_at',
  seen_at: 'last_seen_at',
  missing_since: 'missing_since',
  inactive_since: 'inactive_since',
  basis: 'basis',
  novelty: 'novelty',
} as const satisfies Partial<Record<keyof AdStanding, string>>;

/** `changes` is `null` if the late scan is the first that shows the ad; other looks are withdrawn or added. */
export const correctionDetail = ({ before, after, withdrawn, added }: AdObservationCorrected['data']) => ({
  changes:
    before &&
    Object.fromEntries(
      (Object.keys(FIELDS) as (keyof typeof FIELDS)[])
        .filter((field) => !isDeepStrictEqual(before[field], after[field]))
        .map((field) => [FIELDS[field], { from: before[field], to: after[field] }]),
    ),
  withdrawn,
  added,
});

export const attributionDetail = ({ from_brand_id, to_brand_id }: AdAttributed['data']) => ({
  from_brand_id,
  to_brand_id,
});

/** For changes newer than the event that last replaced the ad: streams of a moved ad apply in either order. */
const IS_NEWER = 'a.full_at < i.position';

/** Marks ads as missing, last seen by the last complete scan of their page. */
const miss: Statement = {
  columns: { ad_id: 'text', position: 'bigint' },
  touches: ['ad', 'page'],
  rowsBy: { ad: ['ad_id'] },
  sql: `
    update ad a set status = 'missing',
      seen_at = case when a.not_shown_since then a.seen_at else greatest(a.seen_at, p.complete_at) end
    from :input i left join ad k using (ad_id) left join page p on p.brand_id = k.brand_id and p.social_page_id = k.social_page_id
    where a.ad_id = i.ad_id and a.status = 'active' and ${IS_NEWER}`,
};

const see: Statement = {
  columns: { ad_id: 'text', position: 'bigint', seen_at: 'timestamptz' },
  touches: ['ad'],
  rowsBy: { ad: ['ad_id'] },
  sql: `
    update ad a set status = case when a.status = 'missing' then 'active' else a.status end,
      seen_at = greatest(a.seen_at, s.seen_at), not_shown_since = false
    from (
      select i.ad_id, max(i.seen_at) as seen_at from :input i join ad a using (ad_id) where ${IS_NEWER} group by i.ad_id
    ) s where a.ad_id = s.ad_id`,
};

const cover: Statement = {
  columns: { brand_id: 'uuid', social_page_id: 'text', complete_at: 'timestamptz' },
  touches: ['page'],
  rowsBy: { page: ['brand_id', 'social_page_id'] },
  sql: `
    insert into page as p (brand_id, social_page_id, complete_at)
    select brand_id, social_page_id, max(complete_at) from :input i group by brand_id, social_page_id
    on conflict (brand_id, social_page_id) do update set complete_at = greatest(p.complete_at, excluded.complete_at)`,
};

type LibraryEvent = RecordedEvent<AdLibraryEvent>;

type HistoryChange =
  | 'started'
  | 'revised'
  | 'destination_changed'
  | 'confirmed_inactive'
  | 'returned'
  | 'corrected'
  | 'attributed';

const history = (event: LibraryEvent, ad_id: string, change: HistoryChange, detail: object): Change => ({
  kind: 'insert',
  table: 'history',
  row: { ad_id, position: event.position, at: event.data.observed_at, change, detail },
});

const precedence = ({ position }: LibraryEvent) => ({ column: 'full_at', position }) as const;

const update = (event: LibraryEvent, ad_id: string, set: Row): Change => ({
  kind: 'update',
  table: 'ad',
  key: { ad_id },
  set,
  precedence: precedence(event),
});

type FullAd = Pick<
  AdRecord,
  | 'ad_id'
  | 'page_id'
  | 'page_name'
  | 'status'
  | 'content'
  | 'format'
  | 'countries'
  | 'started_on'
  | 'stopped_on'
  | 'first_seen_at'
  | 'seen_at'
  | 'observed_running'
  | 'inactive_since'
> & { readonly not_shown_since?: true };

const replaceAd = (event: LibraryEvent, ad: FullAd): Change => ({
  kind: 'upsert',
  table: 'ad',
  key: { ad_id: ad.ad_id },
  set: {
    brand_id: event.data.brand_id,
    social_page_id: ad.page_id,
    page_name: ad.page_name,
    status: ad.status,
    ...contentColumns(ad.content),
    format: ad.format,
    countries: ad.countries,
    started_on: ad.started_on,
    stopped_on: ad.stopped_on,
    listed_on: ad.started_on ?? utcDate(ad.first_seen_at),
    first_seen_at: ad.first_seen_at,
    seen_at: ad.seen_at,
    observed_running: ad.observed_running,
    not_shown_since: ad.not_shown_since ?? false,
    inactive_since: ad.inactive_since,
  },
  precedence: precedence(event),
});

/** Named one by one, because events of other versions may hold more fields. */
const CONTENT = [
  'body',
  'title',
  'link_description',
  'caption',
  'cta_type',
  'cta_text',
  'link_url',
  'format',
  'platforms',
  'languages',
  'media',
  'cards',
  'versions',
] as const satisfies readonly (keyof AdContent)[];

/** One order of columns, so that the projector writes all such changes together. */
const contentColumns = (content: Partial<AdContent>): Row =>
  Object.fromEntries(
    CONTENT.flatMap((name) => {
      const value = content[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

export const ads = projection<AdLibraryEvent | BrandEvent>({
  name: 'ads',
  version: 10,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { applied_scan: recordAppliedScan, miss, see, cover },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandReference(event);
      case 'AdStarted': {
        const { data } = event;
        const status = data.missing_since === null ? 'active' : 'missing';
        const { observed_at: first_seen_at, observed_at: seen_at } = data;
        return [
          replaceAd(event, {
            ...data,
            status,
            first_seen_at,
            seen_at,
            observed_running: true,
            stopped_on: null,
            inactive_since: null,
          }),
          history(event, data.ad_id, 'started', { novelty: data.novelty }),
        ];
      }
      case 'AdRevised': {
        const { ad_id, changes } = event.data;
        const set = Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change.to]));
        return [update(event, ad_id, contentColumns(set)), history(event, ad_id, 'revised', changes)];
      }
      case 'AdDetailsObserved': {
        const { ad_id, details, page_id, page_name, started_on, countries } = event.data;
        return [
          update(event, ad_id, {
            ...contentColumns(details),
            social_page_id: page_id,
            page_name,
            countries,
            ...(started_on === null ? {} : { started_on, listed_on: started_on }),
          }),
        ];
      }
      case 'AdDestinationChanged': {
        const { ad_id, from_url, to_url } = event.data;
        return [
          update(event, ad_id, { link_url: to_url }),
          history(event, ad_id, 'destination_changed', { from_url, to_url }),
        ];
      }
      case 'AdConfirmedInactive': {
        const { ad_id, basis, stopped_on, last_seen_at, observed_at } = event.data;
        return [
          update(event, ad_id, {
            status: 'inactive',
            stopped_on,
            inactive_since: observed_at,
            seen_at: last_seen_at,
            observed_running: event.data.observed_running,
            // Set as in a return, because changes with the same columns are written together.
            not_shown_since: false,
          }),
          history(event, ad_id, 'confirmed_inactive', { basis, stopped_on }),
        ];
      }
      case 'AdReturned': {
        const { ad_id, observed_at, inactive_since } = event.data;
        return [
          update(event, ad_id, {
            status: 'active',
            stopped_on: null,
            inactive_since: null,
            seen_at: observed_at,
            observed_running: true,
            not_shown_since: false,
          }),
          history(event, ad_id, 'returned', { inactive_since }),
        ];
      }
      case 'AdsMissed':
        return event.data.ad_ids.map((ad_id) => ({
          kind: 'run',
          statement: 'miss',
          row: { ad_id, position: event.position },
        }));
      case 'AdsStillInactive':
        return [];
      case 'AdsSeen': {
        const { ad_ids, observed_at } = event.data;
        return ad_ids.map((ad_id) => ({
          kind: 'run',
          statement: 'see',
          row: { ad_id, position: event.position, seen_at: observed_at },
        }));
      }
      case 'AdObservationCorrected': {
        const { data } = event;
        return [
          replaceAd(event, data.after),
          history(event, data.ad_id, 'corrected', correctionDetail(data)),
        ];
      }
      case 'AdAttributed': {
        const { data } = event;
        // The stream of the earlier brand has the event too. Only one of the two may replace the ad.
        if (data.brand_id !== data.to_brand_id) return [];
        return [replaceAd(event, data.ad), history(event, data.ad_id, 'attributed', attributionDetail(data))];
      }
      case 'ScanCorrected':
        return [appliedScan(event)];
      case 'AdsReworded':
        return event.data.ads.map(({ ad_id, wording }) => update(event, ad_id, contentColumns(wording)));
      case 'ScanRecorded': {
        const { complete, pages, brand_id, observed_at } = event.data;
        const covered = complete ? pages.filter(({ page_id, partial }) => page_id !== '' && !partial) : [];
        return [
          appliedScan(event),
          ...covered.map(
            ({ page_id }): Change => ({
              kind: 'run',
              statement: 'cover',
              row: { brand_id, social_page_id: page_id, complete_at: observed_at },
            }),
          ),
        ];
      }
    }
  },
});
