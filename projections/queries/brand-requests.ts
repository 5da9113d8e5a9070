import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Cadence } from '#contracts/values/primitives.ts';

export type ObservedRequest = {
  readonly workspace_id: string;
  readonly request_id: string;
  readonly brand_id: string;
  readonly slug: string;
};

const OBSERVED = `
  select r.workspace_id, r.request_id, r.brand_id, b.slug
  from brand_requests.request r join brands.brand b using (brand_id)
  where r.status in ('requested', 'collecting') and b.slug is not null
  order by r.requested_at, r.request_id limit $1`;

/** Open requests whose brand is registered, oldest first. */
export const listObservedRequests = (db: ReadDatabase, limit: number): Promise<readonly ObservedRequest[]> =>
  db.query({ sql: OBSERVED, values: [limit] });

const WANTED = `
  select r.brand_id, r.domain, min(r.cadence) as cadence, null as scanned_at,
    array_agg(distinct r.social_page_id) filter (where r.social_page_id is not null) as pages
  from brand_requests.request r left join brands.brand b using (brand_id)
  where r.status = 'collecting' and b.slug is null and ($1::uuid is null or r.brand_id > $1)
  group by r.brand_id, r.domain order by r.brand_id limit $2`;

export type WantedScan = {
  readonly brand_id: string;
  readonly domain: string;
  readonly cadence: Cadence;
  /** No scan of the brand is known. */
  readonly scanned_at: null;
  /** Social pages that the requests name; `null`: none. */
  readonly pages: readonly string[] | null;
};

/** Accepted requests whose brand is not registered yet, one row for each domain, by brand id. */
export const listWantedScans = (
  db: ReadDatabase,
  limit: number,
  after: WantedScan | null,
): Promise<readonly WantedScan[]> => db.query({ sql: WANTED, values: [after?.brand_id ?? null, limit] });
