import { isoTimeSql } from '#contracts/values/time.ts';
import { BEFORE_NEWEST, type RowPage, cutPage } from '../sql/pages.ts';
import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import type { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import type { ReportStatus } from '#contracts/resources/workspace/report.ts';

export type ReportRow = {
  readonly report_id: string;
  readonly status: ReportStatus;
  readonly brands: number;
  readonly brand_ids: readonly string[] | null;
  readonly types: readonly RadarItemType[];
  readonly from: string;
  readonly to: string;
  readonly requested_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly failure: string | null;
  readonly object_key: string | null;
  readonly bytes: number | null;
  readonly rows: number | null;
  readonly sha256: string | null;
};

// Cast to double: exact far beyond any file, and a number for the driver.
const COLUMNS = `report_id, status, brands, brand_ids, types, from_date as "from", to_date as "to", requested_at,
  started_at, finished_at, failure, object_key, bytes::float8 as bytes, rows::float8 as rows, sha256`;

const PAGE = `
  select ${COLUMNS} from reports.report
  where workspace_id = $1 and (requested_at, report_id) < ($2, $3::uuid)
  order by requested_at desc, report_id desc limit $4`;

/** Newest first. `next` is the sort key of the last row if more follow. */
export const listReports = async (
  db: ReadDatabase,
  workspaceId: string,
  page: PageRequest,
): Promise<RowPage<ReportRow, readonly string[]>> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const found = await db.query<ReportRow>({ sql: PAGE, values });
  return cutPage(found, page.limit, (last) => [last.requested_at, last.report_id]);
};

const ONE = `select ${COLUMNS} from reports.report where workspace_id = $1 and report_id = $2`;

export const findReport = async (
  db: ReadDatabase,
  workspaceId: string,
  reportId: string,
): Promise<ReportRow | null> =>
  (await db.query<ReportRow>({ sql: ONE, values: [workspaceId, reportId] }))[0] ?? null;

const CLAIMABLE = `
  select workspace_id, report_id from reports.report
  where status in ('queued', 'running') and claimable_at <= coalesce($1, ${isoTimeSql('now()')})
  order by claimable_at, report_id limit $2`;

export type ClaimableReport = { readonly workspace_id: string; readonly report_id: string };

/** Longest waiting first at `now` (ISO timestamp; `null`: the time of Postgres). The log decides the claim itself. */
export const listClaimableReports = (
  db: ReadDatabase,
  now: string | null,
  limit: number,
): Promise<readonly ClaimableReport[]> => db.query({ sql: CLAIMABLE, values: [now, limit] });

const COUNT = `
  select count(*) filter (where requested_at >= $2 and status in ('queued', 'running'))::int as queued,
    count(*) filter (where requested_at >= $2)::int as requested, count(*)::int as kept
  from reports.report where workspace_id = $1`;

/** All reports, those requested of late, and the queued or running ones among these. */
export type ReportCounts = { readonly queued: number; readonly requested: number; readonly kept: number };

/** Counts the reports of a workspace. `since`: from when on they count as requested of late (ISO timestamp). */
export const countReports = async (
  db: ReadDatabase,
  workspaceId: string,
  since: string,
): Promise<ReportCounts> =>
  (await db.query<ReportCounts>({ sql: COUNT, values: [workspaceId, since] }))[0] ?? {
    queued: 0,
    requested: 0,
    kept: 0,
  };

const READY_SINCE = `
  select workspace_id, report_id as id, from_date as "from", to_date as "to"
  from reports.report where status = 'ready' and finished_at >= $1`;

/** Ready reports of all workspaces. `since`: ISO timestamp. */
export const listReportsReadySince = (
  db: ReadDatabase,
  since: string,
): Promise<
  readonly {
    readonly workspace_id: string;
    readonly id: string;
    readonly from: string;
    readonly to: string;
  }[]
> => db.slow({ sql: READY_SINCE, values: [since] });
