import { utcDate } from '#contracts/values/time.ts';
import type { AdContent, AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

type HistoryChange = 'started' | 'revised' | 'destination_changed' | 'confirmed_inactive' | 'returned';

const history = (
  event: RecordedEvent<AdLibraryEvent>,
  ad_id: string,
  change: HistoryChange,
  detail: object,
): Change => ({
  kind: 'insert',
  table: 'history',
  row: { ad_id, position: event.position, at: event.data.observed_at, change, detail },
});

const update = (ad_id: string, set: Row): Change => ({ kind: 'update', table: 'ad', key: { ad_id }, set });

const contentColumns = (content: Partial<AdContent>): Row => content;

/** Ads as last observed, with their history; full-text search over their copy. */
export const ads = projection<AdLibraryEvent | BrandEvent>({
  name: 'ads',
  version: 4,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    applied_scan: recordAppliedScan,
    miss: {
      columns: { ad_id: 'text' },
      touches: ['ad', 'page'],
      sql: `
        update ad a set status = 'missing', seen_at = greatest(a.seen_at, p.complete_at)
        from :input i left join ad k using (ad_id) left join page p on p.brand_id = k.brand_id and p.social_page_id = k.social_page_id
        where a.ad_id = i.ad_id and a.status = 'active'`,
    },
    see: {
      columns: { ad_id: 'text', seen_at: 'timestamptz' },
      touches: ['ad'],
      sql: `
        update ad a set status = case when a.status = 'missing' then 'active' else a.status end,
          seen_at = greatest(a.seen_at, i.seen_at)
        from (select ad_id, max(seen_at) as seen_at from :input i group by ad_id) i where a.ad_id = i.ad_id`,
    },
    cover: {
      columns: { brand_id: 'uuid', social_page_id: 'text', complete_at: 'timestamptz' },
      touches: ['page'],
      sql: `
        insert into page as p (brand_id, social_page_id, complete_at)
        select brand_id, social_page_id, max(complete_at) from :input i group by brand_id, social_page_id
        on conflict (brand_id, social_page_id) do update set complete_at = greatest(p.complete_at, excluded.complete_at)`,
    },
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandReference(event);
      case 'AdStarted': {
        const { data } = event;
        const { content } = data;
        return [
          {
            kind: 'insert',
            table: 'ad',
            row: {
              ad_id: data.ad_id,
              brand_id: data.brand_id,
              social_page_id: data.page_id,
              page_name: data.page_name,
              status: data.missing_since === null ? 'active' : 'missing',
              ...contentColumns(content),
              format: data.format,
              countries: data.countries,
              started_on: data.started_on,
              listed_on: data.started_on ?? utcDate(data.observed_at),
              first_seen_at: data.observed_at,
              seen_at: data.observed_at,
            },
          },
          history(event, data.ad_id, 'started', { novelty: data.novelty }),
        ];
      }
      case 'AdRevised': {
        const { ad_id, changes } = event.data;
        const set = Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change.to]));
        return [update(ad_id, contentColumns(set)), history(event, ad_id, 'revised', changes)];
      }
      case 'AdDetailsObserved': {
        const { ad_id, details, page_id, page_name, started_on, countries } = event.data;
        return [
          update(ad_id, {
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
          update(ad_id, { link_url: to_url }),
          history(event, ad_id, 'destination_changed', { from_url, to_url }),
        ];
      }
      case 'AdConfirmedInactive': {
        const { ad_id, basis, stopped_on, last_seen_at } = event.data;
        return [
          update(ad_id, { status: 'inactive', stopped_on, seen_at: last_seen_at }),
          history(event, ad_id, 'confirmed_inactive', { basis, stopped_on }),
        ];
      }
      case 'AdReturned': {
        const { ad_id, observed_at, inactive_since } = event.data;
        return [
          update(ad_id, { status: 'active', stopped_on: null, seen_at: observed_at }),
          history(event, ad_id, 'returned', { inactive_since }),
        ];
      }
      case 'AdsMissed':
        return event.data.ad_ids.map((ad_id) => ({ kind: 'run', statement: 'miss', row: { ad_id } }));
      case 'AdsSeen': {
        const { ad_ids, observed_at } = event.data;
        return ad_ids.map((ad_id) => ({
          kind: 'run',
          statement: 'see',
          row: { ad_id, seen_at: observed_at },
        }));
      }
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
        return [];
      case 'AdsReworded':
        return event.data.ads.map(({ ad_id, wording }) => update(ad_id, contentColumns(wording)));
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
