import { z } from 'zod';
import { Alert } from '#contracts/resources/workspace/alert.ts';
import { listAlerts as readAlerts } from '#projections/alerts/read.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import { alert } from './support/examples.ts';

export const listAlerts = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/alerts',
  operationId: 'listAlerts',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'List alert rules',
  description:
    'The rules of the workspace, newest first. Signing secrets and addresses of chat tools are left out.',
  params: workspaceParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: Alert, example: [alert] },
  errors: ['not_found'],
  corpus: false,
  reads: ['alerts'],
  handler: async ({ params, page }, { db }) => pageReply(await readAlerts(db, params.ws, page), null),
});
