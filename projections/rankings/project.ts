import { utcDate } from '#contracts/values/time.ts';
import type { AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { attributedBy } from '../shared-tables/brand-totals.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { isNoLook, isOutOfOrder, scanKey } from '../shared-tables/observed-day.ts';
import { type Change, projection, type Row, type Statement } from '../define-projection.ts';

const lastOr = (column: string, otherwise: string, value = column): string =>
  `coalesce((array_agg(s.${value} order by s.revision desc) filter (where s.${column} is not null))[1], ${otherwise})`;

/** `null` keeps a value. An ad whose last step removes it loses its row; one that comes back gives all values again. */
const recordAds: Statement = {
  columns: {
    brand_id: 'uuid',
    ad_id: 'text',
    revision: 'bigint',
    social_page_id: 'text',
    countries: 'text',
    requested_countries: 'text',
    first_seen_on: 'date',
    ended_at: 'timestamptz',
    returned_at: 'timestamptz',
    moved_at: 'timestamptz',
    removed: 'boolean',
  },
  touches: ['ad'],
  sql: `
    with merged as materialized (
      select s.brand_id, s.ad_id, (array_agg(s.removed order by s.revision desc))[1] as removed,
        ${lastOr('social_page_id', 'o.social_page_id')} as social_page_id,
        ${lastOr('countries', `array_to_string(o.countries, ',')`)} as countries,
        ${lastOr('requested_countries', `array_to_string(o.requested_countries, ',')`)} as requested_countries,
        ${lastOr('first_seen_on', 'o.first_seen_on')} as first_seen_on,
        ${lastOr('ended_at', 'o.ended_at')} as ended_at, ${lastOr('returned_at', 'o.returned_at')} as returned_at,
        ${lastOr('moved_at', 'o.moved_at')} as moved_at
      from :input s left join ad o using (brand_id, ad_id) group by s.brand_id, s.ad_id, o.brand_id, o.ad_id
    ), gone as (
      delete from ad o using merged m where o.brand_id = m.brand_id and o.ad_id = m.ad_id and m.removed
    )
    insert into ad (brand_id, ad_id, social_page_id, countries, requested_countries, first_seen_on, ended_at, returned_at, moved_at)
    select brand_id, ad_id, social_page_id, string_to_array(countries, ','), string_to_array(coalesce(requested_countries, ''), ','), first_seen_on, coalesce(ended_at, 'infinity'),
      coalesce(returned_at, '-infinity'), coalesce(moved_at, '-infinity')
    from merged where not removed and first_seen_on is not null
    on conflict (brand_id, ad_id) do update set social_page_id = excluded.social_page_id, countries = excluded.countries,
      requested_countries = excluded.requested_countries,
      first_seen_on = excluded.first_seen_on, ended_at = excluded.ended_at, returned_at = excluded.returned_at,
      moved_at = excluded.moved_at`,
};

/** An unreliable day has no row. */
const refreshReliableDay: Statement = {
  columns: { brand_id: 'uuid', date: 'date' },
  touches: ['scan', 'day'],
  sql: `
    with last as materialized (
      select distinct on (s.brand_id, s.date) s.brand_id, s.date, s.active_ads, s.observed_at
      from :input i join scan s using (brand_id, date)
      where not s.out_of_order and exists (
        select from scan r where r.brand_id = i.brand_id and r.date = i.date and r.reliable and not r.out_of_order
      )
      order by s.brand_id, s.date, s.observed_at desc, s.scan_id desc
    ), gone as (
      delete from day d using :input i
      where d.brand_id = i.brand_id and d.date = i.date
        and not exists (select from last l where l.brand_id = i.brand_id and l.date = i.date)
    )
    insert into day (brand_id, date, active_ads, observed_at)
    select brand_id, date, active_ads, observed_at from last
    on conflict (brand_id, date) do update set active_ads = excluded.active_ads, observed_at = excluded.observed_at`,
};

const activeOn = (day: string): string =>
  `a.first_seen_on <= ${day} and not (a.ended_at < ${day}::timestamp at time zone 'utc' + interval '1 day'
    and (a.returned_at < a.ended_at or a.returned_at >= ${day}::timestamp at time zone 'utc' + interval '1 day'))`;

/** Totals of a time hold the moves up to it, also moves that a late scan causes or a correction states later. */
const countedAt = (time: string): string => `a.moved_at <= ${time}`;

/**
 * Compares a brand's latest reliable day with the last one 7 to 28 days before, without ads that only one could show.
 * Ads are grouped by page and countries, so that coverage is looked up once per group.
 */
const compareDays: Statement = {
  columns: { brand_id: 'uuid' },
  touches: ['scan', 'day', 'ad', 'riser'],
  sql: `
    with pair as materialized (
      select i.brand_id, l.date as day, l.active_ads, l.observed_at,
        p.date as previous_day, p.active_ads as previous_active_ads, p.observed_at as previous_observed_at
      from :input i
      cross join lateral (
        select date, active_ads, observed_at from day d where d.brand_id = i.brand_id order by date desc limit 1
      ) l
      cross join lateral (
        select date, active_ads, observed_at from day d
        where d.brand_id = i.brand_id and d.date between l.date - 28 and l.date - 7 order by date desc limit 1
      ) p
    ), kind as (
      select a.brand_id, a.social_page_id, a.countries, a.requested_countries,
        (${countedAt('least(p.observed_at, p.previous_observed_at)')}) as counted_on_both,
        count(*) filter (where ${countedAt('p.observed_at')} and ${activeOn('p.day')}) as ads,
        count(*) filter (where ${countedAt('p.previous_observed_at')} and ${activeOn('p.previous_day')}) as previous_ads
      from pair p join ad a using (brand_id)
      group by a.brand_id, a.social_page_id, a.countries, a.requested_countries, counted_on_both
    ), left_out as (
      select k.brand_id, sum(k.ads) as ads, sum(k.previous_ads) as previous_ads
      from kind k join pair p using (brand_id)
      where not (k.counted_on_both and case when k.countries = '{}' and k.requested_countries <> '{}' then not exists (
        select from unnest(k.requested_countries) requested cross join (values (p.day), (p.previous_day)) d (date)
        where not exists (
          select from scan x where x.brand_id = p.brand_id and x.date = d.date and k.social_page_id = any(x.pages)
            and (requested = any(x.countries) or 'ALL' = any(x.countries))
        )
      ) else exists (
        select from scan x cross join unnest(x.countries) x_country
        join scan y on y.brand_id = p.brand_id and y.date = p.previous_day and k.social_page_id = any(y.pages)
        cross join unnest(y.countries) y_country
        where x.brand_id = p.brand_id and x.date = p.day and k.social_page_id = any(x.pages)
          and (x_country = y_country or 'ALL' in (x_country, y_country))
          and (k.countries = '{}' or case when x_country = 'ALL' then y_country else x_country end = any(k.countries)
            or (x_country = 'ALL' and y_country = 'ALL'))
      ) end)
      group by k.brand_id
    ), compared as materialized (
      select p.brand_id, p.day, p.previous_day, greatest(0, p.active_ads - coalesce(o.ads, 0)) as active_ads,
        greatest(0, p.previous_active_ads - coalesce(o.previous_ads, 0)) as previous_active_ads
      from pair p left join left_out o using (brand_id)
    ), gone as (
      delete from riser r using :input i
      where r.brand_id = i.brand_id and not exists (select from pair p where p.brand_id = i.brand_id)
    )
    insert into riser (brand_id, day, previous_day, active_ads, previous_active_ads, growth)
    select brand_id, day, previous_day, active_ads, previous_active_ads, active_ads - previous_active_ads from compared
    on conflict (brand_id) do update set day = excluded.day, previous_day = excluded.previous_day,
      active_ads = excluded.active_ads, previous_active_ads = excluded.previous_active_ads, growth = excluded.growth`,
};

/** Sort after and before every time, for ads that have not ended and ads that never returned. */
const NEVER_ENDED = 'infinity';
const NEVER_RETURNED = '-infinity';
/** Sorts before every move, for ads from no other brand. */
const NEVER_MOVED = '-infinity';

type AdColumns = {
  readonly social_page_id?: string;
  /** Joined with commas. */
  readonly countries?: string;
  /** Countries requested by the scans of an ad that names none; joined with commas. */
  readonly requested_countries?: string;
  readonly first_seen_on?: string;
  readonly ended_at?: string;
  readonly returned_at?: string;
  readonly moved_at?: string;
  readonly removed?: boolean;
};

type AdEvent = { readonly data: { readonly brand_id: string }; readonly revision: bigint };

/** Absent columns keep their values. */
const setAd = ({ data, revision }: AdEvent, adId: string, columns: AdColumns): Change => {
  const row: Row = {
    brand_id: data.brand_id,
    ad_id: adId,
    revision,
    social_page_id: columns.social_page_id ?? null,
    countries: columns.countries ?? null,
    requested_countries: columns.requested_countries ?? null,
    first_seen_on: columns.first_seen_on ?? null,
    ended_at: columns.ended_at ?? null,
    returned_at: columns.returned_at ?? null,
    moved_at: columns.moved_at ?? null,
    removed: columns.removed ?? false,
  };
  return { kind: 'run', statement: 'ads', row };
};

const columnsOf = (ad: AdRecord): AdColumns => ({
  social_page_id: ad.page_id ?? '',
  countries: ad.countries.join(),
  requested_countries: (ad.requested_countries ?? []).join(),
  first_seen_on: utcDate(ad.first_seen_at),
  ended_at: ad.inactive_since ?? NEVER_ENDED,
  returned_at: NEVER_RETURNED,
});

/** Names both each time: a batch runs refreshes in the order of their first naming. */
const refresh = ({ brand_id, observed_at }: AdLibraryEvent['data']): readonly Change[] => [
  { kind: 'refresh', statement: 'day', row: { brand_id, date: utcDate(observed_at) } },
  { kind: 'refresh', statement: 'compare', row: { brand_id } },
];

/**
 * Brands whose active ads grew most between two reliable days. An ad counts only if both days could show it (rules 3
 * and 9): complete scans of both covered its page in a country in which it runs. An ad without countries may run in any
 * requested one, so both must have covered all of those. An ad that came from another brand after the earlier day's
 * last scan does not count.
 */
export const rankings = projection<AdLibraryEvent | BrandEvent>({
  name: 'rankings',
  version: 6,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { ads: recordAds, day: refreshReliableDay, compare: compareDays },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandFacets(event);
      case 'AdStarted': {
        const { ad_id, page_id, countries, requested_countries = [], observed_at } = event.data;
        const columns = {
          social_page_id: page_id ?? '',
          countries: countries.join(),
          requested_countries: requested_countries.join(),
          first_seen_on: utcDate(observed_at),
          ended_at: NEVER_ENDED,
          returned_at: NEVER_RETURNED,
          moved_at: NEVER_MOVED,
        };
        return [setAd(event, ad_id, columns)];
      }
      case 'AdDetailsObserved': {
        const { ad_id, page_id, countries, requested_countries } = event.data;
        const columns = {
          social_page_id: page_id ?? '',
          countries: countries.join(),
          ...(requested_countries === undefined ? {} : { requested_countries: requested_countries.join() }),
        };
        return [setAd(event, ad_id, columns)];
      }
      case 'AdConfirmedInactive':
        return [setAd(event, event.data.ad_id, { ended_at: event.data.observed_at })];
      case 'AdReturned':
        return [setAd(event, event.data.ad_id, { returned_at: event.data.observed_at })];
      case 'AdObservationCorrected':
        return [setAd(event, event.data.ad_id, columnsOf(event.data.after)), ...refresh(event.data)];
      case 'AdAttributed': {
        const { ad_id, ad, observed_at: moved_at } = event.data;
        const columns = attributedBy(event) === 1 ? { ...columnsOf(ad), moved_at } : { removed: true };
        return [setAd(event, ad_id, columns), ...refresh(event.data)];
      }
      case 'ScanRecorded': {
        const { observed_at, complete, pages, countries, totals } = event.data;
        const set = {
          observed_at,
          active_ads: totals.active,
          reliable: event.data.reliable,
          out_of_order: isOutOfOrder(event),
          pages: complete ? pages.map(({ page_id }) => page_id) : [],
          countries: complete ? countries : [],
        };
        return [{ kind: 'upsert', table: 'scan', key: scanKey(event), set }, ...refresh(event.data)];
      }
      case 'ScanCorrected': {
        const set = {
          active_ads: event.data.totals.active,
          reliable: event.data.reliable,
          out_of_order: isNoLook(event),
        };
        return [{ kind: 'update', table: 'scan', key: scanKey(event), set }, ...refresh(event.data)];
      }
      case 'AdRevised':
      case 'AdDestinationChanged':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
        return [];
    }
  },
});
