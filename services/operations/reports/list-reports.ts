import { arrayText } from '#contracts/values/json-text.ts';
import { z } from 'zod';
import { Report } from '#contracts/resources/workspace/report.ts';
import { listReports as readReports } from '#projections/reports/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { readyReport, WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import { reportText } from './report-reply.ts';

export const listReports = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/reports',
  operationId: 'listReports',
  tag: 'Reports',
  scope: 'reports:read',
  summary: 'List reports',
  description: 'The reports of the workspace, newest first, each with its download URL once it is ready.',
  params: workspaceParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: Report, example: [readyReport] },
  errors: ['not_found'],
  corpus: false,
  reads: ['reports'],
  handler: async ({ params, page }, { db, clock, downloadLinks }) => {
    const { rows, next } = await readReports(db, params.ws, page);
    const now = clock.now();
    const items = rows.map((row) => reportText(row, downloadLinks, now));
    return { data: arrayText(items), asOf: null, count: items.length, next };
  },
});
