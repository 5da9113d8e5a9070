import type { AdStanding } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { AdCounted } from '#contracts/events/corpus/ad-library-values.ts';
import type { CategoryEvent } from '#contracts/events/corpus/category.ts';
import type { BrandDetails, BrandEvent } from '#contracts/events/corpus/brand.ts';
import { attributedBy, brandTotals, recordTotals } from '../shared-tables/brand-totals.ts';
import { scanKey } from '../shared-tables/observed-day.ts';
import { profileTime, recordProfileTime } from '../shared-tables/profile-time.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import { type Change, projection, type Row } from '../define-projection.ts';
import { lifespanAtStart, lifespanAtStop, lifespanOf, noLifespan, recordLifespans } from './lifespans.ts';
import { nameByBrand, nameByDefinition, nameCategory, namedPath } from '../shared-tables/category-naming.ts';
import { refreshBrand, showCategoryNames, takeStock, takeTotalsOfUnknown } from './statements.ts';

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

const NO_FORMATS = { video: 0, image: 0, carousel: 0, dco: 0, other: 0 };

/** Names all formats in each change, because the projector groups changes with the same columns. */
const countFormats = (brand_id: string, by: Partial<typeof NO_FORMATS>): Change => ({
  kind: 'increment',
  table: 'format_count',
  key: { brand_id },
  by: { ...NO_FORMATS, ...by },
});

const countCountries = (brand_id: string, countries: readonly string[], by: 1 | -1): readonly Change[] =>
  countries
    .filter((country) => country !== 'ALL')
    .map((country) => ({ kind: 'increment', table: 'country', key: { brand_id, country }, by: { ads: by } }));

/** `by` is -1 when the ad ends. */
const countActiveAd = (brand_id: string, ad: AdCounted, by: 1 | -1): readonly Change[] => [
  countFormats(brand_id, { [ad.format]: by }),
  ...countCountries(brand_id, ad.countries, by),
];

const countStanding = (brand_id: string, ad: AdStanding, by: 1 | -1): readonly Change[] =>
  ad.status === 'inactive' ? [] : countActiveAd(brand_id, ad, by);

const moveFormatCount = (brand_id: string, from: AdFormat, to: AdFormat): readonly Change[] =>
  from === to ? [] : [countFormats(brand_id, { [from]: -1, [to]: 1 })];

const showNames = (categoryIds: readonly string[]): readonly Change[] =>
  categoryIds.map((category_id) => ({ kind: 'refresh', statement: 'show_names', row: { category_id } }));

/** Also rewrites brands that showed another name of the category. */
const nameCategories = (event: BrandEvent): readonly Change[] => {
  const path = namedPath(event);
  return [
    ...nameByBrand(path, event.data.brand_id, event.data.observed_at),
    ...showNames(path.map(({ id }) => id)),
  ];
};

export const brands = projection<BrandEvent | CategoryEvent | AdLibraryEvent>({
  name: 'brands',
  version: 13,
  prefixes: ['brand-', 'category-', 'adLibrary-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    totals: recordTotals,
    take_totals_of_unknown: takeTotalsOfUnknown,
    lifespans: recordLifespans,
    profile_time: recordProfileTime,
    refresh: refreshBrand,
    name_category: nameCategory({}),
    show_names: showCategoryNames,
    take_stock: takeStock,
  },
  project: (event): readonly Change[] => {
    if (event.type === 'CategoryDefined' || event.type === 'CategoryChanged') {
      const path = event.type === 'CategoryDefined' ? event.data.path : (event.data.earlier_path ?? []);
      return [
        ...nameByDefinition(event),
        ...showNames([...path.map(({ id }) => id), event.data.category_id]),
      ];
    }
    const { brand_id } = event.data;
    // Names all three each time: a batch runs refreshes in the order of their first naming.
    const refresh: readonly Change[] = [
      { kind: 'refresh', statement: 'take_totals_of_unknown', row: { brand_id } },
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
          profileTime(event),
          ...refresh,
          ...nameCategories(event),
        ];
      case 'BrandProfileChanged': {
        const set = profileColumns(event.data.changes);
        return [
          ...(Object.keys(set).length === 0
            ? []
            : [{ kind: 'update', table: 'brand', key: { brand_id }, set } as Change]),
          profileTime(event),
          ...refresh,
          ...nameCategories(event),
        ];
      }
      case 'AdStarted':
        return [...countActiveAd(brand_id, event.data, 1), ...lifespanAtStart(event)];
      case 'AdConfirmedInactive':
        return [...countActiveAd(brand_id, event.data, -1), lifespanAtStop(event)];
      case 'AdReturned':
        return [...countActiveAd(brand_id, event.data, 1), noLifespan(event)];
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
          ...countCountries(brand_id, event.data.added_countries, 1),
        ];
      case 'AdsReworded':
        return event.data.ads.flatMap(({ was_format, format }) =>
          moveFormatCount(brand_id, was_format, format),
        );
      case 'AdsStillInactive':
        return [];
      case 'AdObservationCorrected': {
        const { before, after } = event.data;
        return [
          ...brandTotals(event),
          ...(before === null ? [] : countStanding(brand_id, before, -1)),
          ...countStanding(brand_id, after, 1),
          lifespanOf(event, after),
          ...refresh,
        ];
      }
      case 'AdAttributed':
        return [
          ...brandTotals(event),
          ...countStanding(brand_id, event.data.ad, attributedBy(event)),
          lifespanOf(event, attributedBy(event) === 1 ? event.data.ad : null),
          ...refresh,
        ];
      case 'ScanRecorded':
      case 'ScanCorrected': {
        const { news, stopped, seen } = event.data.totals;
        const set = { new_ads: news, retired_ads: stopped, seen: seen > 0 };
        return [
          ...brandTotals(event),
          { kind: 'upsert', table: 'scan', key: scanKey(event), set },
          ...refresh,
        ];
      }
      case 'AdDestinationChanged':
      case 'AdsMissed':
      case 'AdsSeen':
        return [];
    }
  },
});
