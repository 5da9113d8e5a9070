import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import { domainsLedTo, type LedTo } from '../attribution/brand-of-ad.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { mergeEntries } from './merge-ads.ts';

export const ownersOf = async (
  database: Database,
  adIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (adIds.length === 0) return new Map();
  const { rows } = await database.query<{ ad_id: string; brand_id: string }>({
    name: 'ingest_owners',
    text: 'select ad_id, brand_id from ingest.ad_owner where ad_id = any($1::text[])',
    values: [adIds],
  });
  return new Map(rows.map(({ ad_id, brand_id }) => [ad_id, brand_id]));
};

/** Until then, an ad counts for the brand of the scan. */
export const attributeStagedAds = async (
  database: Database,
  scanId: string,
  ads: ReadonlyMap<string, string>,
): Promise<void> => {
  if (ads.size === 0) return;
  await database.query(
    `update ingest.staged_ad s set brand_id = i.brand_id
     from unnest($2::text[], $3::uuid[]) as i(ad_id, brand_id)
     where s.scan_id = $1 and s.ad_id = i.ad_id and s.brand_id <> i.brand_id`,
    [scanId, [...ads.keys()], [...ads.values()]],
  );
};

type ChunkRow = { readonly ads: string; readonly own: readonly string[]; readonly more: readonly number[] };

const ownSql = (where: string): string => `
  array(select ad_id from ingest.staged_ad s where ${where}) as own,
  array(select distinct unnest(s.more_chunks) from ingest.staged_ad s where ${where} order by 1) as more`;

/** Each ad merged from all its entries in the scan (rule 8). */
const ownAds = async (
  database: Database,
  scanId: string,
  row: ChunkRow | undefined,
): Promise<readonly ObservedAd[]> => {
  if (row === undefined || row.own.length === 0) return [];
  const own = new Set(row.own);
  const entries = new Map<string, [ObservedAd, ...ObservedAd[]]>();
  const collect = (ads: string): void => {
    for (const ad of JSON.parse(ads) as readonly ObservedAd[]) {
      if (!own.has(ad.ad_id)) continue;
      const others = entries.get(ad.ad_id);
      if (others === undefined) entries.set(ad.ad_id, [ad]);
      else others.push(ad);
    }
  };
  collect(row.ads);
  for (const chunk of row.more) {
    const { rows } = await database.query<{ ads: string }>({
      name: 'ingest_further_entries',
      text: 'select ads from ingest.staged_chunk where scan_id = $1 and chunk = $2',
      values: [scanId, chunk],
    });
    if (rows[0]) collect(rows[0].ads);
  }
  return [...entries.values()].map(mergeEntries);
};

/** Each ad belongs to the first chunk that has an entry of it. */
export const adsOfChunk = async (
  database: Database,
  scanId: string,
  chunk: number,
): Promise<readonly ObservedAd[]> => {
  const { rows } = await database.query<ChunkRow>(
    `select ads, ${ownSql('s.scan_id = $1 and s.chunk = $2')}
     from ingest.staged_chunk where scan_id = $1 and chunk = $2`,
    [scanId, chunk],
  );
  return await ownAds(database, scanId, rows[0]);
};

export const adIdsOfChunk = async (
  database: Database,
  scanId: string,
  chunk: number,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ ad_id: string }>(
    'select ad_id from ingest.staged_ad where scan_id = $1 and chunk = $2 order by ad_id',
    [scanId, chunk],
  );
  return rows.map(({ ad_id }) => ad_id);
};

/** Leaves out ads that moved to another brand since they were claimed: the former brand would start them again. */
export const stagedAds = async (
  database: Database,
  scanId: string,
  chunk: number,
  brandId: string,
): Promise<readonly ObservedAd[]> => {
  const { rows } = await database.query<ChunkRow>(
    `select ads, ${ownSql(`s.scan_id = $1 and s.brand_id = $2 and s.chunk = $3
       and not exists (select from ingest.ad_owner o where o.ad_id = s.ad_id and o.brand_id <> s.brand_id)`)}
     from ingest.staged_chunk where scan_id = $1 and chunk = $3`,
    [scanId, brandId, chunk],
  );
  return await ownAds(database, scanId, rows[0]);
};

/** `NO_PAGE` stands for ads without a page. */
export const pagesOfStagedAds = async (
  database: Database,
  scanId: string,
  brandId: string | null,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ social_page_id: string }>(
    `select distinct coalesce(social_page_id, '${NO_PAGE}') as social_page_id from ingest.staged_ad
     where scan_id = $1 and ($2::uuid is null or brand_id = $2) order by 1`,
    [scanId, brandId],
  );
  return rows.map(({ social_page_id }) => social_page_id);
};

/** Known pages where the scan shows another or none: a later scan of such a page makes this scan late for the ad. */
export const knownPagesOfStagedAds = async (
  database: Database,
  scanId: string,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ social_page_id: string }>(
    `select distinct a.social_page_id
     from ingest.staged_ad s join ingest.ad_owner o using (ad_id) join ingest.ad a on a.ad_id = o.ad_id and a.brand_id = o.brand_id
     where s.scan_id = $1 and a.social_page_id is not null and s.social_page_id is distinct from a.social_page_id
     order by 1`,
    [scanId],
  );
  return rows.map(({ social_page_id }) => social_page_id);
};

/** Domains to which recorded ads of the scan lead, or once led. */
export const knownDomainsOfStagedAds = async (
  database: Database,
  scanId: string,
): Promise<readonly string[]> => {
  const { rows } = await database.query<LedTo>(
    `with known as (
       select a.destination, a.former_domains
       from ingest.staged_ad s join ingest.ad_owner o using (ad_id) join ingest.ad a on a.ad_id = o.ad_id and a.brand_id = o.brand_id
       where s.scan_id = $1
     )
     select array(select distinct destination from known where destination is not null) as destinations,
       array(select distinct unnest(former_domains) from known) as former`,
    [scanId],
  );
  return domainsLedTo(rows);
};

export const stagedBrands = async (
  database: Database,
  scanId: string,
): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await database.query<{ brand_id: string; ads: number }>(
    'select brand_id, count(*)::int as ads from ingest.staged_ad where scan_id = $1 group by brand_id order by brand_id',
    [scanId],
  );
  return new Map(rows.map(({ brand_id, ads }) => [brand_id, ads]));
};
