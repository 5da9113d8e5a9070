import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { DeleteAlert, DeletedAlert } from '#contracts/resources/workspace/alert.ts';
import { alertRule, deleteAlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { ALERT_ID } from './support/examples.ts';
import { alertParams } from './support/parameters.ts';

export const deleteAlert = endpoint({
  method: 'DELETE',
  path: '/v1/workspaces/{ws}/alerts/{alertId}',
  operationId: 'deleteAlert',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Delete an alert rule and its delivery history',
  description:
    'Takes an empty object as body. What is queued is not sent any more. `removed` is false when there was no such rule.',
  params: alertParams,
  query: noQuery,
  body: { schema: DeleteAlert, example: {} },
  paramsExample: { ws: WORKSPACE_ID, alertId: ALERT_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: DeletedAlert,
    example: { alert_id: ALERT_ID, workspace_id: WORKSPACE_ID, removed: true },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async ({ params, execute }, dependencies) => {
    const { ws: workspace_id, alertId: alert_id } = params;
    const { events, position } = await execute({
      stream: alertRuleStream(workspace_id, alert_id),
      decider: alertRule,
      decision: deleteAlertRule({ workspace_id, alert_id, at: dependencies.clock.now().toISOString() }),
      shownIn: ['alerts', 'alert-deliveries'],
    });
    // Runs even if this call appended nothing: an earlier attempt may have crashed after its append.
    await dependencies.secretVault?.forget(workspace_id, alert_id);
    const data = JSON.stringify({ alert_id, workspace_id, removed: events.length > 0 });
    return { data, asOf: null, position };
  },
});
