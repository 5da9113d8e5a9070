import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** The ads of a staged scan, and the brands that own them. */

/** Returns the owners of those ads that belong to a brand, by ad id. */
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

/** Sets the brands of staged ads that have no owner yet. Until then they count for the brand that the scan was made for. */
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

/** A staged chunk as its JSON text, and the ids of those of its ads that are asked for. */
type ChunkRow = { readonly ads: string; readonly own: readonly string[] };

/** Returns the ads of a chunk that are asked for, each once, in the order of the chunk. */
const ownAds = (row: ChunkRow | undefined): readonly ObservedAd[] => {
  if (row === undefined || row.own.length === 0) return [];
  const own = new Set(row.own);
  return (JSON.parse(row.ads) as ObservedAd[]).filter(({ ad_id }) => own.delete(ad_id));
};

/** Returns the ads that were staged with this chunk, of all brands. Ads that another chunk staged first are left out. */
export const adsOfChunk = async (
  database: Database,
  scanId: string,
  chunk: number,
): Promise<readonly ObservedAd[]> => {
  const { rows } = await database.query<ChunkRow>(
    `select ads, array(select ad_id from ingest.staged_ad s where s.scan_id = $1 and s.chunk = $2) as own
     from ingest.staged_chunk where scan_id = $1 and chunk = $2`,
    [scanId, chunk],
  );
  return ownAds(rows[0]);
};

/** Returns the ids of the ads that were staged with this chunk, of all brands. */
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
  const { rows } = await database.query<ChunkRow>(
    `select ads, array(select ad_id from ingest.staged_ad s where scan_id = $1 and brand_id = $2 and chunk = $3
       and not exists (select from ingest.ad_owner o where o.ad_id = s.ad_id and o.brand_id <> s.brand_id)) as own
     from ingest.staged_chunk where scan_id = $1 and chunk = $3`,
    [scanId, brandId, chunk],
  );
  return ownAds(rows[0]);
};

/** Returns the pages on which the staged scan shows ads, of a brand or of all; `NO_PAGE` for ads without a page. */
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
