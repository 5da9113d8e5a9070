import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { utcDateSql } from '#contracts/values/windows.ts';
import { type ItemsAsOf, itemsAsOfSql, readItemsAsOf } from '../shared-tables/applied-scan.ts';
import { PARTNERSHIP_DAYS, PARTNERSHIPS_MAX } from '#contracts/resources/corpus/social-page.ts';

/** Only ads that ran within the window. */
type Pair = {
  readonly social_page_id: string | null;
  readonly page_name: string | null;
  readonly page_is_own: boolean;
  readonly partner_id: string | null;
  readonly partner_name: string | null;
  readonly partner_is_own: boolean;
  readonly ads: number;
  readonly active_ads: number;
  readonly first_seen_on: string;
  readonly last_seen_on: string;
};

// Ads of the brand, and ads of others on which a page of the brand is page or partner. A running ad was last seen by
// its brand's newest scan, or at its newest sighting without any scan.
const PAIRS = `
  with own as materialized (
    select social_page_id from partnerships.link where brand_id = $1 and role in ('OFFICIAL', 'REGIONAL')
  ), found as (
    select a.* from partnerships.ad a where a.brand_id = $1
    union
    select a.* from partnerships.ad a join own on a.social_page_id = own.social_page_id
    union
    select a.* from partnerships.ad a join own on a.partner_id = own.social_page_id
  )
  select a.social_page_id, max(a.page_name collate "C") as page_name,
    coalesce(a.social_page_id in (select social_page_id from own), false) as page_is_own,
    a.partner_id, max(a.partner_name collate "C") as partner_name,
    coalesce(a.partner_id in (select social_page_id from own), false) as partner_is_own,
    count(*)::int as ads, (count(*) filter (where a.live))::int as active_ads,
    (min(coalesce(a.first_seen_at, a.last_seen_at)) at time zone 'utc')::date::text as first_seen_on,
    (max(case when a.live then coalesce(s.scanned_at, a.last_seen_at) else a.last_seen_at end) at time zone 'utc')::date::text as last_seen_on
  from found a left join partnerships.applied_scan s using (brand_id)
  cross join (
    select coalesce((select scanned_at from partnerships.applied_scan where brand_id = $1), (select max(last_seen_at) from found)) as scanned_at
  ) b
  where a.live or ${utcDateSql('a.last_seen_at')} > ${utcDateSql('b.scanned_at')} - ${PARTNERSHIP_DAYS}
  group by a.social_page_id, a.partner_id, case when a.social_page_id is null then a.page_name end,
    case when a.partner_id is null then lower(a.partner_name) end`;

const PAIRS_AS_OF = itemsAsOfSql('partnerships', `select row_to_json(p)::text from (${PAIRS}) p`);

type Creator = { page_id: string | null; page_name: string | null };
type Partnership = {
  creator: Creator;
  ads: number;
  brand_page_ads: number;
  creator_page_ads: number;
  active_ads: number;
  first_seen_on: string;
  last_seen_on: string;
};

/**
 * The creator is the page that is not the brand's. If neither is, the ad's destination makes it the brand's ad, so the
 * page that runs it is the creator. If no page is named, the partner is.
 */
const creatorOf = (pair: Pair): { readonly creator: Creator; readonly runs: boolean } | null => {
  const page = { page_id: pair.social_page_id, page_name: pair.page_name };
  const partner = { page_id: pair.partner_id, page_name: pair.partner_name };
  if (pair.page_is_own) return pair.partner_is_own ? null : { creator: partner, runs: false };
  if (pair.social_page_id === null && !pair.partner_is_own) return { creator: partner, runs: false };
  return page.page_id === null && page.page_name === null ? null : { creator: page, runs: true };
};

const nameKey = (name: string | null): string => (name ?? '').normalize('NFKC').toLowerCase().trim();

/** A creator without an id gets the key of the only creator with an id and its name, if exactly one exists. */
const keysOf = (creators: readonly Creator[]): ((creator: Creator) => string) => {
  const idsOfName = new Map<string, Set<string>>();
  for (const { page_id, page_name } of creators) {
    if (page_id === null) continue;
    const ids = idsOfName.get(nameKey(page_name)) ?? new Set();
    idsOfName.set(nameKey(page_name), ids.add(page_id));
  }
  return ({ page_id, page_name }) => {
    if (page_id !== null) return page_id;
    const ids = [...(idsOfName.get(nameKey(page_name)) ?? [])];
    return ids.length === 1 && ids[0] !== undefined ? ids[0] : `"${nameKey(page_name)}`;
  };
};

const least = (one: string, other: string): string => (one < other ? one : other);
const greatest = (one: string, other: string): string => (one > other ? one : other);

/** The 365 days end with the brand's last scan; most ads first. */
export const listPartnerships = async (db: ReadDatabase, brandId: string): Promise<ItemsAsOf> => {
  const found = await readItemsAsOf(db, PAIRS_AS_OF, [brandId]);
  return { ...found, items: mergePairs(found.items.map((item) => JSON.parse(item) as Pair)) };
};

const mergePairs = (pairs: readonly Pair[]): readonly string[] => {
  const creators = pairs.flatMap((pair) => {
    const found = creatorOf(pair);
    return found ? [{ ...found, pair }] : [];
  });
  const keyOf = keysOf(creators.map(({ creator }) => creator));
  const merged = new Map<string, Partnership>();
  for (const { creator, runs, pair } of creators) {
    const key = keyOf(creator);
    const existing = merged.get(key);
    merged.set(key, {
      creator: {
        page_id: existing?.creator.page_id ?? creator.page_id,
        page_name: existing?.creator.page_name ?? creator.page_name,
      },
      ads: (existing?.ads ?? 0) + pair.ads,
      brand_page_ads: (existing?.brand_page_ads ?? 0) + (runs ? 0 : pair.ads),
      creator_page_ads: (existing?.creator_page_ads ?? 0) + (runs ? pair.ads : 0),
      active_ads: (existing?.active_ads ?? 0) + pair.active_ads,
      first_seen_on: least(existing?.first_seen_on ?? pair.first_seen_on, pair.first_seen_on),
      last_seen_on: greatest(existing?.last_seen_on ?? pair.last_seen_on, pair.last_seen_on),
    });
  }
  return [...merged]
    .toSorted(
      ([keyA, a], [keyB, b]) => b.ads - a.ads || b.active_ads - a.active_ads || (keyA < keyB ? -1 : 1),
    )
    .slice(0, PARTNERSHIPS_MAX)
    .map(([, partnership]) => JSON.stringify(partnership));
};
