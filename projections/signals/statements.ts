import { SIGNAL_THRESHOLDS, type SignalKind } from '#contracts/values/signals.ts';
import type { Statement } from '../define-projection.ts';
import { KINDS_OF_DAYS, KINDS_OF_LINKS } from './kinds.ts';

const FORMATS = ['video', 'image', 'carousel', 'dco', 'other'] as const;

/** SQL of a running count as of each row, in the order of the stream. Batch boundaries make no difference. */
const running = (column: string, by: string): string =>
  `coalesce(t.${column}, 0) + sum(${by}) over stream as ${column}`;

const COUNTS = [...FORMATS, 'uncovered', 'relabelled'].join();

/**
 * Adds events to the running counts, and copies them into `scan` for each recorded scan. A scan is in order
 * if it arrived in time and no later day was known. A completed day never changes.
 */
export const addUp: Statement = {
  columns: {
    brand_id: 'uuid',
    position: 'bigint',
    // Formats under which an ad was counted before and is counted from now on; null for neither.
    minus: 'text',
    plus: 'text',
    uncovered: 'bigint',
    relabelled: 'bigint',
    // The following columns are set for recorded scans only.
    observed_at: 'timestamptz',
    late_arrival: 'boolean',
    reliable: 'boolean',
    baseline: 'boolean',
    active_ads: 'bigint',
    new_ads: 'bigint',
  },
  touches: ['tally', 'scan'],
  sql: `
    with counted as (
      select i.brand_id, i.position, i.date, i.observed_at, i.late_arrival, i.reliable, i.baseline, i.active_ads,
        i.new_ads,
        ${FORMATS.map((name) => running(name, `case i.plus when '${name}' then 1 else 0 end - case i.minus when '${name}' then 1 else 0 end`)).join()},
        ${running('uncovered', 'i.uncovered')}, ${running('relabelled', 'i.relabelled')},
        greatest(t.newest_day, max(i.date) filter (where not i.late_arrival)
          over (stream rows between unbounded preceding and 1 preceding)) as newest_day
      from (select *, (observed_at at time zone 'utc')::date as date from :input i) i left join tally t using (brand_id)
      window stream as (partition by i.brand_id order by i.position)
    ), closed as (
      insert into scan (brand_id, position, date, observed_at, in_order, reliable, baseline, active_ads, new_ads, ${COUNTS})
      select brand_id, position, date, observed_at, not late_arrival and (newest_day is null or date >= newest_day),
        reliable, baseline, active_ads, new_ads, ${COUNTS}
      from counted where date is not null
    )
    insert into tally (brand_id, ${COUNTS}, newest_day)
    select distinct on (brand_id) brand_id, ${COUNTS}, greatest(newest_day, case when not late_arrival then date end)
    from counted order by brand_id, position desc
    on conflict (brand_id) do update set newest_day = excluded.newest_day,
      ${COUNTS.split(',')
        .map((name) => `${name} = excluded.${name}`)
        .join()}`,
};

/** Counts radar items per brand and day. */
export const countChanges: Statement = {
  columns: { brand_id: 'uuid', kind: 'text', observed_at: 'timestamptz' },
  touches: ['change_count'],
  sql: `
    insert into change_count as c (brand_id, date, kind, items, observed_at)
    select brand_id, (observed_at at time zone 'utc')::date, kind, count(*), max(observed_at) from :input i group by 1, 2, 3
    on conflict (brand_id, date, kind) do update set items = c.items + excluded.items,
      observed_at = greatest(c.observed_at, excluded.observed_at)`,
};

/**
 * Stores what a brand's ads led to, or ran on, as first seen in the order of its stream. All ads of the same
 * scan that show it decide whether it is news: a single one that ran before means it is not news.
 */
export const meet: Statement = {
  columns: {
    brand_id: 'uuid',
    kind: 'text',
    key: 'text',
    position: 'bigint',
    observed_at: 'timestamptz',
    news: 'boolean',
    started_on: 'date',
    ad_id: 'text',
    social_page_id: 'text',
    page_name: 'text',
    destination_url: 'text',
  },
  touches: ['met'],
  sql: `
    insert into met as m (brand_id, kind, key, position, date, observed_at, news, started_on, ad_id, social_page_id, page_name,
      destination_url)
    select brand_id, kind, key, min(position), (first_at at time zone 'utc')::date, first_at, bool_and(news),
      case when bool_and(started_on is not null) then min(started_on) end,
      (array_agg(ad_id order by position, ad_id))[1], (array_agg(social_page_id order by position, ad_id))[1],
      (array_agg(page_name order by position, ad_id))[1], (array_agg(destination_url order by position, ad_id))[1]
    from (
      select i.*, coalesce(m.observed_at, first_value(i.observed_at)
        over (partition by i.brand_id, i.kind, i.key order by i.position)) as first_at
      from :input i left join met m using (brand_id, kind, key)
    ) i
    where observed_at = first_at group by brand_id, kind, key, first_at
    on conflict (brand_id, kind, key) do update set news = m.news and excluded.news,
      started_on = case when m.started_on is not null and excluded.started_on is not null
        then least(m.started_on, excluded.started_on) end`,
};

/** SQL of a reliable day as of its last scan; unreliable days are absent. `date` is SQL. */
const day = (name: string, date: string): string => `
  left join lateral (
    select s.date, s.observed_at, s.active_ads, ${COUNTS.split(',')
      .map((column) => `s.${column}`)
      .join()}, sum(s.new_ads) over () as new_ads, bool_or(s.reliable) over () as reliable
    from scan s where s.brand_id = k.brand_id and s.date = ${date} and s.in_order
    order by s.observed_at desc, s.position desc limit 1
  ) ${name} on ${name}.reliable`;

/** SQL of an id derived from brand, date and kind, in the form of RFC 9562, version 8. */
const ID = `overlay(overlay(md5('signal:' || f.brand_id || '|' || f.date || '|' || f.kind) placing '8' from 13)
  placing '8' from 17)::uuid`;

/**
 * SQL that recomputes the signals of these kinds for `k`, brands and dates. The days compared with can no
 * longer change (see `addUp`), so the result does not depend on when or how often this runs.
 */
const summingUp = (kinds: Readonly<Partial<Record<SignalKind, string>>>, k: string, days: string): string => `
  with k as (${k}), found as (
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
  insert into signal as g (id, brand_id, date, kind, observed_at, figures, about)
  select ${ID}, f.brand_id, f.date, f.kind, f.observed_at, f.figures, f.about from found f
  on conflict (brand_id, date, kind) do update
    set observed_at = excluded.observed_at, figures = excluded.figures, about = excluded.about
    where (g.observed_at, g.figures, g.about) is distinct from (excluded.observed_at, excluded.figures, excluded.about)`;

/** Computes the signals that follow from the events of a brand and date. */
export const sumUpDay: Statement = {
  columns: { brand_id: 'uuid', date: 'date' },
  touches: ['signal'],
  sql: summingUp(
    KINDS_OF_DAYS,
    'select brand_id, date from :input i',
    `${day('t', 'k.date')}
    left join lateral (
      select max(date) as date from scan s
      where s.brand_id = k.brand_id and s.date < k.date and s.in_order and s.reliable
    ) b on true
    ${day('p', 'b.date')} ${day('t7', `k.date - ${SIGNAL_THRESHOLDS.ramp.daysBefore}`)}
    ${day('p7', `b.date - ${SIGNAL_THRESHOLDS.ramp.daysBefore}`)}
    ${day('t28', `k.date - ${SIGNAL_THRESHOLDS.format_mix_shift.daysBefore}`)}
    ${day('p28', `b.date - ${SIGNAL_THRESHOLDS.format_mix_shift.daysBefore}`)}`,
  ),
};

/**
 * SQL of the dates whose signals a change of links of a page `i` may change: those on which the page was linked or met.
 * All dates of the brand when the page was linked first, because the first link is the baseline of the others.
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
    union select date from met where brand_id = i.brand_id and kind = 'page' and key = i.social_page_id
    union select date from link where brand_id = i.brand_id and f.is_first
    union select date from met where brand_id = i.brand_id and kind = 'page' and f.is_first
  ) d`;

/** Computes the signals that depend on links. A link defines the role of a page on every later day. */
export const sumUpLinks: Statement = {
  columns: { brand_id: 'uuid', social_page_id: 'text' },
  touches: ['signal'],
  sql: summingUp(KINDS_OF_LINKS, `select distinct brand_id, date from (${DATES_OF_PAGE}) dates`, ''),
};
