import { hash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { chunk as groupsOf } from 'es-toolkit/array/chunk';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { mediaKey } from '#domain/corpus/ad-library/ad-content.ts';
import { NO_PAGE } from '#domain/corpus/ad-library/state.ts';
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
     where s.scan_id = $1 and s.ad_id = i.ad_id`,
    [scanId, [...ads.keys()], [...ads.values()]],
  );
};

/** 132 bits in base64. */
const DIGEST_CHARACTERS = 22;
const COVERAGE_CHARACTERS = 8;
const LINES_PER_AD = 2;

/** UTF-8, item by item: the whole as a string would be a large object of V8, which costs six times as much CPU time. */
export const joinAsBytes = (items: readonly string[], separator: string): Buffer =>
  Buffer.concat(items.map((item, index) => Buffer.from(index === 0 ? item : separator + item)));

/** `bytes`: a line with the ids, then for each ad its fields and its media, each in a line. */
export const packAds = (
  ads: readonly ObservedAd[],
): { readonly bytes: Buffer; readonly digests: readonly (string | null)[] } => {
  const lines = [JSON.stringify(ads.map(({ ad_id }) => ad_id))];
  const digests = ads.map(({ media, ...ad }) => {
    const fields = JSON.stringify(ad);
    lines.push(fields, JSON.stringify(media));
    // Such an ad ends with time (rule 7).
    if (ad.is_active === null && ad.stopped_on !== null) return null;
    return hash('sha256', `${fields} ${mediaKey(media)}`, 'base64url').slice(0, DIGEST_CHARACTERS);
  });
  return { bytes: joinAsBytes(lines, '\n'), digests };
};

const LINE_END = 10;

const unpackAds = (ads: Buffer, isWanted: (adId: string) => boolean): readonly ObservedAd[] => {
  const text = zstdDecompressSync(ads);
  let end = -1;
  const skipLine = (): number => {
    const start = end + 1;
    const next = text.indexOf(LINE_END, start);
    end = next === -1 ? text.length : next;
    return start;
  };
  const readLine = (): unknown => JSON.parse(text.toString('utf8', skipLine(), end));
  const found: ObservedAd[] = [];
  for (const adId of readLine() as readonly string[]) {
    if (isWanted(adId))
      found.push({ ...(readLine() as ObservedAd), media: readLine() as ObservedAd['media'] });
    else for (let line = 0; line < LINES_PER_AD; line += 1) skipLine();
  }
  return found;
};

/** Raise it when rules 4 to 6 change, so that ads which are shown as before are compared by the new ones. */
const RULES_VERSION = 1;

/** Names the countries that a scan covers. With the digest of an ad it tells how the ad was shown. */
export const coverageKey = (countries: readonly string[]): string => {
  const covered = JSON.stringify([RULES_VERSION, [...new Set(countries)].toSorted()]);
  return hash('sha256', covered, 'base64url').slice(0, COVERAGE_CHARACTERS);
};

/**
 * Selects ads of staged chunks; each ad belongs to the first chunk that has an entry of it. `brandId` leaves out ads that
 * moved to another brand since they were claimed, because the former brand would start them again. `unless` leaves out
 * ads that a scan of the same coverage showed like this and no event has changed since, if recorded on one of `pageIds`.
 */
export type Selection = {
  readonly scanId: string;
  readonly chunks: readonly number[];
  readonly brandId?: string;
  readonly unless?: { readonly shownIn: string; readonly pageIds?: readonly string[] } | null | undefined;
};

/** Chunks whose ads are selected by one statement, and whose texts are in memory at once. */
const CHUNKS_AT_ONCE = 40;
/** A slice has the ads of whole chunks, so it may have more. */
const SLICE_ADS = 250;

const selectSql = ({ scanId, brandId, unless }: Selection, chunks: readonly number[]) => ({
  text: `select chunk, json_agg(json_build_array(ad_id, brand_id, digest, more_chunks)) as own,
      (select c.ads from ingest.staged_chunk c where c.scan_id = $1 and c.chunk = s.chunk) as ads from (
    select s.* from ingest.staged_ad s where s.scan_id = $1 and s.chunk = any($2::int[])
    and ${brandId === undefined ? '$3::uuid is null' : 's.brand_id = $3'}
    and ${
      unless
        ? `not exists (select from ingest.ad a where a.ad_id = s.ad_id ${brandId === undefined ? '' : 'and a.brand_id = $3'}
             and a.shown = s.digest || $4 and ($5::text[] is null or a.social_page_id = any($5)))`
        : '$4::text is null and $5::text[] is null'
    } offset 0) s
    ${brandId === undefined ? '' : 'where coalesce((select o.brand_id from ingest.ad_owner o where o.ad_id = s.ad_id), $3) = $3'}
    group by chunk order by chunk`,
  values: [scanId, chunks, brandId ?? null, unless?.shownIn ?? null, unless?.pageIds ?? null],
});

type Selected = {
  readonly chunk: number;
  /** `null` when another process has recorded the scan meanwhile. */
  readonly ads: Buffer | null;
  readonly own: readonly (readonly [
    adId: string,
    brandId: string,
    digest: string | null,
    moreChunks: readonly number[] | null,
  ])[];
};

export type StagedAds = {
  /** Each ad merged from all its entries in the scan (rule 8). */
  readonly ads: readonly ObservedAd[];
  /** As staged: the brand, until the ad is claimed, and the digest. */
  readonly rows: ReadonlyMap<string, { readonly brandId: string; readonly digest: string | null }>;
};

/** Parses the selected ads only. Further chunks have entries of the same ads. */
const readSlice = async (
  database: Database,
  scanId: string,
  selected: readonly Selected[],
): Promise<StagedAds> => {
  const own = selected.flatMap((row) => row.own);
  const rows = new Map(own.map(([adId, brandId, digest]) => [adId, { brandId, digest }]));
  const chunks = selected.map(({ chunk }) => chunk);
  const further = new Set(own.flatMap(([, , , moreChunks]) => moreChunks ?? [])).difference(new Set(chunks));
  const entries = new Map<string, [ObservedAd, ...ObservedAd[]]>();
  const addEntries = ({ ads }: { readonly ads: Buffer | null }): void => {
    if (ads === null) return;
    for (const ad of unpackAds(ads, (adId) => rows.has(adId))) {
      const others = entries.get(ad.ad_id);
      if (others === undefined) entries.set(ad.ad_id, [ad]);
      else others.push(ad);
    }
  };
  for (const chunk of selected) addEntries(chunk);
  for (const chunk of [...further].toSorted((a, b) => a - b)) {
    const texts = await database.query<{ ads: Buffer | null }>({
      name: 'ingest_staged_text',
      text: 'select ads from ingest.staged_chunk where scan_id = $1 and chunk = $2',
      values: [scanId, chunk],
    });
    for (const text of texts.rows) addEntries(text);
  }
  return { ads: [...entries.values()].map(mergeEntries), rows };
};

/** Slices of the selected ads in the order of their chunks. */
export const stagedAds = async function* (
  database: Database,
  selection: Selection,
): AsyncGenerator<StagedAds> {
  for (const chunks of groupsOf(selection.chunks, CHUNKS_AT_ONCE)) {
    const { text, values } = selectSql(selection, chunks);
    const { rows } = await database.query<Selected>(text, values);
    let slice: Selected[] = [];
    let ads = 0;
    for (const row of rows) {
      slice.push(row);
      ads += row.own.length;
      if (ads < SLICE_ADS) continue;
      yield await readSlice(database, selection.scanId, slice);
      slice = [];
      ads = 0;
    }
    if (ads > 0) yield await readSlice(database, selection.scanId, slice);
  }
};

export const stagedAdIds = async (
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
