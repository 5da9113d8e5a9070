import type { Report } from '#contracts/resources/workspace/report.ts';
import type { RequestedReport } from '#domain/workspace/report.ts';
import type { ReportRow } from '#projections/reports/read.ts';
import type { DownloadLinks } from '../dependencies/download-links.ts';

/** Shows the report as requested, even if a worker has already started it. */
export const rowOfState = (state: RequestedReport): ReportRow => {
  const { request, status, started_at, finished_at, file, failure } = state;
  const { report_id, brand_ids, all_tracked, types, from, to, requested_at } = request;
  return {
    report_id,
    status,
    brands: brand_ids.length,
    brand_ids: all_tracked ? null : brand_ids,
    types,
    from,
    to,
    requested_at,
    started_at,
    finished_at,
    failure,
    object_key: file?.object_key ?? null,
    bytes: file?.bytes ?? null,
    rows: file?.rows ?? null,
    sha256: file?.sha256 ?? null,
  };
};

/** A finished report gets a newly signed download link. */
export const reportText = (row: ReportRow, links: DownloadLinks, now: Date): string => {
  const { report_id, requested_at, object_key, bytes, brand_ids, types, ...shown } = row;
  const fileName = `radar-${row.from}-to-${row.to}.csv`;
  const link = object_key === null ? null : links.sign({ fileName, objectKey: object_key }, now);
  const report: Report = {
    id: report_id,
    status: shown.status,
    from: shown.from,
    to: shown.to,
    brand_ids: brand_ids === null ? null : [...brand_ids],
    brands: shown.brands,
    types: [...types],
    created_at: requested_at,
    started_at: shown.started_at,
    finished_at: shown.finished_at,
    failure: shown.failure,
    rows: shown.rows,
    sha256: shown.sha256,
    size_bytes: bytes,
    download_url: link?.url ?? null,
    download_expires_at: link?.expiresAt ?? null,
  };
  return JSON.stringify(report);
};
