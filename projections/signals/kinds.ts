import type { Occurrence } from '#contracts/events/corpus/ad-library-corrections.ts';
import { SIGNAL_NAMES_MAX, SIGNAL_THRESHOLDS, type SignalKind } from '#contracts/values/signals.ts';

/**
 * Each kind is SQL over `k` (brand and date): `t` is that day, `p` the reliable day before; `t7`, `t28`, `p7` and `p28`
 * are 7 and 28 days before those. Unreliable days are absent, so comparisons with them are null.
 */

/** `figures` maps names to SQL, see `SignalFigures`. */
type Found = {
  readonly observedAt: string;
  readonly figures: Readonly<Record<string, string>>;
  readonly about?: string;
  readonly correction?: string;
  readonly from: string;
};

const signal = (kind: SignalKind, { observedAt, figures, about, correction, from }: Found): string => `
  select '${kind}' as kind, ${observedAt} as observed_at,
    jsonb_build_object(${Object.entries(figures)
      .map(([name, sql]) => `'${name}', ${sql}`)
      .join()}) as figures, ${about ?? `'[]'::jsonb`} as about,
    ${correction ?? 'null::text'} as correction
  ${from}`;

const COUNTED_ITEMS = `
  count(*) filter (where not is_withdrawn) as items, count(*) filter (where is_withdrawn) as withdrawn,
  count(*) filter (where is_added and not is_withdrawn) as added,
  coalesce(max(observed_at) filter (where not is_withdrawn), max(observed_at)) as observed_at`;

const markOf = (items: string): string => `
  case when ${items}.items = 0 then 'withdrawn' when ${items}.withdrawn = 0 and ${items}.added = ${items}.items then 'added'
    when ${items}.withdrawn + ${items}.added > 0 then 'changed' end`;

const correctedFigures = (items: string) => ({ withdrawn: `${items}.withdrawn`, added: `${items}.added` });

const markOfDays = (...days: readonly string[]): string =>
  `case when ${days.map((one) => `${one}.corrected`).join(' or ')} then 'changed' end`;

/**
 * Counts the `rows` (observed_at, marks, description), withdrawn ones apart. Names the first; withdrawn ones only if no
 * other is left.
 */
const named = (rows: string): string => `(
    select items, withdrawn, added, observed_at, coalesce(about, withdrawn_about) as about from (
      select ${['not', '']
        .map(
          (not) => `
        jsonb_agg(name order by place) filter (where ${not} is_withdrawn and place <= ${SIGNAL_NAMES_MAX})
          as ${not === '' ? 'withdrawn_' : ''}about`,
        )
        .join()},
        ${COUNTED_ITEMS}
      from (
        select n.observed_at, n.is_withdrawn, n.is_added,
          jsonb_build_object('ad_id', ad_id, 'page_id', social_page_id, 'page_name', page_name, 'role', role,
            'destination_url', destination_url) as name,
          row_number() over (partition by n.is_withdrawn order by n.observed_at, n.ad_id, n.social_page_id) as place
        from (${rows}) n
      ) n
      having count(*) > 0
    ) n
  )`;

const namedAds = (kind: SignalKind): string =>
  named(`
    select n.ad_id, max(n.observed_at) as observed_at, bool_and(coalesce(o.is_withdrawn, false)) as is_withdrawn,
      bool_and(coalesce(o.is_added, false)) as is_added, null::text as social_page_id, null::text as page_name,
      null::text as role, null::text as destination_url
    from named_ad n left join occurrence o using (ad_id, cause, scan_id)
    where n.brand_id = k.brand_id and n.date = k.date and n.kind = '${kind}'
      and (o.brand_id is null or o.brand_id = n.brand_id)
    group by n.ad_id`);

/** Pages first met on a day. `where`, `role` and `join` are SQL over `m`. */
type Met = {
  readonly kind: 'landing_page' | 'page';
  readonly where: (table: 'met' | 'reported') => string;
  readonly role?: string;
  readonly join?: string;
};

/** Pages first met on that day by now, but not reported then, are added; the reverse are withdrawn. */
const met = ({ kind, where, role = 'null::text', join = '' }: Met): string => {
  const of = (table: 'met' | 'reported'): string => `
    select m.key, m.observed_at, m.ad_id, m.social_page_id, m.page_name, ${role} as role, m.destination_url,
      ${table === 'met' ? 'false' : 'm.is_added'} as is_added
    from ${table} m ${join}
    where m.brand_id = k.brand_id and m.date = k.date and m.kind = '${kind}' and ${where(table)}`;
  const columns = ['observed_at', 'ad_id', 'social_page_id', 'page_name', 'role', 'destination_url'];
  return named(`
    select ${columns.map((column) => `case when n.key is null then w.${column} else n.${column} end as ${column}`).join()},
      n.key is null as is_withdrawn, w.key is null or w.is_added as is_added
    from (${of('met')}) n full join (${of('reported')}) w using (key)`);
};

const itemsOf = (kind: SignalKind, cause: Occurrence['kind']): string =>
  signal(kind, {
    observedAt: 'g.observed_at',
    figures: { items: 'g.items', ...correctedFigures('g') },
    correction: markOf('g'),
    from: `from (
      select ${COUNTED_ITEMS} from occurrence o
      where o.brand_id = k.brand_id and o.date = k.date and o.cause = '${cause}'
      having count(*) > 0
    ) g`,
  });

const { ramp, drop, launch_burst, sale, format_mix_shift } = SIGNAL_THRESHOLDS;

type Compare = (day: string, before: string) => string;

const isRamp: Compare = (day, before) => `
  ${day}.active_ads - (${day}.uncovered - ${before}.uncovered) - (${day}.moved - ${before}.moved) - ${before}.active_ads
    >= greatest(${ramp.ads}, ${ramp.share} * ${before}.active_ads)`;
const isDrop: Compare = (day, before) => `
  ${before}.active_ads - ${day}.active_ads + (${day}.moved - ${before}.moved) >= greatest(${drop.ads}, ${drop.share} * ${before}.active_ads)`;

/** Reports a change once: not if the previous reliable day met the condition already. */
const moved = (kind: 'ramp' | 'drop', isSo: Compare): string =>
  signal(kind, {
    observedAt: 't.observed_at',
    figures: {
      items: 't.active_ads',
      before: 't7.active_ads',
      after: 't.active_ads',
      ...(kind === 'ramp' ? { uncovered: 't.uncovered - t7.uncovered' } : {}),
      compared_with: 't7.date',
    },
    correction: markOfDays('t', 't7'),
    from: `where ${isSo('t', 't7')} and (${isSo('p', 'p7')}) is not true`,
  });

const launchBurst = signal('launch_burst', {
  observedAt: 't.observed_at',
  figures: { items: 't.new_ads', usual: 'round(w.usual, 2)' },
  correction: markOfDays('t'),
  // Ads started without scans pile up until the next one, so days after an unreliable day or a longer gap than the
  // window's are skipped.
  from: `from (
      select avg(new_ads) filter (where not baseline) as usual, max(gap) as gap
      from (
        select date, sum(new_ads) as new_ads, bool_and(baseline) as baseline,
          date - lag(date) over (order by date) as gap
        from scan s where s.brand_id = k.brand_id and s.in_order
          and s.date between k.date - ${launch_burst.windowDays} and k.date - 1
        group by date having bool_or(reliable)
      ) d
    ) w
    where t.new_ads >= greatest(${launch_burst.ads}, ${launch_burst.times} * w.usual) and k.date - p.date <= w.gap
      and not exists (
        select from scan s where s.brand_id = k.brand_id and s.in_order and s.date > p.date and s.date < k.date)`,
});

const saleOfDay = signal('sale', {
  observedAt: 'greatest(a.observed_at, c.observed_at)',
  figures: {
    items: `case when a.items >= ${sale.ads} or c.cheaper is null then a.items else 0 end`,
    cheaper: 'c.cheaper',
    products: 'c.products',
    withdrawn: 'coalesce(a.withdrawn, 0)',
    added: 'coalesce(a.added, 0)',
  },
  about: `coalesce(a.about, '[]')`,
  correction: `case when a.items >= ${sale.ads} then ${markOf('a')}
    when a.withdrawn > 0 then case when c.cheaper is null then 'withdrawn' else 'changed' end end`,
  from: `from (select) one
    left join ${namedAds('sale')} a on t.date is not null and a.items + a.withdrawn >= ${sale.ads}
    left join (
      select observed_at, cheaper, products from catalogue
      where brand_id = k.brand_id and date = k.date and cheaper > 0 and cheaper >= ${sale.catalogueShare} * products
      order by cheaper::numeric / products desc, observed_at limit 1
    ) c on true
    where a.items is not null or c.cheaper is not null`,
});

const newLandingPage = signal('new_landing_page', {
  observedAt: 'm.observed_at',
  figures: { items: 'm.items', ...correctedFigures('m') },
  about: 'm.about',
  correction: markOf('m'),
  from: `from ${met({ kind: 'landing_page', where: () => 'm.news' })} m`,
});

/** Compares products, because shares are not exact numbers. `f.<day>` is the format's count. */
const isShift: Compare = (day, before) => `
  least(${day}.active_ads, ${before}.active_ads) >= ${format_mix_shift.ads}
    and abs(f.${day} * ${before}.active_ads - f.${before} * ${day}.active_ads)
      - (${day}.uncovered - ${before}.uncovered + ${day}.relabelled - ${before}.relabelled) * ${before}.active_ads
      >= ${format_mix_shift.share} * ${day}.active_ads * ${before}.active_ads`;

const FORMATS = ['video', 'image', 'carousel', 'dco', 'other']
  .map((name) => `('${name}', t.${name}, t28.${name}, p.${name}, p28.${name})`)
  .join();

const formatMixShift = signal('format_mix_shift', {
  observedAt: 't.observed_at',
  figures: {
    items: 't.active_ads',
    before: 'f.t28',
    after: 'f.t',
    active_before: 't28.active_ads',
    uncovered: 't.uncovered - t28.uncovered + t.relabelled - t28.relabelled',
    compared_with: 't28.date',
    format: 'f.format',
  },
  correction: markOfDays('t', 't28'),
  from: `from (values ${FORMATS}) f(format, t, t28, p, p28)
    where ${isShift('t', 't28')} and (${isShift('p', 'p28')}) is not true
    order by abs(f.t * t28.active_ads - f.t28 * t.active_ads) desc, f.format limit 1`,
});

const longRunnerRefreshed = signal('long_runner_refreshed', {
  observedAt: 'a.observed_at',
  figures: { items: 'a.items', ...correctedFigures('a') },
  about: 'a.about',
  correction: markOf('a'),
  from: `from ${namedAds('long_runner_refreshed')} a`,
});

const newLinkedPage = signal('new_linked_page', {
  observedAt: 'm.observed_at',
  figures: { items: 'm.items' },
  about: 'm.about',
  from: `from ${named(`
    select l.observed_at, null::text as ad_id, l.social_page_id,
      coalesce(l.page_name, (select o.page_name from link o
        where o.brand_id = l.brand_id and o.social_page_id = l.social_page_id and o.page_name is not null
        order by o.observed_at limit 1)) as page_name,
      l.role, null::text as destination_url, false as is_withdrawn, false as is_added
    from link l
    where l.brand_id = k.brand_id and l.date = k.date and l.role is not null
      and not exists (select from link o where o.brand_id = l.brand_id and o.social_page_id = l.social_page_id
        and o.role is not null and o.observed_at < l.observed_at)
      and k.date > (select o.date from link o where o.brand_id = k.brand_id and o.role is not null
        order by o.observed_at limit 1)`)} m`,
});

/**
 * In days. Ads of a page scanned for the first time are new if they started at most this long before the brand's last
 * reliable day.
 */
const NEWS_GRACE_DAYS = 1;

/** Judges a report by the scans that were recorded before it. */
const newWhitelistingPage: Met = {
  kind: 'page',
  where: (table) => `(l.role is null or l.role in ('CREATOR', 'PARTNER'))
    and exists (select from link o where o.brand_id = m.brand_id and o.role is not null
      and o.observed_at <= m.observed_at)
    and (m.news or (
      m.started_on >= (select max(s.date) - ${NEWS_GRACE_DAYS} from scan s
        where s.brand_id = m.brand_id and s.in_order and s.reliable and s.date < m.date
        ${table === 'reported' ? 'and s.position < m.position' : ''})))`,
  role: 'l.role',
  join: `left join lateral (
    select role from link l where l.brand_id = m.brand_id and l.social_page_id = m.social_page_id
      and l.observed_at <= m.observed_at order by l.observed_at desc limit 1
  ) l on true`,
};

/** No signal without any linked page, because the brand's unlinked pages are not known. */
const newWhitelistingPair = signal('new_whitelisting_pair', {
  observedAt: 'm.observed_at',
  figures: { items: 'm.items', ...correctedFigures('m') },
  about: 'm.about',
  correction: markOf('m'),
  from: `from ${met(newWhitelistingPage)} m`,
});

/** Kinds that depend on events of a brand and day; whitelisting pairs depend on links too. */
export const KINDS_OF_DAYS: Readonly<Partial<Record<SignalKind, string>>> = {
  ads_started: itemsOf('ads_started', 'started'),
  ads_stopped: itemsOf('ads_stopped', 'stopped'),
  destinations_changed: itemsOf('destinations_changed', 'destination_changed'),
  ramp: moved('ramp', isRamp),
  drop: moved('drop', isDrop),
  launch_burst: launchBurst,
  sale: saleOfDay,
  new_landing_page: newLandingPage,
  new_whitelisting_pair: newWhitelistingPair,
  format_mix_shift: formatMixShift,
  long_runner_refreshed: longRunnerRefreshed,
};

/** Kinds that depend on links between social pages and brands. */
export const KINDS_OF_LINKS: Readonly<Partial<Record<SignalKind, string>>> = {
  new_linked_page: newLinkedPage,
  new_whitelisting_pair: newWhitelistingPair,
};
