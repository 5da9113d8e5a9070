import { hash } from 'node:crypto';
import type { AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, type Row, projection, type Statement } from '../define-projection.ts';
import { addToCounters } from '../sql/counter-table.ts';
import { currentAdChanges } from '../sql/current-ad-changes.ts';

/** Even odds, because only ads show the association. */
const SEEN_IN_ADS_CONFIDENCE = 0.5;

/** `is_full` sets all columns; the later change of a batch wins. Counts change by the difference of states. */
const MOVE_ADS = `
  with current as materialized (${currentAdChanges(':input')}
  ), said as (
    select ad_id, max(full_at) as full_at, bool_or(is_replaced) as is_replaced,
      (array_agg(brand_id order by position desc))[1] as brand_id,
      (array_agg(social_page_id order by position desc) filter (where social_page_id is not null))[1] as social_page_id,
      (array_agg(live order by position desc) filter (where live is not null))[1] as live,
      bool_or(says_copy) as says_copy,
      (array_agg(copy_key order by position desc) filter (where says_copy))[1] as copy_key
    from current group by ad_id
  ), before as (
    select a.* from ad a join said using (ad_id)
  ), after as (
    insert into ad as a (ad_id, brand_id, social_page_id, live, copy_key, full_at)
    select s.ad_id, s.brand_id, coalesce(s.social_page_id, case when not s.is_replaced then b.social_page_id end),
      coalesce(s.live, b.live, true), case when s.says_copy then s.copy_key else b.copy_key end, s.full_at
    from said s left join before b using (ad_id)
    on conflict (ad_id) do update set brand_id = excluded.brand_id, social_page_id = excluded.social_page_id,
        live = excluded.live, copy_key = excluded.copy_key, full_at = excluded.full_at
      where (a.brand_id, a.social_page_id, a.live, a.copy_key, a.full_at) is distinct from
        (excluded.brand_id, excluded.social_page_id, excluded.live, excluded.copy_key, excluded.full_at)
    returning *
  ), moved as (
    select brand_id, coalesce(social_page_id, '') as social_page_id, copy_key, live::int as active_ads, 1 as total_ads from after
    union all
    select b.brand_id, coalesce(b.social_page_id, ''), b.copy_key, -b.live::int, -1 from before b join after using (ad_id)
  ), ${addToCounters('run', ['social_page_id', 'brand_id'], ['active_ads', 'total_ads'], 'moved')},
  ${addToCounters('copy_run', ['brand_id', 'social_page_id', 'copy_key'], ['active_ads'], 'moved where copy_key is not null')},
  ${addToCounters('copy_page', ['copy_key', 'social_page_id'], ['active_ads'], "moved where copy_key is not null and social_page_id <> ''")},
  spread as (
    select d.copy_key, d.active_ads,
      (coalesce(c.active_ads, 0) + d.active_ads > 0)::int - (coalesce(c.active_ads, 0) > 0)::int as pages
    from copy_page_by d left join copy_page c using (copy_key, social_page_id)
  ), ${addToCounters('copy_total', ['copy_key'], ['active_ads', 'pages'], 'spread')}
  select`;

const meetOn = (pages: string): string => `
  with touched as materialized (${pages}), candidate as materialized (
    select t.social_page_id, m.brand_id, m.active_ads, m.confidence, b.category_ids
    from touched t cross join lateral (
      select coalesce(r.brand_id, l.brand_id) as brand_id, coalesce(r.active_ads, 0) as active_ads,
        coalesce(l.confidence, ${SEEN_IN_ADS_CONFIDENCE}) as confidence
      from (select brand_id, active_ads from run where social_page_id = t.social_page_id and active_ads > 0) r
      full join (select brand_id, confidence from link where social_page_id = t.social_page_id) l using (brand_id)
    ) m
    join brand b on b.brand_id = m.brand_id and b.is_public and b.slug is not null
  ), sharing as (
    select *, count(*) over (partition by social_page_id) as brands from candidate
  ), parted as (
    delete from member m using touched t
    where m.social_page_id = t.social_page_id and not exists (
      select from sharing s where s.social_page_id = m.social_page_id and s.brand_id = m.brand_id and s.brands > 1)
  ), met as (
    insert into member as m (social_page_id, brand_id, confidence, brands, category_ids)
    select social_page_id, brand_id, confidence, brands, category_ids from sharing where brands > 1
    on conflict (social_page_id, brand_id) do update
      set confidence = excluded.confidence, brands = excluded.brands, category_ids = excluded.category_ids
      where (m.confidence, m.brands, m.category_ids)
        is distinct from (excluded.confidence, excluded.brands, excluded.category_ids)
  ), busy as (
    select social_page_id, count(*) as brands, sum(active_ads)::bigint as active_ads from candidate
    where active_ads > 0 group by social_page_id having count(*) > 1
  ), closed as (
    delete from hub h using touched t
    where h.social_page_id = t.social_page_id and not exists (select from busy b where b.social_page_id = h.social_page_id)
  )
  insert into hub as h (social_page_id, brands, active_ads) select social_page_id, brands, active_ads from busy
  on conflict (social_page_id) do update set brands = excluded.brands, active_ads = excluded.active_ads
  where (h.brands, h.active_ads) is distinct from (excluded.brands, excluded.active_ads)`;

const statements = {
  move_ads: {
    columns: {
      ad_id: 'text',
      position: 'bigint',
      is_full: 'boolean',
      brand_id: 'uuid',
      social_page_id: 'text',
      live: 'boolean',
      says_copy: 'boolean',
      copy_key: 'uuid',
    },
    touches: ['ad', 'run', 'copy_run', 'copy_page', 'copy_total'],
    sql: MOVE_ADS,
  },
  // Stores the wording that sorts first, in any order of the ads.
  write_copy: {
    columns: { copy_key: 'uuid', body: 'text' },
    touches: ['copy'],
    sql: `
      insert into copy as c (copy_key, body)
      select distinct on (copy_key) copy_key, body from :input i order by copy_key, body collate "C"
      on conflict (copy_key) do update set body = excluded.body where excluded.body collate "C" < c.body collate "C"`,
  },
  name_page: {
    columns: { social_page_id: 'text', page_name: 'text', named_at: 'timestamptz' },
    touches: ['page'],
    sql: `
      insert into page as p (social_page_id, page_name, named_at)
      select distinct on (social_page_id) social_page_id, page_name, named_at from :input i
      order by social_page_id, named_at desc, page_name collate "C"
      on conflict (social_page_id) do update set page_name = excluded.page_name, named_at = excluded.named_at
      where excluded.named_at > p.named_at
        or (excluded.named_at = p.named_at and excluded.page_name collate "C" < p.page_name collate "C")`,
  },
  profile_time: {
    columns: { social_page_id: 'text', source: 'text', observed_at: 'timestamptz' },
    touches: ['profile'],
    sql: `
      insert into profile as p (social_page_id, source, observed_at)
      select social_page_id, source, max(observed_at) from :input i group by social_page_id, source
      on conflict (social_page_id, source) do update set observed_at = greatest(p.observed_at, excluded.observed_at)`,
  },
  applied_scan: recordAppliedScan,
  meet_on_page: {
    columns: { social_page_id: 'text' },
    touches: ['member', 'hub'],
    sql: meetOn('select social_page_id from :input i'),
  },
  meet_brand: {
    columns: { brand_id: 'uuid' },
    touches: ['member', 'hub'],
    sql: meetOn(`
      select social_page_id from run join :input i using (brand_id) where social_page_id <> ''
      union select social_page_id from link join :input j using (brand_id)`),
  },
  categorize: {
    columns: { brand_id: 'uuid' },
    touches: ['brand_category', 'category_size'],
    sql: `
      with held as materialized (
        select distinct b.brand_id, unnest(b.category_ids) as category_id
        from brand b join :input i using (brand_id) where b.is_public and b.slug is not null
      ), left_out as (
        delete from brand_category c using :input j
        where c.brand_id = j.brand_id and not exists (
          select from held h where h.brand_id = c.brand_id and h.category_id = c.category_id)
        returning c.category_id
      ), joined as (
        insert into brand_category (category_id, brand_id) select category_id, brand_id from held
        on conflict do nothing returning category_id
      ), moved as (
        select category_id, 1 as brands from joined union all select category_id, -1 from left_out
      ), ${addToCounters('category_size', ['category_id'], ['brands'], 'moved')}
      select`,
  },
} satisfies Readonly<Record<string, Statement>>;

/** Placeholder that a catalogue fills with each product's own words. */
const MACRO = /\{\{[^{}]*\}\}/;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** The key is a uuid. */
const KEY_DIGITS = 32;

/**
 * Equal for the same words in the same order, regardless of case, punctuation, emoji and line breaks. `null` for a text
 * without words, and for a template filled per product.
 */
export const copyKeyOf = (body: string | null | undefined): string | null => {
  if (!body || MACRO.test(body)) return null;
  const words = body.normalize('NFKC').toLowerCase().replaceAll(BETWEEN_WORDS, ' ').trim();
  return words === '' ? null : hash('sha256', words, 'hex').slice(0, KEY_DIGITS);
};

const run = (statement: keyof typeof statements, row: Row): Change => ({ kind: 'run', statement, row });

const move = (event: RecordedEvent<AdLibraryEvent>, ad_id: string, columns: Row): Change =>
  run('move_ads', {
    ad_id,
    position: event.position,
    is_full: false,
    brand_id: event.data.brand_id,
    ...columns,
  });

const meetOnPage = (social_page_id: string | null): readonly Change[] =>
  social_page_id === null ? [] : [{ kind: 'refresh', statement: 'meet_on_page', row: { social_page_id } }];

const namePage = (
  social_page_id: string | null,
  page_name: string | null,
  named_at: string,
): readonly Change[] =>
  social_page_id === null || page_name === null
    ? []
    : [run('name_page', { social_page_id, page_name, named_at })];

/** Stores no copy if the key is `null`. */
const copyChanges = (
  body: string | null | undefined,
): { readonly copyColumns: Row; readonly changes: Change[] } => {
  if (body === undefined) return { copyColumns: {}, changes: [] };
  const copy_key = copyKeyOf(body);
  return {
    copyColumns: { says_copy: true, copy_key },
    changes: copy_key === null ? [] : [run('write_copy', { copy_key, body })],
  };
};

const reviseCopy = (
  event: RecordedEvent<AdLibraryEvent>,
  ad_id: string,
  body: string | null | undefined,
): readonly Change[] => {
  if (body === undefined) return [];
  const { copyColumns, changes } = copyChanges(body);
  return [move(event, ad_id, copyColumns), ...changes];
};

type FullAd = {
  readonly ad_id: string;
  readonly page_id: string | null;
  readonly live: boolean;
  readonly body: string | null;
};

const replaceAd = (
  event: RecordedEvent<AdLibraryEvent>,
  { ad_id, page_id, live, body }: FullAd,
): readonly Change[] => {
  const { copyColumns, changes } = copyChanges(body);
  return [
    move(event, ad_id, { is_full: true, social_page_id: page_id, live, ...copyColumns }),
    ...changes,
    ...meetOnPage(page_id),
  ];
};

const replaceAdByRecord = (event: RecordedEvent<AdLibraryEvent>, ad: AdRecord): readonly Change[] =>
  replaceAd(event, { ...ad, live: ad.status !== 'inactive', body: ad.content.body });

const projectAd = (event: RecordedEvent<AdLibraryEvent>): readonly Change[] => {
  const { observed_at } = event.data;
  switch (event.type) {
    case 'AdStarted': {
      const { ad_id, page_id, page_name, content } = event.data;
      return [
        ...replaceAd(event, { ad_id, page_id, live: true, body: content.body }),
        ...namePage(page_id, page_name, observed_at),
      ];
    }
    case 'AdRevised':
      return reviseCopy(event, event.data.ad_id, event.data.changes.body?.to);
    case 'AdDetailsObserved': {
      const { ad_id, page_id: social_page_id, page_name, details } = event.data;
      const { copyColumns, changes } = copyChanges(details.body);
      return [
        move(event, ad_id, { social_page_id, ...copyColumns }),
        ...changes,
        ...namePage(social_page_id, page_name, observed_at),
        ...meetOnPage(social_page_id),
      ];
    }
    case 'AdObservationCorrected': {
      const { before, after } = event.data;
      const { page_id, page_name } = after;
      // A name known before comes from another scan, and has that scan's time.
      const isNamedNow = before === null || page_id !== before.page_id || page_name !== before.page_name;
      return [
        ...replaceAdByRecord(event, after),
        ...(isNamedNow ? namePage(page_id, page_name, observed_at) : []),
        ...(before === null || before.page_id === page_id ? [] : meetOnPage(before.page_id)),
      ];
    }
    case 'AdAttributed': {
      const { brand_id, to_brand_id, ad } = event.data;
      // The stream of the earlier brand has the event too. Only one of the two may replace the ad.
      return brand_id === to_brand_id ? replaceAdByRecord(event, ad) : [];
    }
    case 'ScanCorrected':
      return [appliedScan(event)];
    case 'AdsReworded':
      return event.data.ads.flatMap(({ ad_id, wording }) => reviseCopy(event, ad_id, wording.body));
    case 'AdConfirmedInactive':
    case 'AdReturned': {
      const { ad_id, excerpt } = event.data;
      return [move(event, ad_id, { live: event.type === 'AdReturned' }), ...meetOnPage(excerpt.page_id)];
    }
    case 'ScanRecorded':
      return [
        appliedScan(event),
        ...event.data.pages.flatMap(({ page_id, page_name }) =>
          namePage(page_id === '' ? null : page_id, page_name, observed_at),
        ),
      ];
    case 'AdDestinationChanged':
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
      return [];
  }
};

const projectPage = (event: RecordedEvent<SocialPageEvent>): readonly Change[] => {
  const { page_id: social_page_id, observed_at } = event.data;
  switch (event.type) {
    case 'PageLinked': {
      const { brand_id, role, confidence, page_name, named_at } = event.data;
      return [
        { kind: 'upsert', table: 'link', key: { social_page_id, brand_id }, set: { role, confidence } },
        // The event of the other observation named the page already.
        ...namePage(social_page_id, named_at === undefined ? page_name : null, observed_at),
        ...meetOnPage(social_page_id),
      ];
    }
    case 'PageUnlinked':
    case 'PageLinkQuarantined':
      return [
        { kind: 'delete', table: 'link', key: { social_page_id, brand_id: event.data.brand_id } },
        ...meetOnPage(social_page_id),
      ];
    case 'PageLinkObserved': {
      const { status, page_name = null } = event.data;
      return status === 'linked' ? namePage(social_page_id, page_name, observed_at) : [];
    }
    case 'PageProfileObserved': {
      const { source, changes } = event.data;
      return [
        ...(Object.keys(changes).length === 0
          ? []
          : [{ kind: 'upsert', table: 'profile', key: { social_page_id, source }, set: changes } as const]),
        run('profile_time', { social_page_id, source, observed_at }),
        ...namePage(social_page_id, changes.page_name ?? null, observed_at),
      ];
    }
  }
};

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  const changes = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  // Only public brands are members of pages and counted in categories.
  const placed = changes.is_public !== undefined || changes.category_path !== undefined;
  const refreshes = (['meet_brand', 'categorize'] as const).map(
    (statement): Change => ({ kind: 'refresh', statement, row: { brand_id } }),
  );
  return [...brandReference(event), ...brandFacets(event), ...(placed ? refreshes : [])];
};

/** Links, profiles by source, brands per page, their copy and shared pages. Ads and links come in either order. */
export const socialPages = projection<AdLibraryEvent | SocialPageEvent | BrandEvent>({
  name: 'social-pages',
  version: 10,
  prefixes: ['adLibrary-', 'socialPage-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements,
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'PageLinked':
      case 'PageUnlinked':
      case 'PageLinkQuarantined':
      case 'PageLinkObserved':
      case 'PageProfileObserved':
        return projectPage(event);
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
      case 'ScanRecorded':
        return projectAd(event);
    }
  },
});
