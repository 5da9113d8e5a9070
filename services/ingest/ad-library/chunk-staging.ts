import { hash } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';
import type { AdLibraryScanChunk } from '#contracts/observations/ad-library-scan.ts';
import { Refusal } from '#contracts/errors.ts';
import { domainsOf } from '#domain/corpus/ad-library/attribution.ts';
import { brandIdOf } from '#domain/ids.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { domainsLedTo, type LedTo } from '../attribution/brand-of-ad.ts';
import { packAds } from './staged-ads.ts';

const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const REFUSALS = {
  otherContent: (chunk: number, scanId: string) =>
    `Chunk ${chunk} of the scan ${scanId} was submitted before with other content.`,
  afterEnd: (chunk: number, scanId: string) =>
    `Chunk ${chunk} of the scan ${scanId} arrived after the scan was recorded without it.`,
} as const;

/** Parts of scan `$1` for another brand than `brandId`. */
const partsOfAnotherBrandSql = (brandId: string): string => `
  select from ingest.staged_chunk where scan_id = $1 and brand_id <> ${brandId}
  union all select from ingest.scan where scan_id = $1 and scanned_for <> ${brandId}`;

const anotherBrand = (scanId: string): Refusal =>
  new Refusal(
    'invalid_input',
    `The scan ${scanId} was submitted before for another \`brand_domain\`. Use a new \`scan_id\` for each scan.`,
  );

// A chunk without a row was not part of its recorded scan. Without any rows, all of its chunks are skipped.
const STAGE_CHUNK = `
  with recorded as (
    select from ingest.recorded_scan where scan_id = $1 and brand_id = $4
  ), another_brand as (${partsOfAnotherBrandSql('$4')}
  ), first as (
    insert into ingest.staged_chunk as c (scan_id, chunk, ads, brand_id, digest, domains)
    select $1, $2, $3, $4, $8, $9 where not exists (select from recorded) and not exists (select from another_brand)
    on conflict (scan_id, chunk) do update set digest = c.digest returning digest, xmax = 0 as is_new
  ), staged_ads as (
    insert into ingest.staged_ad as s (scan_id, ad_id, chunk, brand_id, social_page_id, digest)
    select $1, i.ad_id, $2, $4, min(i.social_page_id collate "C"), case count(*) when 1 then min(i.digest) end
    from unnest($5::text[], $6::text[], $7::text[]) as i(ad_id, social_page_id, digest)
    where exists (select from first where is_new) group by i.ad_id order by i.ad_id
    on conflict (scan_id, ad_id) do update set chunk = least(s.chunk, excluded.chunk),
      more_chunks = array_append(s.more_chunks, greatest(s.chunk, excluded.chunk)), digest = null,
      social_page_id = least(s.social_page_id collate "C", excluded.social_page_id collate "C")
  )
  select coalesce((select digest from first),
      (select digest from ingest.staged_chunk where scan_id = $1 and chunk = $2)) as digest,
    exists (select from recorded) and exists (select from ingest.staged_chunk where scan_id = $1) as is_closed,
    exists (select from another_brand) as is_of_another_brand`;

/** A chunk as it is stored. */
export type PackedChunk = {
  readonly ads: Buffer;
  readonly digest: string;
  readonly digests: readonly (string | null)[];
  readonly domains: readonly string[];
};

export const packChunk = ({ ads }: AdLibraryScanChunk): PackedChunk => {
  const { bytes, digests } = packAds(ads);
  return {
    ads: zstdCompressSync(bytes, FAST),
    digest: hash('sha256', bytes, 'hex'),
    digests,
    domains: [...new Set(ads.flatMap(({ link_url }) => domainsOf(link_url)))],
  };
};

/**
 * Idempotent, also after the scan was recorded. Throws `Refusal` for a known chunk with other content or brand, or one
 * that its recorded scan lacks (rule 8). After `STAGED_DAYS_MAX` days it is skipped instead.
 */
export const stageChunk = async (
  database: Database,
  chunk: AdLibraryScanChunk,
  { ads: packed, digest, digests, domains }: PackedChunk,
): Promise<void> => {
  const { scan_id, ads } = chunk;
  const scannedFor = brandIdOf(chunk.brand_domain);
  const { rows } = await database.query<{
    digest: string | null;
    is_closed: boolean;
    is_of_another_brand: boolean;
  }>({
    name: 'ingest_stage_chunk',
    text: STAGE_CHUNK,
    values: [
      scan_id,
      chunk.chunk,
      packed,
      scannedFor,
      ads.map(({ ad_id }) => ad_id),
      ads.map(({ page_id }) => page_id),
      digests,
      digest,
      domains,
    ],
  });
  const first = rows[0];
  if (first?.is_of_another_brand) throw anotherBrand(scan_id);
  if (first?.digest === digest || (first?.digest === null && !first.is_closed)) return;
  const reason = first?.digest === null ? REFUSALS.afterEnd : REFUSALS.otherContent;
  throw new Refusal('invalid_input', `${reason(chunk.chunk, scan_id)} Use a new \`scan_id\` for each scan.`);
};

/**
 * Moves claimed ads to their owner. Inserts in the order of ids, so that concurrent scans cannot deadlock. Another scan may
 * claim an ad meanwhile; then its owner is found the next time.
 */
export const claimStagedAds = async (database: Database, scanId: string): Promise<void> => {
  const { rows } = await database.query<{ lost: boolean }>(
    `with misplaced as materialized (
       select s.ad_id, s.brand_id, o.brand_id as owner
       from ingest.staged_ad s left join ingest.ad_owner o on o.ad_id = s.ad_id
       where s.scan_id = $1 and o.brand_id is distinct from s.brand_id
     ), claimed as (
       insert into ingest.ad_owner (ad_id, brand_id) select ad_id, brand_id from misplaced where owner is null
       order by ad_id on conflict do nothing returning ad_id
     ), moved as (
       update ingest.staged_ad s set brand_id = m.owner from misplaced m
       where s.scan_id = $1 and s.ad_id = m.ad_id and m.owner is not null
     )
     select (select count(*) from misplaced where owner is null) > (select count(*) from claimed) as lost`,
    [scanId],
  );
  if (rows[0]?.lost) await claimStagedAds(database, scanId);
};

export type StagedScan = {
  readonly chunks: readonly number[];
  /** `NO_PAGE` stands for ads without a page. */
  readonly shownPages: readonly string[];
  readonly shownDomains: readonly string[];
  readonly recordedFor: readonly string[];
  /**
   * Pages of recorded ads where the scan shows another or none: a later scan of such a page makes this scan late for the
   * ad.
   */
  readonly knownPages: readonly string[];
  /** To which recorded ads of the scan lead, or once led. */
  readonly knownDomains: readonly string[];
};

/**
 * One statement, because another process that records the scan deletes its ads. Throws `Refusal` for parts of one scan
 * for two brands.
 */
export const stagedScan = async (
  database: Database,
  scanId: string,
  scannedFor: string,
): Promise<StagedScan> => {
  const { rows } = await database.query<
    Omit<StagedScan, 'knownDomains'> & LedTo & { readonly isOfAnotherBrand: boolean }
  >(
    `with known as materialized (
       select s.social_page_id as shown_page, a.social_page_id, a.destination, a.former_domains
       from ingest.staged_ad s join ingest.ad a using (ad_id) where s.scan_id = $1
     )
     select array(select chunk from ingest.staged_chunk where scan_id = $1 and ads is not null order by chunk) as chunks,
       array(select distinct coalesce(social_page_id, '${NO_PAGE}') from ingest.staged_ad
         where scan_id = $1 order by 1) as "shownPages",
       array(select distinct unnest(domains) from ingest.staged_chunk where scan_id = $1 and ads is not null) as "shownDomains",
       array(select brand_id::text from ingest.recorded_scan where scan_id = $1 order by brand_id) as "recordedFor",
       array(select distinct social_page_id from known
         where social_page_id is not null and shown_page is distinct from social_page_id order by 1) as "knownPages",
       array(select distinct destination from known where destination is not null) as destinations,
       array(select distinct unnest(former_domains) from known) as former,
       exists (${partsOfAnotherBrandSql('$2')}) as "isOfAnotherBrand"`,
    [scanId, scannedFor],
  );
  const [staged] = rows;
  if (staged === undefined) throw new Error('a statement without `from` returns one row');
  if (staged.isOfAnotherBrand) throw anotherBrand(scanId);
  return { ...staged, knownDomains: domainsLedTo(rows) };
};

/** Slices of ids: live ads, and ads shown as ended, on covered pages that did not show them now. */
export const absentAdIds = async function* (
  database: Database,
  scanId: string,
  brandId: string,
  pageIds: readonly string[],
): AsyncGenerator<readonly string[]> {
  const SLICE_ADS = 2_000;
  for (let after = ''; ; ) {
    const { rows } = await database.query<{ ad_id: string }>(
      `select ad_id from ingest.ad a
       where brand_id = $1 and (live or shown_ended) and social_page_id = any($2::text[]) and ad_id > $4
         and not exists (select from ingest.staged_ad s where s.scan_id = $3 and s.ad_id = a.ad_id)
       order by ad_id limit ${SLICE_ADS}`,
      [brandId, pageIds, scanId, after],
    );
    if (rows.length > 0) yield rows.map(({ ad_id }) => ad_id);
    if (rows.length < SLICE_ADS) return;
    after = rows.at(-1)?.ad_id ?? after;
  }
};

/** Pages of live ads that were also observed outside `countries`. */
export const pagesWithAdsElsewhere = async (
  database: Database,
  brandId: string,
  pageIds: readonly string[],
  countries: readonly string[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await database.query<{ social_page_id: string }>(
    `select distinct social_page_id from ingest.ad
     where brand_id = $1 and live and social_page_id = any($2::text[]) and not pair_countries <@ $3::text[] order by 1`,
    [brandId, pageIds, countries],
  );
  return new Set(rows.map(({ social_page_id }) => social_page_id));
};

/** Brands with ads on the pages, which may be absent, and brands linked to them, whose day may become reliable. */
export const brandsOfPages = async (
  database: Database,
  pageIds: readonly string[],
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ brand_id: string }>(
    `select brand_id from ingest.ad where social_page_id = any($1::text[])
     union select brand_id from ingest.page_link where social_page_id = any($1::text[]) and linked order by brand_id`,
    [pageIds],
  );
  return rows.map(({ brand_id }) => brand_id);
};

export const hasLiveAds = async (
  database: Database,
  brandId: string,
  pageIds: readonly string[],
): Promise<boolean> => {
  const { rows } = await database.query(
    'select from ingest.ad where brand_id = $1 and live and social_page_id = any($2::text[]) limit 1',
    [brandId, pageIds],
  );
  return rows.length > 0;
};

/** Pages with ads of the brand, now or before, recorded or staged, and pages ever linked to it. */
export const pagesConcerning = async (
  database: Database,
  scanId: string,
  brandId: string,
  pageIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await database.query<{ social_page_id: string }>(
    `select social_page_id from ingest.ad where brand_id = $1 and social_page_id = any($2::text[])
     union select social_page_id from ingest.page_link where brand_id = $1 and social_page_id = any($2::text[]) and linked
     union select social_page_id from (
       -- With OFFSET the planner finds these few ads by their own index, not by the pages, which may have many.
       select social_page_id from ingest.ad where known->'brands' @> to_jsonb($1::text) offset 0
     ) shared where social_page_id = any($2::text[])
     union select social_page_id from ingest.staged_ad where scan_id = $3 and brand_id = $1 and social_page_id = any($2::text[])`,
    [brandId, pageIds, scanId],
  );
  return new Set(rows.map(({ social_page_id }) => social_page_id));
};

/** Keeps the digests. */
export const deleteStagedScan = async (database: Database, scanId: string): Promise<void> => {
  await database.query(
    `with ads as (delete from ingest.staged_ad where scan_id = $1)
     update ingest.staged_chunk set ads = null, domains = '{}' where scan_id = $1`,
    [scanId],
  );
};

export const pagesOfBrand = async (database: Database, brandId: string): Promise<readonly string[]> => {
  const { rows } = await database.query<{ social_page_id: string }>(
    'select distinct social_page_id from ingest.ad where brand_id = $1 and social_page_id is not null order by 1',
    [brandId],
  );
  return rows.map(({ social_page_id }) => social_page_id);
};
