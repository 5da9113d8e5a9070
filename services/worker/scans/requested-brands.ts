import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

/** Hours until a due brand is requested again; they double with each request without a scan. */
export const FIRST_AGAIN_HOURS = 6;
export const AGAIN_HOURS_MAX = 72;
/** Rows of brands that are no longer due are deleted after this time. */
const FORGOTTEN_AFTER_DAYS = 30;

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

export const createScanRequestTables = (database: Database): Promise<void> =>
  installSchema(database, {
    lock: ADVISORY_LOCKS.scanRequestSchema,
    sql: SCHEMA,
    fingerprintOn: 'scan_requests',
  });

/** `scanned_at`: ISO time of the last scan; `null` before the first. */
export type DueBrand = { readonly brand_id: string; readonly scanned_at: string | null };

const REQUESTED_LATELY = `
  select r.brand_id from scan_requests.brand r
  join unnest($1::uuid[], $2::timestamptz[]) as due (brand_id, scanned_at) using (brand_id)
  where r.next_at > $3 and r.scanned_at is not distinct from due.scanned_at`;

/** Omits brands that were requested recently and not scanned since. */
export const mayBeRequested = async <Due extends DueBrand>(
  database: Database,
  due: readonly Due[],
  now: Date,
): Promise<readonly Due[]> => {
  const { rows } = await database.query<{ brand_id: string }>({
    name: 'brands that were requested lately',
    text: REQUESTED_LATELY,
    values: [due.map(({ brand_id }) => brand_id), due.map(({ scanned_at }) => scanned_at), now.toISOString()],
  });
  const waiting = new Set(rows.map(({ brand_id }) => brand_id));
  return due.filter(({ brand_id }) => !waiting.has(brand_id));
};

const NOTE = `
  insert into scan_requests.brand as r (brand_id, scanned_at, requests, next_at)
  select brand_id, scanned_at, 1, $3::timestamptz + interval '${FIRST_AGAIN_HOURS} hours'
  from unnest($1::uuid[], $2::timestamptz[]) as due (brand_id, scanned_at)
  order by brand_id
  on conflict (brand_id) do update set
    scanned_at = excluded.scanned_at,
    requests = case when r.scanned_at is not distinct from excluded.scanned_at then r.requests + 1 else 1 end,
    next_at = case when r.scanned_at is not distinct from excluded.scanned_at
      then $3::timestamptz + least(
        interval '${FIRST_AGAIN_HOURS} hours' * (2 ^ least(r.requests, 10)), interval '${AGAIN_HOURS_MAX} hours')
      else excluded.next_at end`;

/** Also deletes rows of brands that have not been due for long. */
export const noteRequested = async (
  client: Transaction,
  brands: readonly DueBrand[],
  now: Date,
): Promise<void> => {
  await client.query({
    name: 'note requested scans',
    text: NOTE,
    values: [
      brands.map(({ brand_id }) => brand_id),
      brands.map(({ scanned_at }) => scanned_at),
      now.toISOString(),
    ],
  });
  await client.query(
    `delete from scan_requests.brand where next_at < $1::timestamptz - interval '${FORGOTTEN_AFTER_DAYS} days'`,
    [now.toISOString()],
  );
};
