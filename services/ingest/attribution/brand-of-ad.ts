import { destinationHost } from '#contracts/values/links/ad-destination.ts';
import { domainsOf } from '#domain/corpus/ad-library/attribution/brand-at.ts';
import type { AdState } from '#domain/corpus/ad-library/state.ts';
import { isBlank } from '#domain/corpus/ad-library/ad-content.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** To which brand an ad belongs by what is known now (rule 10). */

/** Holds what attribution depends on. */
export type AdPlace = {
  /** The newest destination that is not blank. */
  readonly link_url: string | null;
  readonly page_id: string | null;
  /** The brand that the first scan of the ad was made for. */
  readonly scannedFor: string;
};

/**
 * Returns the destination's host as `ingest.ad` stores it, with the labels in reverse order: `com.shop.`. Null when the link
 * names no host.
 */
export const destinationOf = (link: string | null): string | null => {
  const host = link === null || isBlank(link) ? null : destinationHost(link);
  return host === null ? null : `${host.split('.').toReversed().join('.')}.`;
};

/** Destinations of ads, and domains to which they led once, as `ingest.ad` stores them: see `destinationOf` and `formerDomainsOf`. */
export type LedTo = { readonly destinations: readonly string[]; readonly former: readonly string[] };

/** Returns the domains to which ads lead, or led once. */
export const domainsLedTo = (rows: readonly LedTo[]): readonly string[] => {
  const present = (destination: string): readonly string[] =>
    domainsOf(`https://${destination.split('.').slice(0, -1).toReversed().join('.')}/`);
  return [
    ...new Set(rows.flatMap(({ destinations, former }) => [...destinations.flatMap(present), ...former])),
  ];
};

/** Returns the domains to which the ad led by earlier looks, and does not lead now. */
export const formerDomainsOf = ({
  looks,
  content,
}: Pick<AdState, 'looks' | 'content'>): readonly string[] => {
  const links = new Set(looks.flatMap(({ shown }) => shown?.link_url ?? []));
  if (links.size < 2) return [];
  const present = new Set(domainsOf(content.link_url));
  return [...new Set([...links].flatMap(domainsOf))].filter((domain) => !present.has(domain));
};

/**
 * Returns the range of destinations, as `destinationOf` returns them, of a domain and the hosts below it; `null` for a host that
 * many brands share.
 */
export const destinationsUnder = (
  domain: string,
): { readonly from: string; readonly until: string } | null => {
  const from = domainsOf(domain).length === 0 ? null : destinationOf(domain);
  // The character after the dot in the order of bytes ends the range.
  return from === null ? null : { from, until: `${from.slice(0, -1)}/` };
};

/**
 * Returns the brand of each ad, in the order of `ads`: the brand with the longest domain that the destination belongs to,
 * else the brand that the page is linked to with the highest confidence, else the brand of the first scan. Destinations
 * in app stores and on shared hosts identify no brand.
 */
export const brandsOfAds = async (
  database: Database,
  ads: readonly AdPlace[],
): Promise<readonly string[]> => {
  const domains = ads.map(({ link_url }) => domainsOf(link_url));
  const asked = [...new Set(domains.flat())];
  const pageIds = [...new Set(ads.flatMap(({ page_id }) => page_id ?? []))];
  if (asked.length === 0 && pageIds.length === 0) return ads.map(({ scannedFor }) => scannedFor);
  const { rows } = await database.query<{ domain: string | null; page_id: string; brand_id: string }>({
    name: 'ingest_brands_of_ads',
    text: `select domain, null as page_id, brand_id from ingest.brand where domain = any($1::text[])
           union all (
             select distinct on (social_page_id) null, social_page_id, brand_id from ingest.linked_page
             where social_page_id = any($2::text[]) order by social_page_id, confidence desc, brand_id)`,
    values: [asked, pageIds],
  });
  const brandOfDomain = new Map(rows.map(({ domain, brand_id }) => [domain, brand_id]));
  const brandOfPage = new Map(rows.map(({ page_id, brand_id }) => [page_id, brand_id]));
  return ads.map(({ page_id, scannedFor }, index) => {
    const byDestination = domains[index]
      ?.map((domain) => brandOfDomain.get(domain))
      .find((brandId) => brandId !== undefined);
    return byDestination ?? (page_id === null ? undefined : brandOfPage.get(page_id)) ?? scannedFor;
  });
};

/** An ad whose recorded brand is not the one that it belongs to. */
export type Misplaced = {
  readonly ad_id: string;
  readonly from: string;
  readonly to: string;
  /** Order of the ad's last move, which begins with its time; empty for an ad that has not moved. */
  readonly since: string;
};

/** Returns the time of the ad's last move; empty for an ad that has not moved. */
export const movedAtOf = ({ since }: Misplaced): string => since.split('|', 1)[0] ?? '';

/** Holds what a staged scan shows of an ad, as far as attribution depends on it. */
export type Shown = { readonly link_url: string | null; readonly page_id: string | null };

/** An ad with its recorded brand. `since` as in `Misplaced`. */
export type PlacedAd = AdPlace & {
  readonly ad_id: string;
  readonly brand_id: string;
  readonly since: string;
  /** Time since which the ad belongs to its brand, if it belonged to others before. */
  readonly placed_at: string | null;
};

/**
 * Returns what the brands of ads depend on, by what is recorded of them and, where `shown` has the ad, by what a newer scan
 * shows of it. A blank changes nothing (rule 4). They come by id.
 */
export const placedAds = async (
  database: Database,
  adIds: readonly string[],
  shown: ReadonlyMap<string, Shown> = new Map(),
): Promise<readonly PlacedAd[]> => {
  if (adIds.length === 0) return [];
  const { rows } = await database.query<PlacedAd>({
    name: 'ingest_recorded_attribution',
    text: `select a.ad_id, a.brand_id, a.known->'content'->>'link_url' as link_url, a.social_page_id as page_id,
             coalesce(s.scanned_for, a.brand_id) as "scannedFor", o.since,
             a.known->'placings'->-1->>'observed_at' as placed_at
           from ingest.ad a join ingest.ad_owner o using (ad_id, brand_id)
           left join ingest.scan s on s.scan_id = (a.known->'looks'->0->>'scan_id')::uuid
           where a.ad_id = any($1::text[]) order by a.ad_id`,
    values: [adIds],
  });
  return rows.map((row) => {
    const now = shown.get(row.ad_id);
    const link_url = now === undefined || isBlank(now.link_url) ? row.link_url : now.link_url;
    return { ...row, link_url, page_id: now?.page_id ?? row.page_id };
  });
};

/** Returns the ads among these whose brand changes, by id, so that the events of moves have one order. */
export const misplacedAds = async (
  database: Database,
  adIds: readonly string[],
): Promise<readonly Misplaced[]> => {
  const known = await placedAds(database, adIds);
  const brands = await brandsOfAds(database, known);
  return known.flatMap(({ ad_id, brand_id: from, since }, index) => {
    const to = brands[index] ?? from;
    return to === from ? [] : [{ ad_id, from, to, since }];
  });
};
