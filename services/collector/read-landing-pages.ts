import type { GetOutcome, Validators } from '#platform/http-client/polite-client.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Observation } from '#contracts/observations/index.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { landingPageClassify, landingPageScrape } from '#domain/shapes/landing-page.ts';
import { listBrandPageUrls } from '#projections/pages/read.ts';
import { decodeHtml, isHtml, readPageSigns } from './read-page-signs.ts';
import type { ReadOutcome, Reading, SourceReader } from './schedule/source-reader.ts';

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

export const LANDING_PAGES_SOURCE = 'landing_pages';
/** Pages with the most active ads come first. */
const PAGES_MAX = 1_000;
const VISIT_DAYS = 30;
const FAILURE_DAYS = 7;
const ACCEPT = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1';
const NO_VALIDATORS: Validators = { etag: null, lastModified: null };

export type LandingPagesCursor = { readonly urls: readonly string[]; readonly next: number };

type Visit = {
  readonly url: string;
  readonly kind: 'visited' | 'unchanged' | 'refused' | 'failed';
  readonly nextAt: string;
  readonly observations: readonly Observation[];
};

type LandingPagesReading = Reading<LandingPagesCursor>;
type Stores = { readonly database: Database; readonly db: ReadDatabase };

const visitOf = (url: string, got: GetOutcome, now: Date): Visit => {
  const inDays = (days: number): string => new Date(now.getTime() + days * DAY_MS).toISOString();
  const without = (kind: Visit['kind'], nextAt: string): Visit => ({ url, kind, nextAt, observations: [] });
  switch (got.kind) {
    case 'unchanged':
      return without('unchanged', inDays(VISIT_DAYS));
    case 'forbidden':
      return without('refused', inDays(VISIT_DAYS));
    case 'resting':
      return without('refused', new Date(got.untilMs).toISOString());
    case 'failed':
      return without('failed', inDays(FAILURE_DAYS));
    case 'answered': {
      const { status, headers, body } = got;
      const contentType = headers['content-type'] ?? '';
      const hasPage = status === 200 && isHtml(contentType, body);
      const visited = {
        pageUrl: url,
        observedAt: now.toISOString(),
        status,
        finalUrl: got.url.href,
        signs: hasPage ? readPageSigns(decodeHtml(body, contentType)) : null,
      };
      const observations = [landingPageScrape(visited), landingPageClassify(visited)].filter(
        (observation) => observation !== null,
      );
      return { url, kind: 'visited', nextAt: inDays(status < 500 ? VISIT_DAYS : FAILURE_DAYS), observations };
    }
  }
};

const readNext = async (
  { batch, client, now, signal }: LandingPagesReading,
  { database }: Stores,
  cursor: LandingPagesCursor,
): Promise<LandingPagesCursor> => {
  const url = cursor.urls[cursor.next] as string;
  const known = await readValidators(database, url);
  const got = await client.get(url, { signal, accept: ACCEPT, validators: known });
  const visit = visitOf(url, got, now());
  const validators =
    got.kind === 'unchanged'
      ? known
      : got.kind === 'answered' && got.status === 200
        ? { etag: got.headers['etag'] ?? null, lastModified: got.headers['last-modified'] ?? null }
        : NO_VALIDATORS;
  const next = { ...cursor, next: cursor.next + 1 };
  await batch.commit(next, { page: cursor.next, text: JSON.stringify(visit), validators });
  return next;
};

const observe = async (
  { batch }: LandingPagesReading,
  { database }: Stores,
  { urls }: LandingPagesCursor,
): Promise<ReadOutcome> => {
  const pages = await batch.pages();
  const visits = pages.map(({ text, validators }) => ({ ...(JSON.parse(text) as Visit), validators }));
  await saveVisits(
    database,
    visits.map(({ url, nextAt, validators }) => ({ url, nextAt: new Date(nextAt), validators })),
  );
  const count = (kind: Visit['kind']): number => visits.filter((visit) => visit.kind === kind).length;
  const detail = [
    `${count('visited')} of ${urls.length} pages visited`,
    ...(['unchanged', 'refused', 'failed'] as const).flatMap((kind) =>
      count(kind) === 0 ? [] : [`${count(kind)} ${kind}`],
    ),
  ].join(', ');
  const isWhole = visits.length === urls.length && count('refused') + count('failed') === 0;
  return {
    kind: 'read',
    observations: visits.flatMap(({ observations }) => observations),
    outcome: isWhole ? 'complete' : 'partial',
    detail,
  };
};

/** Requests each page every 30 days, also for several brands. The cadence decides how often new pages are searched. */
export const createLandingPagesReader = (stores: Stores): SourceReader => ({
  intervalMs: null,
  read: async (reading: LandingPagesReading) => {
    const { domain, batch, now } = reading;
    let { cursor } = batch;
    if (cursor === null) {
      const urls = await readDuePages(
        stores.database,
        await listBrandPageUrls(stores.db, domain, PAGES_MAX),
        now(),
      );
      if (urls.length === 0) {
        const detail = 'no landing page of its ads is due';
        return { kind: 'nothing', outcome: 'no_pages', detail, notBeforeMs: null };
      }
      cursor = { urls, next: 0 };
      await batch.commit(cursor, null);
    }
    while (cursor.next < cursor.urls.length) cursor = await readNext(reading, stores, cursor);
    return observe(reading, stores, cursor);
  },
  giveUp: (reading: LandingPagesReading) =>
    observe(reading, stores, reading.batch.cursor ?? { urls: [], next: 0 }),
});
