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

/** Start cursor: sorts after every row, so the first page needs no special case. */
const BEFORE_NEWEST = ['~', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const;

// Bytes and rows are cast to double: exact far beyond any file, and a number for the driver.
const COLUMNS = `report_id, status, brands, brand_ids, types, from_date as "from", to_date as "to", requested_at,
  started_at, finished_at, failure, object_key, bytes::float8 as bytes, rows::float8 as rows, sha256`;

const PAGE = `
  select ${COLUMNS} from reports.report
  where workspace_id = $1 and (requested_at, report_id) < ($2, $3::uuid)
  order by requested_at desc, report_id desc limit $4`;

/** Lists the reports of a workspace, newest first. `next` is the sort key of the last row if more follow. */
export const listReports = async (
  db: ReadDatabase,
  workspaceId: string,
  page: PageRequest,
): Promise<{ readonly rows: readonly ReportRow[]; readonly next: readonly string[] | null }> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const found = await db.query<ReportRow>({ sql: PAGE, values });
  const rows = found.slice(0, page.limit);
  const last = rows.at(-1);
  return { rows, next: found.length > page.limit && last ? [last.requested_at, last.report_id] : null };
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
  where status in ('queued', 'running') and claimable_at <= $1
  order by claimable_at, report_id limit $2`;

export type ClaimableReport = { readonly workspace_id: string; readonly report_id: string };

/**
 * Lists reports that a worker may claim at `now` (ISO timestamp), longest waiting first. The claim itself is
 * decided by the log.
 */
export const listClaimableReports = (
  db: ReadDatabase,
  now: string,
  limit: number,
): Promise<readonly ClaimableReport[]> => db.query({ sql: CLAIMABLE, values: [now, limit] });
