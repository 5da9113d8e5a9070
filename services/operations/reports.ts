import { z } from 'zod';
import {
  REPORTS_KEPT_MAX,
  REPORTS_PER_DAY_MAX,
  REPORTS_QUEUED_MAX,
  REPORT_DAYS_MAX,
  Report,
  RequestReport,
} from '#contracts/resources/workspace/report.ts';
import {
  type RequestedReport,
  requestReport as decideToRequest,
  report as reportDecider,
} from '#domain/workspace/report.ts';
import {
  type ReportRow,
  countReports,
  findReport,
  listReports as readReports,
} from '#projections/reports/read.ts';
import { Refusal } from '#contracts/errors.ts';
import { arrayText } from '#contracts/values/json-text.ts';
import { reportStream } from '#contracts/events/workspace/report.ts';
import { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { derivedId } from '#domain/ids.ts';
import type { DownloadLinks } from './dependencies/links.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { WORKSPACE_ID, queuedReport, readyReport } from './endpoint/examples.ts';
import { noQuery, pageQuery, reportParams } from './endpoint/parameters.ts';
import { restatedLink } from './restatements.ts';
import { trackedBrandIds } from './tracked-brands.ts';
import { workspaceRead, workspaceWrite } from './endpoint/kinds.ts';

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

export const getReport = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/reports/{reportId}',
  operationId: 'getReport',
  tag: 'Reports',
  scope: 'reports:read',
  summary: 'Read a report',
  description:
    'One report. `download_url` is set once the report is ready; each read signs a new one. When a late scan changed rows afterwards, the header `link` names the restatements.',
  params: reportParams,
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID, reportId: readyReport.id },
  reply: { status: 200, shape: 'record', data: Report, example: readyReport },
  errors: ['not_found'],
  corpus: false,
  reads: ['reports', 'restatements'],
  handler: async ({ params }, { db, clock, downloadLinks }) => {
    const row = await findReport(db, params.ws, params.reportId);
    if (!row) throw new Refusal('not_found', 'Report not found.');
    const data = reportText(row, downloadLinks, clock.now());
    return { data, asOf: null, ...(await restatedLink(db, params.ws, 'report_id', params.reportId)) };
  },
});

export const listReports = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/reports',
  operationId: 'listReports',
  tag: 'Reports',
  scope: 'reports:read',
  summary: 'List reports',
  description: 'The reports of the workspace, newest first, each with its download URL once it is ready.',
  query: z.strictObject(pageQuery),
  reply: { status: 200, shape: 'paged', data: Report, example: [readyReport] },
  reads: ['reports'],
  handler: async ({ params, page }, { db, clock, downloadLinks }) => {
    const { rows, next } = await readReports(db, params.ws, page);
    const now = clock.now();
    const items = rows.map((row) => reportText(row, downloadLinks, now));
    return { data: arrayText(items), asOf: null, count: items.length, next };
  },
});

export const requestReport = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/reports',
  operationId: 'requestReport',
  tag: 'Reports',
  scope: 'reports:write',
  summary: 'Request a report',
  description: `Queues a CSV export of the radar (ads started, ads stopped, link changes) for tracked brands over up to ${REPORT_DAYS_MAX} days. Read the report until it is ready; cells that a spreadsheet would take for a formula begin with an apostrophe. 409 when ${REPORTS_QUEUED_MAX} reports of the workspace are queued or running, ${REPORTS_PER_DAY_MAX} were requested within 24 hours, or it has ${REPORTS_KEPT_MAX} reports.`,
  body: {
    schema: RequestReport,
    example: { from: queuedReport.from, to: queuedReport.to, idempotency_key: 'october-review' },
  },
  reply: { status: 201, shape: 'record', data: Report, example: queuedReport },
  reads: [],
  handler: async ({ params, body, commandId, execute }, dependencies) => {
    const workspace_id = params.ws;
    const { idempotency_key, from, to } = body;
    const cause = idempotency_key === undefined ? `command|${commandId}` : `key|${idempotency_key}`;
    const report_id = derivedId('report', `${workspace_id}|${cause}`);
    const now = dependencies.clock.now();
    const since = new Date(now.getTime() - DAY_MS).toISOString();
    const counts = await countReports(dependencies.db, workspace_id, since);
    const { state, position } = await execute({
      stream: reportStream(workspace_id, report_id),
      decider: reportDecider,
      decision: decideToRequest({
        workspace_id,
        report_id,
        brand_ids: body.brand_ids?.map((id) => id.toLowerCase()) ?? null,
        tracked: await trackedBrandIds(dependencies.eventStore, workspace_id),
        types: body.types ?? RadarItemType.options,
        from,
        to,
        at: now.toISOString(),
        counts,
      }),
      shownIn: ['reports'],
    });
    if (!state) throw new Error('requested report has no state');
    return { data: reportText(rowOfState(state), dependencies.downloadLinks, now), asOf: null, position };
  },
});
