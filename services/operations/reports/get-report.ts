import { Refusal } from '#contracts/errors.ts';
import { Report } from '#contracts/resources/workspace/report.ts';
import { findReport } from '#projections/reports/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { readyReport, WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, reportParams } from '../endpoint/parameters.ts';
import { reportText } from './report-reply.ts';

export const getReport = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/reports/{reportId}',
  operationId: 'getReport',
  tag: 'Reports',
  scope: 'reports:read',
  summary: 'Read a report',
  description: 'One report. `download_url` is set once the report is ready; each read signs a new one.',
  params: reportParams,
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID, reportId: readyReport.id },
  reply: { status: 200, shape: 'record', data: Report, example: readyReport },
  errors: ['not_found'],
  corpus: false,
  reads: ['reports'],
  handler: async ({ params }, { db, clock, downloadLinks }) => {
    const row = await findReport(db, params.ws, params.reportId);
    if (!row) throw new Refusal('not_found', 'Report not found.');
    return { data: reportText(row, downloadLinks, clock.now()), asOf: null };
  },
});
