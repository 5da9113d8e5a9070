import { destinationHost } from '#contracts/values/links/ad-destination.ts';
import { domainsOf } from '#domain/corpus/ad-library/attribution.ts';
import type { AdState } from '#domain/corpus/ad-library/state.ts';
import { isBlank } from '#domain/corpus/ad-library/ad-content.ts';
import type { Database } from '#platform/postgres/pool.ts';

export type AdPlace = {
  /** The newest destination that is not blank. */
  readonly link_url: string | null;
  readonly page_id: string | null;
  readonly scannedFor: string;
};

/** Host with reversed labels: `com.shop.`. `null` when the link names none. */
export const destinationOf = (link: string | null): string | null => {
  const host = link === null || isBlank(link) ? null : destinationHost(link);
  return host === null ? null : `${host.split('.').toReversed().join('.')}.`;
};

/** See `destinationOf` and `formerDomainsOf`. */
export type LedTo = { readonly destinations: readonly string[]; readonly former: readonly string[] };

/** Includes domains to which the ads once led. */
export const domainsLedTo = (rows: readonly LedTo[]): readonly string[] => {
  const present = (destination: string): readonly string[] =>
    domainsOf(`https://${destination.split('.').slice(0, -1).toReversed().join('.')}/`);
  return [
    ...new Set(rows.flatMap(({ destinations, former }) => [...destinations.flatMap(present), ...former])),
  ];
};

/** Domains of earlier looks only. */
export const formerDomainsOf = ({
  looks,
  content,
}: Pick<AdState, 'looks' | 'content'>): readonly string[] => {
  const links = new Set(looks.flatMap(({ shown }) => shown?.link_url ?? []));
  if (links.size < 2) return [];
  const present = new Set(domainsOf(content.link_url));
  return [...new Set([...links].flatMap(domainsOf))].filter((domain) => !present.has(domain));
};

/** Range of `destinationOf` values of a domain and hosts below it; `null` for a host that many brands share. */
export const destinationsUnder = (
  domain: string,
): { readonly from: string; readonly until: string } | null => {
  const from = domainsOf(domain).length === 0 ? null : destinationOf(domain);
  // The byte after the dot ends the range.
  return from === null ? null : { from, until: `${from.slice(0, -1)}/` };
};

/**
 * Precedence: longest domain of the destination, linked page with the highest confidence, first scan. App stores and
 * shared hosts identify no brand.
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

export type Misplaced = {
  readonly ad_id: string;
  readonly from: string;
  readonly to: string;
  /** Begins with the time of the ad's last move; empty without one. */
  readonly since: string;
};

/** Empty for an ad that has not moved. */
export const movedAtOf = ({ since }: Misplaced): string => since.split('|', 1)[0] ?? '';

/** Facts of a shown ad that decide its brand. */
export type Shown = { readonly link_url: string | null; readonly page_id: string | null };

export type PlacedAd = AdPlace & {
  readonly ad_id: string;
  readonly brand_id: string;
  readonly since: string;
  /** Time since which the ad belongs to its brand, if it had others. */
  readonly placed_at: string | null;
};

/** Ordered by id. `shown` replaces recorded values, but a blank changes nothing (rule 4). */
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

/** Ordered by id, so that the events of moves have one order. */
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
