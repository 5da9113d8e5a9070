import { NO_SCAN, domainsOf } from '#domain/corpus/ad-library/attribution.ts';
import { derivedId } from '#domain/ids.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type Fragment, raw, sql, textAndValues } from '#projections/sql/sql-tag.ts';
import { latenessForAny } from '../ad-library/late/lateness.ts';
import type { BrandLocks } from '../intake/brand-locks.ts';
import { destinationsUnder, domainsLedTo, type LedTo } from './brand-of-ad.ts';
import { knownBrands } from './known-brands.ts';

/**
 * Links and registrations that arrive after later scans (rules 10, 11). Noted before the append and forgotten once
 * decided, so that an interruption is found when the observation comes again.
 */

/** A link, or an observation that registers a brand's domain. */
export type LateCause = {
  readonly brandId: string;
  readonly observedAt: string;
  readonly about:
    | {
        readonly pageId: string;
        readonly linked: boolean;
        readonly confidence: number;
        readonly registers: string | null;
      }
    | { readonly domain: string };
};

/** `registeredBefore`: when a profile or link had registered the brand. */
export type NotedCause = LateCause & { readonly id: string; readonly registeredBefore: string | null };

export const causeIdOf = ({ brandId, observedAt, about }: LateCause): string =>
  derivedId('late cause', `${'pageId' in about ? about.pageId : about.domain}|${brandId}|${observedAt}`);

/** A condition on `ingest.ad`; `null` when the observation concerns no ad. */
const adsOfCause = ({ about }: LateCause): Fragment | null => {
  const domain = 'pageId' in about ? about.registers : about.domain;
  const under = domain === null ? null : destinationsUnder(domain);
  const conditions = [
    'pageId' in about && sql.fragment`social_page_id = ${about.pageId}`,
    under !== null && sql.fragment`(destination >= ${under.from} and destination < ${under.until})`,
    under !== null && sql.fragment`former_domains @> array[${domain}::text]`,
  ].filter((one) => one !== false);
  return conditions.length === 0 ? null : sql.fragment`(${sql.or(conditions)})`;
};

/**
 * Owners first, then former owners, brands of the page's links and of first scans. A link concerns its own brand also
 * without ads: scans may have looked at it.
 */
export const brandsOfCause = async (database: Database, cause: LateCause): Promise<readonly string[]> => {
  const ads = adsOfCause(cause);
  if (ads === null) return [];
  const statement = sql.unsafe`
     with found as (
       select brand_id, known->'brands' as brands, social_page_id, known->'looks'->0->>'scan_id' as first_scan
       from ingest.ad where ${ads}
     )
     select brand_id from (
       select brand_id::text, 0 as rank from found
       union all select jsonb_array_elements_text(brands), 1 from found where brands is not null
       union all select l.brand_id::text, 1 from ingest.page_link l
         where linked and social_page_id in (select social_page_id from found)
       union all select s.scanned_for::text, 1 from ingest.scan s
         where s.scan_id in (select first_scan::uuid from found)
       union all select ${cause.brandId}::text, 1 where ${'pageId' in cause.about} or exists (select from found)
     ) b group by brand_id order by min(rank), brand_id`;
  const { rows } = await database.query<{ brand_id: string }>(...textAndValues(statement));
  return rows.map(({ brand_id }) => brand_id);
};

const isLinkKnown = async (
  database: Database,
  { brandId, observedAt }: LateCause,
  {
    pageId,
    linked,
    confidence,
  }: { readonly pageId: string; readonly linked: boolean; readonly confidence: number },
): Promise<boolean> => {
  const { rows } = await database.query<{ linked: boolean; confidence: number }>({
    name: 'ingest_link_at',
    text: `select linked, coalesce(confidence, 0) as confidence from ingest.page_link
           where social_page_id = $1 and brand_id = $2 and observed_at <= $3 order by observed_at desc limit 1`,
    values: [pageId, brandId, observedAt],
  });
  const before = rows[0];
  if (!linked) return before?.linked !== true;
  return before?.linked === true && before.confidence === confidence;
};

const isRegistered = async (database: Database, domain: string, time: string): Promise<boolean> => {
  const deciding = { scan_id: NO_SCAN, observed_at: time, scannedFor: null };
  const { after: known } = await knownBrands(database, [], [domain], deciding);
  const since = known.registrations.get(domain);
  return since !== undefined && since.observed_at <= time;
};

/** `null` when nothing was unknown at its time. */
const newsOf = async (database: Database, cause: LateCause): Promise<LateCause | null> => {
  const { observedAt, about } = cause;
  if (!('pageId' in about)) return (await isRegistered(database, about.domain, observedAt)) ? null : cause;
  const { registers } = about;
  if (registers !== null && !(await isRegistered(database, registers, observedAt))) return cause;
  return (await isLinkKnown(database, cause, about))
    ? null
    : { ...cause, about: { ...about, registers: null } };
};

/** Notes it if later scans of its ads exist. Call before the append. */
export const noteIfLate = async (database: Database, observed: LateCause): Promise<void> => {
  const cause = await newsOf(database, observed);
  if (cause === null) return;
  const brands = await brandsOfCause(database, cause);
  if (brands.length === 0) return;
  const moment = { scan_id: NO_SCAN, scanned_at: cause.observedAt };
  const pageIds = 'pageId' in cause.about ? [cause.about.pageId] : [];
  if ((await latenessForAny(database, brands, moment, pageIds)) !== 'late') return;
  await database.query(
    `insert into ingest.late_cause (cause_id, registered_before)
     values ($1, (select registered_at from ingest.brand where brand_id = $2)) on conflict (cause_id) do nothing`,
    [causeIdOf(cause), cause.brandId],
  );
};

export const notedCause = async (database: Database, cause: LateCause): Promise<NotedCause | null> => {
  const id = causeIdOf(cause);
  const { rows } = await database.query<{ registered_before: string | null }>({
    name: 'ingest_noted_cause',
    text: 'select registered_before from ingest.late_cause where cause_id = $1',
    values: [id],
  });
  if (!rows[0]) return null;
  const { registered_before: registeredBefore } = rows[0];
  const { about, observedAt } = cause;
  const wasRegistered = registeredBefore !== null && registeredBefore <= observedAt;
  const decided = wasRegistered && 'pageId' in about ? { ...about, registers: null } : about;
  return { ...cause, about: decided, id, registeredBefore };
};

export const forgetCause = async (database: Database, { id }: NotedCause): Promise<void> => {
  await database.query('delete from ingest.late_cause where cause_id = $1', [id]);
};

export const adIdsOfCause = async function* (
  database: Database,
  cause: LateCause,
): AsyncGenerator<readonly string[]> {
  const SLICE_ADS = 500;
  const ads = adsOfCause(cause);
  if (ads === null) return;
  for (let after = ''; ; ) {
    const statement = sql.unsafe`
      select a.ad_id from ingest.ad_owner o join ingest.ad a using (ad_id, brand_id)
      where a.ad_id > ${after} and ${ads} order by a.ad_id limit ${raw(`${SLICE_ADS}`)}`;
    const { rows } = await database.query<{ ad_id: string }>(...textAndValues(statement));
    if (rows.length > 0) yield rows.map(({ ad_id }) => ad_id);
    if (rows.length < SLICE_ADS) return;
    after = rows.at(-1)?.ad_id ?? after;
  }
};

/** Includes domains to which the ads once led. */
export const domainsOfCause = async (database: Database, cause: LateCause): Promise<readonly string[]> => {
  const ads = adsOfCause(cause);
  if (ads === null) return [];
  const statement = sql.unsafe`
    select array(select distinct destination from ingest.ad where ${ads} and destination is not null) as destinations,
      array(select distinct unnest(former_domains) from ingest.ad where ${ads}) as former`;
  const { rows } = await database.query<LedTo>(...textAndValues(statement));
  return domainsLedTo(rows);
};

export const extentOfCause = async (
  database: Database,
  cause: LateCause,
): Promise<{ readonly pageIds: readonly string[]; readonly scanIds: readonly string[] }> => {
  const ads = adsOfCause(cause);
  if (ads === null) return { pageIds: [], scanIds: [] };
  type Extent = { page_ids: readonly string[]; scan_ids: readonly string[] };
  const statement = sql.unsafe`
     with found as (select social_page_id, known from ingest.ad where ${ads})
     select array(select distinct social_page_id from found where social_page_id is not null) as page_ids,
       array(select distinct look->>'scan_id' from found, jsonb_array_elements(known->'looks') look) as scan_ids`;
  const { rows } = await database.query<Extent>(...textAndValues(statement));
  return { pageIds: rows[0]?.page_ids ?? [], scanIds: rows[0]?.scan_ids ?? [] };
};

/** The ads may lead to more domains each time. */
const TAKEN_MAX = 5;

/**
 * Keeps out scans with these ads, other observations about them, and, for a link, scans of its brand, whose reliable
 * days it decides (rule 9).
 */
export const runWithCauseLocks = async <T>(
  database: Database,
  locks: BrandLocks,
  cause: LateCause,
  work: () => Promise<T>,
): Promise<T> => {
  const { about, brandId } = cause;
  const domain = 'pageId' in about ? about.registers : about.domain;
  const alone = [...('pageId' in about ? [about.pageId] : []), ...(domain === null ? [] : [domain])];
  const above = domain === null ? [] : domainsOf(`https://${domain}/`);
  // Most observations concern no ad yet, so domains are read under the locks, and more ads mean taking them again.
  let shared: ReadonlySet<string> = new Set(above);
  for (let taken = 1; ; taken += 1) {
    const held = shared;
    const done = await locks.runOnPlaces({ alone, shared: [...held] }, async () => {
      const domains = new Set(await domainsOfCause(database, cause));
      if (taken < TAKEN_MAX && !domains.isSubsetOf(held)) {
        shared = held.union(domains);
        return null;
      }
      return { result: await ('pageId' in about ? locks.run(brandId, work) : work()) };
    });
    if (done !== null) return done.result;
  }
};
