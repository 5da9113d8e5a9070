import { reportStream } from '#contracts/events/workspace/report.ts';
import { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import {
  Report,
  REPORT_DAYS_MAX,
  REPORTS_KEPT_MAX,
  REPORTS_PER_DAY_MAX,
  REPORTS_QUEUED_MAX,
  RequestReport,
} from '#contracts/resources/workspace/report.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { derivedId } from '#domain/ids.ts';
import { report, requestReport as decideToRequest } from '#domain/workspace/report.ts';
import { countReports } from '#projections/reports/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { queuedReport, WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { trackedBrandIds } from '../tracked-brands/tracked-brand-ids.ts';
import { reportText, rowOfState } from './report-reply.ts';

export const requestReport = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/reports',
  operationId: 'requestReport',
  tag: 'Reports',
  scope: 'reports:write',
  summary: 'Request a report',
  description: `Queues a CSV export of the radar (ads started, ads stopped, link changes) for tracked brands over up to ${REPORT_DAYS_MAX} days. Read the report until it is ready; cells that a spreadsheet would take for a formula begin with an apostrophe. 409 when ${REPORTS_QUEUED_MAX} reports of the workspace are queued or running, ${REPORTS_PER_DAY_MAX} were requested within 24 hours, or it has ${REPORTS_KEPT_MAX} reports.`,
  params: workspaceParams,
  query: noQuery,
  body: {
    schema: RequestReport,
    example: { from: queuedReport.from, to: queuedReport.to, idempotency_key: 'october-review' },
  },
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 201, shape: 'record', data: Report, example: queuedReport },
  errors: ['not_found', 'conflict'],
  corpus: false,
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
      decider: report,
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
