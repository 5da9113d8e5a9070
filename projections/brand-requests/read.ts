import type { BrandRequested } from '#contracts/events/workspace/brand-request.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import type { BrandRequestStatus, RequestedTracking } from '#contracts/resources/workspace/brand-request.ts';
import { BEFORE_NEWEST, type RowPage, cutPage } from '../sql/pages.ts';
import { raw, sql } from '../sql/sql-tag.ts';

export type BrandRequestRow = Omit<BrandRequested['data'], 'workspace_id'> & {
  readonly status: BrandRequestStatus;
  readonly reason: string | null;
  readonly decided_at: string | null;
  readonly tracking: RequestedTracking;
  readonly slug: string | null;
  readonly ready_at: string | null;
};

const COLUMNS = `request_id, brand_id, domain, social_page_id, track, cadence, forecast, forecast_reason, requested_by,
  requested_at, status, reason, decided_at, tracking, slug, ready_at`;

/** Newest first. */
export const listBrandRequests = async (
  db: ReadDatabase,
  workspaceId: string,
  status: BrandRequestStatus | undefined,
  page: PageRequest,
): Promise<RowPage<BrandRequestRow>> => {
  const where = sql.and([
    sql.fragment`workspace_id = ${workspaceId}`,
    status !== undefined && sql.fragment`status = ${status}`,
    sql.fragment`(requested_at, request_id) < (${sql.list(page.after ?? BEFORE_NEWEST)})`,
  ]);
  const rows = await db.query<BrandRequestRow>(sql.unsafe`
    select ${raw(COLUMNS)} from brand_requests.request where ${where}
    order by requested_at desc, request_id desc limit ${page.limit + 1}`);
  return cutPage(rows, page.limit, (last) => [last.requested_at, last.request_id]);
};

const ONE = `select ${COLUMNS} from brand_requests.request where workspace_id = $1 and request_id = $2`;

export const findBrandRequest = async (
  db: ReadDatabase,
  workspaceId: string,
  requestId: string,
): Promise<BrandRequestRow | null> =>
  (await db.query<BrandRequestRow>({ sql: ONE, values: [workspaceId, requestId] }))[0] ?? null;

/** Operators list the newest at once; beyond this they query the database. */
const LISTED_MAX = 10_000;

const OF_ALL = `
  select workspace_id, request_id, status, domain, social_page_id, track, requested_at, reason from brand_requests.request
  where $1::text is null or status = $1 order by requested_at desc, request_id desc limit ${LISTED_MAX}`;

/** Requests of all workspaces, newest first. `status`: `null` for all. */
export const listAllBrandRequests = (
  db: ReadDatabase,
  status: BrandRequestStatus | null,
): Promise<
  readonly (Pick<BrandRequestRow, 'request_id' | 'status' | 'domain' | 'social_page_id' | 'track'> & {
    readonly workspace_id: string;
    readonly requested_at: string;
    readonly reason: string | null;
  })[]
> => db.slow({ sql: OF_ALL, values: [status] });
