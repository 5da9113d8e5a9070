import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** The ads of a staged scan, and the brands that own them. */

/** Returns the owners of those ads that belong to a brand, by ad id. */
export const ownersOf = async (
  database: Database,
  adIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await database.query<{ ad_id: string; brand_id: string }>({
    name: 'ingest_owners',
    text: 'select ad_id, brand_id from ingest.ad_owner where ad_id = any($1::text[])',
    values: [adIds],
  });
  return new Map(rows.map(({ ad_id, brand_id }) => [ad_id, brand_id]));
};

/** Sets the brands of staged ads that have no owner yet: links and domains may be known since their chunk was staged. */
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

/** Returns the ads that were staged with this chunk, of all brands. Ads that another chunk staged first are left out. */
export const adsOfChunk = async (
  database: Database,
  scanId: string,
  chunk: number,
): Promise<readonly ObservedAd[]> => {
  const { rows } = await database.query<{ ads: string; own: readonly string[] }>(
    `select ads, array(select ad_id from ingest.staged_ad s where s.scan_id = $1 and s.chunk = $2) as own
     from ingest.staged_chunk where scan_id = $1 and chunk = $2`,
    [scanId, chunk],
  );
  const own = new Set(rows[0]?.own);
  return (JSON.parse(rows[0]?.ads ?? '[]') as ObservedAd[]).filter(({ ad_id }) => own.delete(ad_id));
};

/**
 * Returns the brand's ads that were staged with this chunk. Ads that another chunk staged first are left out, and so are
 * ads that moved to another brand since they were claimed: the former brand would start them again.
 */
export const stagedAds = async (
  database: Database,
  scanId: string,
  chunk: number,
  brandId: string,
): Promise<readonly ObservedAd[]> => {
  const [ads, own] = await Promise.all([
    database.query<{ ads: string }>('select ads from ingest.staged_chunk where scan_id = $1 and chunk = $2', [
      scanId,
      chunk,
    ]),
    database.query<{ ad_id: string }>(
      `select ad_id from ingest.staged_ad s where scan_id = $1 and brand_id = $2 and chunk = $3
         and not exists (select from ingest.ad_owner o where o.ad_id = s.ad_id and o.brand_id <> s.brand_id)`,
      [scanId, brandId, chunk],
    ),
  ]);
  const ownIds = new Set(own.rows.map(({ ad_id }) => ad_id));
  const seen = new Set<string>();
  return (JSON.parse(ads.rows[0]?.ads ?? '[]') as ObservedAd[]).filter(({ ad_id }) => {
    if (!ownIds.has(ad_id) || seen.has(ad_id)) return false;
    seen.add(ad_id);
    return true;
  });
};

/** Returns the pages on which the staged scan shows ads, of a brand or of all; `NO_PAGE` for ads without a page. */
export const pagesOfStagedAds = async (
  database: Database,
  scanId: string,
  brandId: string | null,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ social_page_id: string }>(
    `select distinct coalesce(social_page_id, '${NO_PAGE}') as social_page_id from ingest.staged_ad
     where scan_id = $1 and ($2::uuid is null or brand_id = $2)`,
    [scanId, brandId],
  );
  return rows.map(({ social_page_id }) => social_page_id);
};

/** Returns the number of the scan's ads per brand id. */
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
