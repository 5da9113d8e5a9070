import { SIGNAL_THRESHOLDS, type SignalKind } from '#contracts/values/signals.ts';
import type { Statement } from '../define-projection.ts';
import { KINDS_OF_DAYS, KINDS_OF_LINKS } from './kinds.ts';

const COUNTS = ['video', 'image', 'carousel', 'dco', 'other', 'uncovered', 'relabelled', 'moved'] as const;

const OCCURRENCE = { ad_id: 'text', cause: 'text', scan_id: 'text' } as const;

/**
 * The lowest log position decides, so streams apply in any order. A day that loses an occurrence is marked as outdated,
 * because the event names the other day only.
 */
export const putOccurrence: Statement = {
  columns: {
    ...OCCURRENCE,
    brand_id: 'uuid',
    observed_at: 'timestamptz',
    position: 'bigint',
    is_added: 'boolean',
  },
  touches: ['occurrence'],
  rowsBy: { occurrence: Object.keys(OCCURRENCE) },
  sql: `
    with put as materialized (
      select distinct on (ad_id, cause, scan_id) ad_id, cause, scan_id, brand_id,
        (observed_at at time zone 'utc')::date as date, observed_at, position, is_added
      from :input i order by ad_id, cause, scan_id, position
    ), outdated as (
      insert into outdated_day (brand_id, date)
      select distinct o.brand_id, o.date from put p join occurrence o using (ad_id, cause, scan_id)
      where p.position < o.position and (o.brand_id, o.date) <> (p.brand_id, p.date)
      on conflict do nothing
    )
    insert into occurrence as o (ad_id, cause, scan_id, brand_id, date, observed_at, position, is_added)
    select ad_id, cause, scan_id, brand_id, date, observed_at, position, is_added from put
    on conflict (ad_id, cause, scan_id) do update set brand_id = coalesce(o.stated_brand_id, excluded.brand_id), date = excluded.date,
      observed_at = excluded.observed_at, position = excluded.position, is_added = excluded.is_added
    where o.position is null or excluded.position < o.position`,
};

/**
 * The highest log position decides. A mark's brand becomes that of the occurrence, and outdates the day of the brand
 * before.
 */
export const markOccurrence: Statement = {
  columns: { ...OCCURRENCE, brand_id: 'uuid', position: 'bigint', is_withdrawn: 'boolean' },
  touches: ['occurrence'],
  rowsBy: { occurrence: Object.keys(OCCURRENCE) },
  sql: `
    with mark as materialized (
      select distinct on (ad_id, cause, scan_id) ad_id, cause, scan_id, brand_id, position, is_withdrawn
      from :input i order by ad_id, cause, scan_id, position desc
    ), outdated as (
      insert into outdated_day (brand_id, date)
      select distinct o.brand_id, o.date from mark m join occurrence o using (ad_id, cause, scan_id)
      where o.brand_id <> m.brand_id and (o.marked_at is null or m.position > o.marked_at)
      on conflict do nothing
    )
    insert into occurrence as o (ad_id, cause, scan_id, stated_brand_id, marked_at, is_withdrawn)
    select ad_id, cause, scan_id, brand_id, position, is_withdrawn from mark
    on conflict (ad_id, cause, scan_id) do update set stated_brand_id = coalesce(excluded.stated_brand_id, o.stated_brand_id),
      brand_id = case when o.brand_id is null then null else coalesce(excluded.stated_brand_id, o.brand_id) end,
      marked_at = excluded.marked_at, is_withdrawn = excluded.is_withdrawn
    where o.marked_at is null or excluded.marked_at > o.marked_at`,
};

/** Taken from the first of the ads that showed it. */
const DESCRIBED = ['ad_id', 'social_page_id', 'page_name', 'destination_url'] as const;
const IS_FIRST = `excluded.observed_at < m.observed_at or
  (excluded.ad_id, coalesce(excluded.social_page_id, ''), coalesce(excluded.destination_url, '')) <
  (m.ad_id, coalesce(m.social_page_id, ''), coalesce(m.destination_url, ''))`;

const FIRST_DESCRIBED = DESCRIBED.map(
  (column) =>
    `(array_agg(${column} order by ad_id, coalesce(social_page_id, ''), coalesce(destination_url, '')))[1]`,
).join();
const STARTED_ON = 'case when bool_and(started_on is not null) then min(started_on) end';
const EARLIER_START = `case when m.started_on is not null and excluded.started_on is not null
  then least(m.started_on, excluded.started_on) end`;

/**
 * Only events of the brand's own stream count, which apply in order, so any batches give the same row. Ads of the same
 * time decide together, as in `met`.
 */
const REPORT = `
  insert into reported as m (brand_id, kind, key, date, observed_at, position, is_added, news, started_on, ${DESCRIBED.join()})
  select brand_id, kind, key, (observed_at at time zone 'utc')::date, observed_at, min(position), is_added, bool_and(news),
    ${STARTED_ON}, ${FIRST_DESCRIBED}
  from (
    select i.*,
      coalesce(r.observed_at, first_value(i.observed_at) over arrival) as first_at,
      coalesce(r.is_added, first_value(i.is_added) over arrival) as first_added
    from :input i left join reported r using (brand_id, kind, key)
    where i.position is not null
    window arrival as (partition by i.brand_id, i.kind, i.key order by i.position)
  ) i
  where observed_at = first_at and is_added = first_added
  group by brand_id, kind, key, observed_at, is_added
  on conflict (brand_id, kind, key) do update set news = excluded.news and m.news, started_on = ${EARLIER_START},
    ${DESCRIBED.map(
      (column) => `${column} = case when ${IS_FIRST} then excluded.${column} else m.${column} end`,
    ).join()}`;

/**
 * Stores the first sighting of a page or link in observation order. All ads of that time decide: one that ran before
 * means it is not news.
 */
export const meet: Statement = {
  columns: {
    brand_id: 'uuid',
    kind: 'text',
    key: 'text',
    observed_at: 'timestamptz',
    position: 'bigint',
    is_added: 'boolean',
    news: 'boolean',
    started_on: 'date',
    ad_id: 'text',
    social_page_id: 'text',
    page_name: 'text',
    destination_url: 'text',
  },
  touches: ['met', 'reported'],
  sql: `
    with report as (${REPORT})
    insert into met as m (brand_id, kind, key, date, observed_at, news, started_on, ${DESCRIBED.join()})
    select brand_id, kind, key, (first_at at time zone 'utc')::date, first_at, bool_and(news), ${STARTED_ON},
      ${FIRST_DESCRIBED}
    from (
      select i.*, min(i.observed_at) over (partition by i.brand_id, i.kind, i.key) as first_at from :input i
    ) i
    where observed_at = first_at group by brand_id, kind, key, first_at
    on conflict (brand_id, kind, key) do update set date = excluded.date, observed_at = excluded.observed_at,
      news = excluded.news and (m.news or excluded.observed_at < m.observed_at),
      started_on = case when excluded.observed_at < m.observed_at then excluded.started_on else ${EARLIER_START} end,
      ${DESCRIBED.map(
        (column) => `${column} = case when ${IS_FIRST} then excluded.${column} else m.${column} end`,
      ).join()}
    where excluded.observed_at <= m.observed_at`,
};

/** A reliable day as of its last scan; unreliable days are absent. `date` is SQL. */
const day = (name: string, date: string): string => `
  left join lateral (
    select s.*, c.* from (
      select s.date, s.observed_at, s.active_ads, sum(s.new_ads) over () as new_ads, bool_or(s.reliable) over () as reliable,
        bool_or(s.corrected) over () as corrected
      from scan s where s.brand_id = k.brand_id and s.date = ${date} and s.in_order
      order by s.observed_at desc, s.scan_id desc limit 1
    ) s cross join lateral (
      select ${COUNTS.map((column) => `coalesce(sum(${column}), 0)::bigint as ${column}`).join()}
      from step where step.brand_id = k.brand_id and step.at <= s.observed_at
    ) c
  ) ${name} on ${name}.reliable`;

/** Derived from brand, date and kind, in the form of RFC 9562, version 8. */
const ID = `overlay(overlay(md5('signal:' || f.brand_id || '|' || f.date || '|' || f.kind) placing '8' from 13)
  placing '8' from 17)::uuid`;

/**
 * Recomputes signals of `k`, brands and dates. Days are compared with earlier ones only, so any number of runs gives
 * the same result if all days from a changed one on are included. `before`: SQL of queries that `k` reads, each with a
 * comma.
 */
const summingUp = (
  kinds: Readonly<Partial<Record<SignalKind, string>>>,
  k: string,
  days: string,
  before = '',
): string => `
  with ${before} k as (${k}), found as (
    select k.brand_id, k.date, f.* from k ${days}
    cross join lateral (${Object.values(kinds)
      .map((kind) => `(${kind})`)
      .join(' union all ')}) f
  ), gone as (
    delete from signal g using k where g.brand_id = k.brand_id and g.date = k.date
      and g.kind in (${Object.keys(kinds)
        .map((kind) => `'${kind}'`)
        .join()})
      and not exists (select from found f where f.brand_id = g.brand_id and f.date = g.date and f.kind = g.kind)
  )
  insert into signal as g (id, brand_id, date, kind, observed_at, figures, about, correction)
  select ${ID}, f.brand_id, f.date, f.kind, f.observed_at, f.figures, f.about, f.correction from found f
  on conflict (brand_id, date, kind) do update
    set observed_at = excluded.observed_at, figures = excluded.figures, about = excluded.about,
      correction = excluded.correction
    where (g.observed_at, g.figures, g.about, g.correction)
      is distinct from (excluded.observed_at, excluded.figures, excluded.about, excluded.correction)`;

/** `changed` is SQL of `brand_id, date`. */
const daysFrom = (changed: string): string => `
  select distinct d.brand_id, d.date
  from (select brand_id, min(date) as date from (${changed}) c group by brand_id) f
  cross join lateral (${['scan', 'occurrence', 'named_ad', 'met', 'reported', 'catalogue', 'signal']
    .map(
      (table) =>
        `select t.brand_id, t.date from ${table} t where t.brand_id = f.brand_id and t.date >= f.date`,
    )
    .join(' union all ')}) d`;

const DAYS = `${day('t', 'k.date')}
    left join lateral (
      select max(date) as date from scan s
      where s.brand_id = k.brand_id and s.date < k.date and s.in_order and s.reliable
    ) b on true
    ${day('p', 'b.date')} ${day('t7', `k.date - ${SIGNAL_THRESHOLDS.ramp.daysBefore}`)}
    ${day('p7', `b.date - ${SIGNAL_THRESHOLDS.ramp.daysBefore}`)}
    ${day('t28', `k.date - ${SIGNAL_THRESHOLDS.format_mix_shift.daysBefore}`)}
    ${day('p28', `b.date - ${SIGNAL_THRESHOLDS.format_mix_shift.daysBefore}`)}`;

/**
 * Includes outdated days: every event that records an occurrence names a day of its own, so this runs in the same
 * batch.
 */
export const sumUpDay: Statement = {
  columns: { brand_id: 'uuid', date: 'date' },
  touches: ['signal', 'outdated_day'],
  sql: summingUp(
    KINDS_OF_DAYS,
    daysFrom('select brand_id, date from :input i union all select brand_id, date from outdated'),
    DAYS,
    'outdated as (delete from outdated_day returning brand_id, date),',
  ),
};

/** Covers the brands of marked occurrences and those with a signal that names such an ad. */
export const sumUpMarked: Statement = {
  columns: OCCURRENCE,
  touches: ['signal'],
  sql: summingUp(
    KINDS_OF_DAYS,
    daysFrom(
      `select o.brand_id, o.date from :input i join occurrence o using (ad_id, cause, scan_id) where o.brand_id is not null
       union all select n.brand_id, n.date from :input i join named_ad n using (ad_id, cause, scan_id)`,
    ),
    DAYS,
  ),
};

/**
 * Dates on which a page `i` was linked or met. All dates of the brand for its first link, because that is the baseline
 * of the others.
 */
const DATES_OF_PAGE = `
  select i.brand_id, d.date from :input i
  cross join lateral (
    select coalesce(min(p.observed_at) <= (
      select o.observed_at from link o where o.brand_id = i.brand_id and o.role is not null
      order by o.observed_at limit 1
    ), true) as is_first
    from link p where p.brand_id = i.brand_id and p.social_page_id = i.social_page_id
  ) f
  cross join lateral (
    select date from link where brand_id = i.brand_id and social_page_id = i.social_page_id
    union select date from link where brand_id = i.brand_id and f.is_first
    ${['met', 'reported']
      .map(
        (table) => `union select date from ${table}
          where brand_id = i.brand_id and kind = 'page' and (key = i.social_page_id or f.is_first)`,
      )
      .join('\n')}
  ) d`;

/** A link defines the role of a page on every later day. */
export const sumUpLinks: Statement = {
  columns: { brand_id: 'uuid', social_page_id: 'text' },
  touches: ['signal'],
  sql: summingUp(KINDS_OF_LINKS, `select distinct brand_id, date from (${DATES_OF_PAGE}) dates`, ''),
};
