import type { Validators } from '#platform/http-client/polite-client.ts';
import type { Database } from '#platform/postgres/pool.ts';

export type VisitRecord = { readonly url: string; readonly nextAt: Date; readonly validators: Validators };

export const readDuePages = async (
  database: Database,
  urls: readonly string[],
  now: Date,
): Promise<readonly string[]> => {
  const { rows } = await database.query<{ page_url: string }>(
    'select page_url from collecting.landing_page where page_url = any($1) and next_at > $2',
    [urls, now],
  );
  const waiting = new Set(rows.map(({ page_url }) => page_url));
  return urls.filter((url) => !waiting.has(url));
};

export const readValidators = async (database: Database, url: string): Promise<Validators> => {
  const { rows } = await database.query<{ etag: string | null; last_modified: string | null }>(
    'select etag, last_modified from collecting.landing_page where page_url = $1',
    [url],
  );
  return { etag: rows[0]?.etag ?? null, lastModified: rows[0]?.last_modified ?? null };
};

export const saveVisits = async (database: Database, visits: readonly VisitRecord[]): Promise<void> => {
  await database.query(
    `insert into collecting.landing_page as p (page_url, next_at, etag, last_modified)
     select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[])
     on conflict (page_url) do update set next_at = excluded.next_at, etag = excluded.etag,
       last_modified = excluded.last_modified`,
    [
      visits.map(({ url }) => url),
      visits.map(({ nextAt }) => nextAt),
      visits.map(({ validators }) => validators.etag?.slice(0, 1_000) ?? null),
      visits.map(({ validators }) => validators.lastModified?.slice(0, 100) ?? null),
    ],
  );
};
