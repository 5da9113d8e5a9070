import type {
  AdAttributed,
  AdObservationCorrected,
  AdRecord,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { AdCardContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { LandingPageEvent, LandingPageScraped } from '#contracts/events/corpus/landing-page.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection, type Row, type Statement } from '../define-projection.ts';
import {
  classify,
  meet,
  placePagesOfAd,
  refreshPage,
  refreshPagesOfAd,
  refreshPagesOfBrand,
  relistPagesOfAd,
  scrapeTime,
} from './statements.ts';
import { addToCounters } from '../sql/counter-table.ts';
import { currentAdChanges } from '../sql/current-ad-changes.ts';

/** Stands for an ad without a landing page, such as one that leads into an app. */
const NO_PAGE = '00000000-0000-0000-0000-000000000000';

const pagesOf = (ads: string): string => `(
      select distinct a.ad_id, a.brand_id, p.landing_page_id from ${ads} a, unnest(a.card_landing_page_ids || a.landing_page_id) as p(landing_page_id)
      where a.active and p.landing_page_id is not null
    )`;

/**
 * `null` leaves a column unchanged unless `is_full`; changes of one ad are ordered by position. Card pages come as one
 * text `{…}`, because arrays of different lengths form no array. `also_led` are earlier pages of the ad. Only this
 * writes the counters of `page`, so `page` is not in `touches`. If the brand changes, all pages of the ad move.
 */
const move: Statement = {
  columns: {
    ad_id: 'text',
    brand_id: 'uuid',
    position: 'bigint',
    is_full: 'boolean',
    landing_page_id: 'uuid',
    card_landing_page_ids: 'text',
    also_led: 'text',
    active: 'boolean',
  },
  touches: ['ad', 'lead', 'page_brand'],
  sql: `
    with i as materialized (select * from :input z),
    current as materialized (${currentAdChanges('i')}),
    last as (
      select ad_id, max(full_at) as full_at, bool_or(is_replaced) as is_replaced,
        (array_agg(brand_id order by position desc))[1] as brand_id,
        (array_agg(landing_page_id order by position desc) filter (where landing_page_id is not null))[1] as landing_page_id,
        (array_agg(card_landing_page_ids order by position desc) filter (where card_landing_page_ids is not null))[1] as card_landing_page_ids,
        (array_agg(active order by position desc) filter (where active is not null))[1] as active
      from current group by ad_id
    ), old as materialized (
      select a.ad_id, a.brand_id, a.landing_page_id, a.card_landing_page_ids, a.active from last join ad a using (ad_id)
    ), new as materialized (
      select l.ad_id, l.brand_id, l.full_at, o.brand_id as old_brand_id,
        nullif(coalesce(l.landing_page_id, case when not l.is_replaced then o.landing_page_id end), '${NO_PAGE}') as landing_page_id,
        coalesce(l.card_landing_page_ids::uuid[], case when not l.is_replaced then o.card_landing_page_ids end, '{}')
          as card_landing_page_ids,
        coalesce(l.active, o.active, true) as active
      from last l left join old o using (ad_id)
    ), kept as (
      insert into ad (ad_id, brand_id, landing_page_id, card_landing_page_ids, active, full_at)
      select ad_id, brand_id, landing_page_id, card_landing_page_ids, active, full_at from new
      on conflict (ad_id) do update set brand_id = excluded.brand_id, landing_page_id = excluded.landing_page_id,
        card_landing_page_ids = excluded.card_landing_page_ids, active = excluded.active, full_at = excluded.full_at
    ), led as (
      insert into lead (ad_id, landing_page_id, brand_id)
      select distinct on (l.ad_id, l.landing_page_id) l.ad_id, l.landing_page_id, coalesce(n.brand_id, a.brand_id) from (
        select ad_id, landing_page_id from i where landing_page_id <> '${NO_PAGE}'
        union all select ad_id, unnest(card_landing_page_ids::uuid[]) from i where card_landing_page_ids is not null
        union all select ad_id, unnest(also_led::uuid[]) from i where also_led is not null
      ) l left join new n using (ad_id) left join ad a using (ad_id)
      on conflict do nothing returning landing_page_id, brand_id
    ), taken as materialized (
      select l.ad_id, l.landing_page_id, n.old_brand_id, n.brand_id
      from new n join lead l using (ad_id) where n.old_brand_id <> n.brand_id
    ), handed_over as (
      update lead l set brand_id = t.brand_id from taken t
      where l.ad_id = t.ad_id and l.landing_page_id = t.landing_page_id
    ), moved as materialized (
      select landing_page_id, brand_id, sum(active_ads) as active_ads, sum(total_ads) as total_ads from (
        select landing_page_id, brand_id, 1 as active_ads, 0 as total_ads from ${pagesOf('new')} n
        union all select landing_page_id, brand_id, -1, 0 from ${pagesOf('old')} o
        union all select landing_page_id, brand_id, 0, 1 from led
        union all select landing_page_id, brand_id, 0, 1 from taken
        union all select landing_page_id, old_brand_id, 0, -1 from taken
      ) m
      group by landing_page_id, brand_id having sum(active_ads) <> 0 or sum(total_ads) <> 0
    ), counted as (
      insert into page as p (landing_page_id, active_ads, total_ads)
      select landing_page_id, sum(active_ads), sum(total_ads) from moved group by landing_page_id order by landing_page_id
      on conflict (landing_page_id) do update
        set active_ads = p.active_ads + excluded.active_ads, total_ads = p.total_ads + excluded.total_ads
    ), ${addToCounters('page_brand', ['landing_page_id', 'brand_id'], ['active_ads', 'total_ads'], 'moved')}
    select`,
};

type NamedAt = { readonly at: string } | { readonly assumed_at: string };

const recordPage = (
  link: string,
  namedAt: NamedAt,
): { readonly landing_page_id: string; readonly change: Change } | null => {
  const page = landingPageOf(link);
  if (!page) return null;
  const { landing_page_id, page_url, host, domains } = page;
  return {
    landing_page_id,
    change: { kind: 'run', statement: 'meet', row: { landing_page_id, page_url, host, domains, ...namedAt } },
  };
};

type AdMove = {
  readonly ad_id: string;
  readonly link?: string | null | undefined;
  readonly cards?: readonly AdCardContent[] | undefined;
  readonly active?: boolean;
  readonly is_full?: boolean;
  readonly earlier?: readonly string[];
};

/** `page_ids` is `null` if no card was observed. */
const recordCardPages = (cards: readonly AdCardContent[], namedAt: NamedAt) => {
  if (cards.length === 0) return { page_ids: null, changes: [] };
  const met = cards.flatMap(({ link_url }) =>
    link_url === null ? [] : (recordPage(link_url, namedAt) ?? []),
  );
  const byPage = new Map(met.map(({ landing_page_id, change }) => [landing_page_id, change]));
  return { page_ids: `{${[...byPage.keys()].toSorted().join()}}`, changes: [...byPage.values()] };
};

/** The link of the ad stays if no link was observed. */
const moveAd = (
  event: RecordedEvent<AdLibraryEvent>,
  { ad_id, link, cards = [], active, is_full = false, earlier = [] }: AdMove,
  namedAt: NamedAt = { at: event.data.observed_at },
): readonly Change[] => {
  const { brand_id } = event.data;
  const isLinked = link !== null && link !== undefined;
  if (!isLinked && active === undefined && cards.length === 0) return [];
  const met = isLinked ? recordPage(link, namedAt) : null;
  const onCards = recordCardPages(cards, namedAt);
  const before = earlier.flatMap((one) => recordPage(one, namedAt) ?? []);
  const row: Row = {
    ad_id,
    brand_id,
    position: event.position,
    is_full,
    landing_page_id: met?.landing_page_id ?? (isLinked || is_full ? NO_PAGE : null),
    card_landing_page_ids: onCards.page_ids,
    also_led: before.length === 0 ? null : `{${before.map(({ landing_page_id }) => landing_page_id).join()}}`,
    active: active ?? null,
  };
  return [
    ...(met === null ? [] : [met.change]),
    ...onCards.changes,
    ...before.map(({ change }) => change),
    { kind: 'run', statement: 'move', row },
    { kind: 'refresh', statement: 'place_pages_of_ad', row: { ad_id } },
    { kind: 'refresh', statement: 'relist_pages_of_ad', row: { ad_id } },
  ];
};

const fullAd = ({ ad_id, status, content }: AdRecord): AdMove => ({
  ad_id,
  is_full: true,
  link: content.link_url,
  cards: content.cards,
  active: status !== 'inactive',
});

/** Links of each scan that showed others than the scan before. */
const linksOfLooks = ({ looks }: AdRecord): readonly { readonly link: string; readonly at: string }[] =>
  looks.flatMap(({ kind, shown, observed_at }) =>
    [shown?.link_url, ...(shown?.cards ?? []).map(({ link_url }) => link_url)].flatMap((link) =>
      // An absence with links stands for older looks whose times are lost.
      kind === 'absent' || link === null || link === undefined ? [] : [{ link, at: observed_at }],
    ),
  );

/** The looks and the added occurrences tell when the ad led where. */
const correctAd = (event: RecordedEvent<AdObservationCorrected>): readonly Change[] => {
  const { before, after, added, observed_at } = event.data;
  const looked = linksOfLooks(after);
  const led = [
    ...looked,
    ...added.flatMap(({ to_url = null, observed_at: at }) => (to_url === null ? [] : [{ link: to_url, at }])),
  ].flatMap(({ link, at }) => {
    const met = recordPage(link, { at });
    return met ? [met.change] : [];
  });
  const earlier = [
    ...looked.map(({ link }) => link),
    ...added.flatMap(({ from_url = null, to_url = null }) =>
      [from_url, to_url].filter((url) => url !== null),
    ),
  ];
  return [
    ...led,
    ...moveAd(
      event,
      { ...fullAd(after), earlier: [...new Set(earlier)] },
      before === null ? { at: observed_at } : { assumed_at: observed_at },
    ),
  ];
};

const attributeAd = (event: RecordedEvent<AdAttributed>): readonly Change[] => {
  const { brand_id, to_brand_id, ad, observed_at } = event.data;
  // The stream of the earlier brand has the event too. Only one of the two may replace the ad.
  if (brand_id !== to_brand_id) return [];
  return [
    ...moveAd(event, fullAd(ad), { assumed_at: observed_at }),
    { kind: 'refresh', statement: 'refresh_pages_of_ad', row: { ad_id: ad.ad_id } },
  ];
};

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  const refresh: Change = { kind: 'refresh', statement: 'refresh_of_brand', row: { brand_id } };
  if (event.type === 'BrandRegistered') {
    const { domain } = event.data;
    return [
      ...brandReference(event),
      ...brandFacets(event),
      { kind: 'upsert', table: 'brand', key: { brand_id }, set: { domain } },
      refresh,
    ];
  }
  const facets = brandFacets(event);
  return [...brandReference(event), ...facets, ...(facets.length === 0 ? [] : [refresh])];
};

const scrapePage = ({ data }: LandingPageScraped): readonly Change[] => {
  const { landing_page_id, observed_at, changes } = data;
  return [
    ...(Object.keys(changes).length === 0
      ? []
      : [{ kind: 'upsert', table: 'page', key: { landing_page_id }, set: changes } as const]),
    { kind: 'run', statement: 'scrape_time', row: { landing_page_id, scraped_at: observed_at } },
  ];
};

const projectPage = (event: LandingPageEvent): readonly Change[] => {
  const { landing_page_id, page_url, observed_at } = event.data;
  const met = recordPage(page_url, { at: observed_at });
  if (met === null) return [];
  return [
    met.change,
    ...(event.type === 'LandingPageScraped'
      ? scrapePage(event)
      : [
          {
            kind: 'run',
            statement: 'classify',
            row: {
              landing_page_id,
              page_type: event.data.page_type,
              confidence: event.data.confidence,
              classified_at: observed_at,
            },
          } as const,
        ]),
    { kind: 'refresh', statement: 'refresh_page', row: { landing_page_id } },
  ];
};

export const pages = projection<LandingPageEvent | AdLibraryEvent | BrandEvent>({
  name: 'pages',
  version: 11,
  prefixes: ['landingPage-', 'adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    applied_scan: recordAppliedScan,
    meet,
    move,
    scrape_time: scrapeTime,
    classify,
    refresh_page: refreshPage,
    place_pages_of_ad: placePagesOfAd,
    relist_pages_of_ad: relistPagesOfAd,
    refresh_pages_of_ad: refreshPagesOfAd,
    refresh_of_brand: refreshPagesOfBrand,
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'LandingPageScraped':
      case 'LandingPageClassified':
        return projectPage(event);
      case 'AdStarted':
        return moveAd(event, {
          ad_id: event.data.ad_id,
          link: event.data.content.link_url,
          cards: event.data.content.cards,
          active: true,
          is_full: true,
        });
      case 'AdRevised':
        return moveAd(event, { ad_id: event.data.ad_id, cards: event.data.changes.cards?.to });
      case 'AdDestinationChanged':
        return moveAd(event, { ad_id: event.data.ad_id, link: event.data.to_url });
      case 'AdDetailsObserved':
        return moveAd(event, {
          ad_id: event.data.ad_id,
          link: event.data.details.link_url,
          cards: event.data.details.cards,
        });
      case 'AdObservationCorrected':
        return correctAd(event);
      case 'AdAttributed':
        return attributeAd(event);
      case 'AdsReworded':
        return event.data.ads.flatMap(({ ad_id, wording }) =>
          moveAd(event, { ad_id, link: wording.link_url, cards: wording.cards }),
        );
      case 'AdConfirmedInactive':
        return moveAd(event, { ad_id: event.data.ad_id, active: false });
      case 'AdReturned':
        return moveAd(event, { ad_id: event.data.ad_id, active: true });
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
        return [];
      case 'ScanCorrected':
      case 'ScanRecorded':
        return [appliedScan(event)];
    }
  },
});
