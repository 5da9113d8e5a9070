import { pageOfRows } from '../sql/pages.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import {
  HUB_ROSTER_MAX,
  NETWORK_BRANDS_MAX,
  NETWORK_LINKS_MAX,
  NETWORK_PAGE_BRANDS_MAX,
} from '#contracts/resources/corpus/social-page.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import { raw, sql } from '../sql/sql-tag.ts';

const ROSTER = raw(`
  select string_agg('{"brand":' || ${BRAND_REFERENCE_SQL} || ',"active_ads":' || b.active_ads || '}', ','
    order by b.active_ads desc, b.brand_id) as items
  from (
    select b.*, r.active_ads from social_pages.run r join social_pages.brand b using (brand_id)
    where r.social_page_id = h.social_page_id and r.active_ads > 0 and b.is_public
    order by r.active_ads desc, r.brand_id limit ${HUB_ROSTER_MAX}
  ) b`);

/** Active ads of two or more public brands; largest roster first. */
export const listHubs = async (db: ReadDatabase, { after, limit }: PageRequest): Promise<Page> => {
  const where = sql.and([
    after && sql.fragment`(h.brands, h.active_ads, h.social_page_id) < (${sql.list(after)})`,
  ]);
  type Row = { item: string; brands: string; active_ads: string; social_page_id: string };
  const rows = await db.query<Row>(sql.unsafe`
    select h.brands, h.active_ads, h.social_page_id,
      '{"page":' || json_build_object('page_id', h.social_page_id, 'page_name', n.page_name)
        || ',"followers":' || coalesce(f.followers::text, 'null')
        || ',"brands":' || h.brands || ',"active_ads":' || h.active_ads
        || ',"roster":[' || roster.items || ']}' as item
    from (
      select * from social_pages.hub h
      where ${where} order by h.brands desc, h.active_ads desc, h.social_page_id desc limit ${limit + 1}
    ) h
    left join social_pages.page n on n.social_page_id = h.social_page_id
    left join lateral (
      select followers from social_pages.profile
      where social_page_id = h.social_page_id and followers is not null
      order by observed_at desc, source collate "C" limit 1
    ) f on true
    cross join lateral (${ROSTER}) roster
    order by h.brands desc, h.active_ads desc, h.social_page_id desc`);
  return pageOfRows(rows, limit, {
    toItem: ({ item }) => item,
    cursorOf: (last) => [last.brands, last.active_ads, last.social_page_id],
  });
};

/** A page shared by more brands proves no link between two of them, and would link each with each. */
const TELLING = `brands <= ${NETWORK_PAGE_BRANDS_MAX}`;
/** Shared pages prove nothing, so a single one never makes a link certain. */
const CERTAIN = 0.99;

type NetworkParts = {
  /** Tables `shown (brand_id, linked_brands)` and `near`, the `member` rows of these brands. `order` sorts `shown`. */
  readonly tables: string;
  readonly order: string;
  readonly brands: string;
  readonly brandsWithLink: string;
};

const networkOf = ({ tables, order, brands, brandsWithLink }: NetworkParts): string => `
  with ${tables}, size as materialized (
    select (${brands})::int as brands, (${brandsWithLink})::int as with_link
  ), pair as materialized (
    -- Pairs are computed only for brands that are shown: a large network has a hundred thousand pairs.
    select a.brand_id as one, b.brand_id as other, count(*) as shared_pages,
      round((1 - exp(sum(ln(1 - least(${CERTAIN}, least(a.confidence, b.confidence) / (a.brands - 1))))))::numeric, 3) as confidence
    from near a join near b on b.social_page_id = a.social_page_id and b.brand_id > a.brand_id
    group by 1, 2
  )
  select size.brands,
    '{"brands":[' || coalesce((
      select string_agg('{"brand":' || ${BRAND_REFERENCE_SQL} || ',"linked_brands":' || s.linked_brands || '}', ','
        order by ${order})
      from shown s join social_pages.brand b using (brand_id)), '')
    || '],"links":' || coalesce((
      select json_agg(json_build_object('brand_ids', json_build_array(l.one, l.other),
        'shared_pages', l.shared_pages, 'confidence', l.confidence)
        order by l.confidence desc, l.shared_pages desc, l.one, l.other)
      from (
        select p.* from pair p order by p.confidence desc, p.shared_pages desc, p.one, p.other limit ${NETWORK_LINKS_MAX}
      ) l), '[]'::json)::text
    || ',"brands_with_link":' || size.with_link
    || ',"brands_without_link":' || size.brands - size.with_link || '}' as item
  from size`;

/** Pages of more brands weigh a fraction in whole numbers, so that the sum does not depend on the order. */
const SHARED_PAGE_WEIGHT = 1_000_000;
const NEAREST = '(s.brand_id = $1) desc, s.nearness desc, s.brand_id';

/** The index gives the nearness; sorting thousands of neighbours by links takes ten times as long and says less. */
const OF_BRAND = networkOf({
  tables: `
    neighbour as materialized (
      select o.brand_id, sum((${SHARED_PAGE_WEIGHT} / (m.brands - 1))::int) as nearness
      from social_pages.member m join social_pages.member o on o.social_page_id = m.social_page_id
      where m.brand_id = $1 and m.${TELLING} group by o.brand_id
    ), nearest as materialized (
      select * from neighbour s order by ${NEAREST} limit ${NETWORK_BRANDS_MAX}
    ), near as materialized (
      select o.* from nearest join social_pages.member o using (brand_id) where o.${TELLING}
    ), reached as (
      select distinct a.brand_id, o.brand_id as other
      from near a join social_pages.member o on o.social_page_id = a.social_page_id and o.brand_id <> a.brand_id
      where a.brand_id <> $1 and o.brand_id in (select brand_id from neighbour)
    ), total as materialized (
      select count(*) as brands from neighbour
    ), shown as materialized (
      select s.*, coalesce(r.linked_brands, total.brands - 1) as linked_brands
      from total cross join nearest s
      left join (select brand_id, count(*) as linked_brands from reached group by brand_id) r using (brand_id)
    )`,
  order: NEAREST,
  // Every neighbour is linked, at least with the brand itself.
  brands: 'select brands from total',
  brandsWithLink: 'select brands from total',
});

const MOST_LINKED = 's.linked_brands desc, s.brand_id';

/** A brand met on several pages counts several times; distinct brands are counted only for those shown. */
const OF_CATEGORY = networkOf({
  tables: `
    associated as materialized (
      select social_page_id, brand_id, confidence, brands from social_pages.member
      where category_ids @> array[$1]::uuid[] and ${TELLING}
    ), met as materialized (
      select brand_id, sum(others) as meetings
      from (select brand_id, (count(*) over (partition by social_page_id) - 1)::int as others from associated) a
      group by brand_id having sum(others) > 0
    ), near as materialized (
      select a.* from (select brand_id from met order by meetings desc, brand_id limit ${NETWORK_BRANDS_MAX}) m
      join associated a using (brand_id)
    ), shown as materialized (
      select brand_id, count(*) as linked_brands from (
        select distinct a.brand_id, o.brand_id as other
        from near a join associated o on o.social_page_id = a.social_page_id and o.brand_id <> a.brand_id
      ) r group by brand_id
    )`,
  order: MOST_LINKED,
  brands: 'select coalesce(sum(brands), 0) from social_pages.category_size where category_id = $1',
  brandsWithLink: 'select count(*) from met',
});

/** Stands for a brand that shares no page, and hides whether a brand that is not public shares one. */
const ALONE = `
  select '{"brands":[{"brand":' || ${BRAND_REFERENCE_SQL}
    || ',"linked_brands":0}],"links":[],"brands_with_link":0,"brands_without_link":' || b.is_public::int || '}' as item
  from social_pages.brand b where b.brand_id = $1`;

type Network = { readonly brands: number; readonly item: string };

export const readNetworkOfBrand = async (db: ReadDatabase, brandId: string): Promise<string> => {
  const [network] = await db.query<Network>({ sql: OF_BRAND, values: [brandId] });
  if (network && network.brands > 0) return network.item;
  return (await db.query<{ item: string }>({ sql: ALONE, values: [brandId] }))[0]?.item ?? '{}';
};

/** `null` if no public brand of the category shares a page. */
export const readNetworkOfCategory = async (db: ReadDatabase, categoryId: string): Promise<string | null> => {
  const [network] = await db.query<Network>({ sql: OF_CATEGORY, values: [categoryId] });
  return network && network.brands > 0 ? network.item : null;
};
