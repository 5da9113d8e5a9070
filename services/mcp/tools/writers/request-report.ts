import { z } from 'zod';
import { RequestReport } from '#contracts/resources/workspace/report.ts';
import { requestReport as requestReportEndpoint } from '#operations/reports.ts';
import { tool } from '../define-tool.ts';
import { written } from './written.ts';

export const requestReport = tool({
  name: 'request_report',
  title: 'Request a report',
  description:
    'Requests a CSV file of changes at tracked brands. `get_workspace` with `reports` has its link once it is ready. Give `idempotency_key` so that a repeated call makes no second report.',
  input: z.strictObject(RequestReport.shape),
  output: 'structured',
  kind: 'writer',
  scopes: () => ['reports:write'],
  cost: () => 1,
  run: (body, context) => written(requestReportEndpoint, { body }, context),
});
