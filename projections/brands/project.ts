import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import type { AdCounted, AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandDetails, BrandEvent } from '#contracts/events/corpus/brand.ts';
import { type Change, projection, type Row } from '../define-projection.ts';
import { refreshBrand, takeStock } from './statements.ts';

const profileColumns = (details: Partial<BrandDetails>): Row => ({
  ...('name' in details ? { name: details.name ?? '' } : {}),
  ...('description' in details ? { description: details.description ?? null } : {}),
  ...('logo_url' in details ? { logo_url: details.logo_url ?? null } : {}),
  ...('country' in details ? { country: details.country ?? null } : {}),
  ...('is_public' in details ? { is_public: details.is_public ?? false } : {}),
  ...('indexable' in details ? { indexable: details.indexable ?? false } : {}),
  ...(details.category_path
    ? { category_path: details.category_path, category_ids: details.category_path.map(({ id }) => id) }
    : {}),
});

const daysBetween = (from: string, to: string): number =>
  Math.max(0, Math.round((Date.parse(utcDate(to)) - Date.parse(utcDate(from))) / DAY_MS));

/** Adds to the counters of active ads when an ad starts or returns, and subtracts (`-1`) when it ends. */
const countActiveAd = (brand_id: string, ad: AdCounted, by: 1 | -1): Change[] => [
  { kind: 'increment', table: 'brand', key: { brand_id }, by: { [ad.format]: by } },
  ...ad.countries
    .filter((country) => country !== 'ALL')
    .map(
      (country): Change => ({
        kind: 'increment',
        table: 'country',
        key: { brand_id, country },
        by: { ads: by },
      }),
    ),
];

const moveFormatCount = (brand_id: string, from: string, to: string): Change[] =>
  from === to
    ? []
    : [
        { kind: 'increment', table: 'brand', key: { brand_id }, by: { [from]: -1 } },
        { kind: 'increment', table: 'brand', key: { brand_id }, by: { [to]: 1 } },
      ];

const countOnDay = (
  brand_id: string,
  observedAt: string,
  by: { new_ads?: number; retired_ads?: number },
): Change => ({
  kind: 'increment',
  table: 'day',
  key: { brand_id, date: utcDate(observedAt) },
  by: by,
});

/** Brands with their counters, for the directory, the single-brand read, the breakdown and the sitemap. */
export const brands = projection<BrandEvent | AdLibraryEvent>({
  name: 'brands',
  version: 5,
  prefixes: ['brand-', 'adLibrary-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    observe: {
      columns: { brand_id: 'uuid', scanned_at: 'timestamptz', active_ads: 'bigint', total_ads: 'bigint' },
      touches: ['brand'],
      // The newest scan decides the active ads. Among several scans in one batch the newest is chosen first.
      sql: `
        insert into brand as b (brand_id, scanned_at, active_ads, total_ads, updated_at)
        select distinct on (brand_id) brand_id, scanned_at, active_ads, total_ads, scanned_at
        from :input i order by brand_id, scanned_at desc, total_ads desc
        on conflict (brand_id) do update set scanned_at = excluded.scanned_at, active_ads = excluded.active_ads,
          total_ads = excluded.total_ads, updated_at = greatest(b.updated_at, excluded.updated_at)
        where b.scanned_at is null or excluded.scanned_at >= b.scanned_at`,
    },
    seen: {
      columns: { brand_id: 'uuid', seen_on: 'date' },
      touches: ['brand'],
      sql: `
        insert into brand as b (brand_id, last_ad_seen_on) select brand_id, max(seen_on) from :input i group by brand_id
        on conflict (brand_id) do update
          set last_ad_seen_on = greatest(b.last_ad_seen_on, excluded.last_ad_seen_on)`,
    },
    profile_time: {
      columns: { brand_id: 'uuid', at: 'timestamptz' },
      touches: ['brand'],
      sql: `
        insert into brand as b (brand_id, profiled_at, updated_at) select brand_id, max(at), max(at) from :input i group by brand_id
        on conflict (brand_id) do update set profiled_at = greatest(b.profiled_at, excluded.profiled_at),
          updated_at = greatest(b.updated_at, excluded.updated_at)`,
    },
    refresh: refreshBrand,
    take_stock: takeStock,
  },
  project: (event): readonly Change[] => {
    const { brand_id } = event.data;
    const refresh: readonly Change[] = [
      { kind: 'refresh', statement: 'refresh', row: { brand_id } },
      { kind: 'refresh', statement: 'take_stock', row: { brand_id } },
    ];
    switch (event.type) {
      case 'BrandRegistered':
        return [
          {
            kind: 'upsert',
            table: 'brand',
            key: { brand_id },
            set: { slug: event.data.slug, domain: event.data.domain, ...profileColumns(event.data) },
          },
          { kind: 'run', statement: 'profile_time', row: { brand_id, at: event.data.observed_at } },
          ...refresh,
        ];
      case 'BrandProfileChanged': {
        const set = profileColumns(event.data.changes);
        return [
          ...(Object.keys(set).length === 0
            ? []
            : [{ kind: 'update', table: 'brand', key: { brand_id }, set } as Change]),
          { kind: 'run', statement: 'profile_time', row: { brand_id, at: event.data.observed_at } },
          ...refresh,
        ];
      }
      case 'AdStarted':
        return [
          ...countActiveAd(brand_id, event.data, 1),
          { kind: 'run', statement: 'seen', row: { brand_id, seen_on: utcDate(event.data.observed_at) } },
          ...(event.data.novelty === 'news'
            ? [countOnDay(brand_id, event.data.observed_at, { new_ads: 1 })]
            : []),
        ];
      case 'AdConfirmedInactive': {
        const { started_on, stopped_on, last_seen_at, news, observed_at } = event.data;
        return [
          ...countActiveAd(brand_id, event.data, -1),
          ...(started_on === null
            ? []
            : [
                {
                  kind: 'increment',
                  table: 'brand',
                  key: { brand_id },
                  by: {
                    lifespan_days_sum: daysBetween(started_on, stopped_on ?? last_seen_at),
                    lifespan_ads: 1,
                  },
                } as Change,
              ]),
          ...(news ? [countOnDay(brand_id, observed_at, { retired_ads: 1 })] : []),
        ];
      }
      case 'AdReturned':
        return [
          ...countActiveAd(brand_id, event.data, 1),
          { kind: 'run', statement: 'seen', row: { brand_id, seen_on: utcDate(event.data.observed_at) } },
        ];
      case 'AdRevised': {
        const { format } = event.data.changes;
        return format ? moveFormatCount(brand_id, format.from ?? 'other', format.to ?? 'other') : [];
      }
      case 'AdDetailsObserved':
        return [
          ...moveFormatCount(
            brand_id,
            event.data.was_format,
            event.data.details.format ?? event.data.was_format,
          ),
          ...event.data.added_countries
            .filter((country) => country !== 'ALL')
            .map(
              (country): Change => ({
                kind: 'increment',
                table: 'country',
                key: { brand_id, country },
                by: { ads: 1 },
              }),
            ),
        ];
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
        return [];
      case 'AdsReworded':
        return event.data.ads.flatMap(({ was_format, format }) =>
          moveFormatCount(brand_id, was_format, format),
        );
      case 'AdsSeen':
        return [
          { kind: 'run', statement: 'seen', row: { brand_id, seen_on: utcDate(event.data.observed_at) } },
        ];
      case 'ScanRecorded': {
        const { observed_at, late_arrival, totals } = event.data;
        return [
          ...(late_arrival
            ? []
            : [
                {
                  kind: 'run',
                  statement: 'observe',
                  row: {
                    brand_id,
                    scanned_at: observed_at,
                    active_ads: totals.active,
                    total_ads: totals.total,
                  },
                } as Change,
              ]),
          ...(totals.seen > 0 && !late_arrival
            ? [
                {
                  kind: 'run',
                  statement: 'seen',
                  row: { brand_id, seen_on: utcDate(observed_at) },
                } as Change,
              ]
            : []),
          ...refresh,
        ];
      }
      case 'AdDestinationChanged':
      case 'AdsMissed':
        return [];
    }
  },
});
