import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { DeleteAlert, DeletedAlert } from '#contracts/resources/workspace/alert.ts';
import { alertRule, deleteAlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';
import { ALERT_ID } from './support/examples.ts';
import { alertParams } from './support/parameters.ts';

export const deleteAlert = removalEndpoint({
  path: '/v1/workspaces/{ws}/alerts/{alertId}',
  operationId: 'deleteAlert',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Delete an alert rule and its delivery history',
  description:
    'Takes an empty object as body. Queued deliveries are cancelled. `removed` is false when no such rule existed.',
  params: alertParams,
  body: DeleteAlert,
  paramsExample: { ws: WORKSPACE_ID, alertId: ALERT_ID },
  reply: {
    data: DeletedAlert,
    example: { alert_id: ALERT_ID, workspace_id: WORKSPACE_ID },
  },
  handler: async ({ params, execute }, dependencies) => {
    const { ws: workspace_id, alertId: alert_id } = params;
    const { events, position } = await execute({
      stream: alertRuleStream(workspace_id, alert_id),
      decider: alertRule,
      decision: deleteAlertRule({ workspace_id, alert_id, at: dependencies.clock.now().toISOString() }),
      shownIn: ['alerts', 'alert-deliveries'],
    });
    // Runs even without a new event: an earlier attempt may have crashed after its append.
    await dependencies.secretVault?.forget(workspace_id, alert_id);
    return { target: { alert_id, workspace_id }, removed: events.length > 0, position };
  },
});
