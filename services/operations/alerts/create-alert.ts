import { alertRuleStream, type SealedAddress } from '#contracts/events/workspace/alert-rule.ts';
import { ALERT_RULES_MAX, CreateAlert, WrittenAlert } from '#contracts/resources/workspace/alert.ts';
import { alertRule, createAlertRule, requireAlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { derivedId } from '#domain/ids.ts';
import { countAlerts } from '#projections/alerts/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { trackedBrandIds } from '../tracked-brands/tracked-brand-ids.ts';
import { readAlertRule } from './support/load-alert-rule.ts';
import { alert, createAlert as exampleBody, WEBHOOK_SECRET } from './support/examples.ts';
import { requireTargets, sealAddress, PLACEHOLDER_ADDRESS } from './support/validate-targets.ts';
import { issueFirstSecret } from './support/webhook-secrets.ts';
import { writtenAlertText } from './support/written-alert-text.ts';

export const createAlert = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/alerts',
  operationId: 'createAlert',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Create an alert rule',
  description: `Creates a rule on tracked brands; 400 names brands that are not tracked. The first rule with a webhook creates the signing secret of the workspace, which only this reply shows. 409 when the workspace has ${ALERT_RULES_MAX} rules.`,
  params: workspaceParams,
  query: noQuery,
  body: { schema: CreateAlert, example: exampleBody },
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 201,
    shape: 'record',
    data: WrittenAlert,
    example: { ...alert, webhook_secret: WEBHOOK_SECRET },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async (call, dependencies) => {
    const { params, caller, commandId } = call;
    const workspace_id = params.ws;
    const alert_id = derivedId('alert', commandId);
    const { chat_webhook_url, ...named } = requireTargets(call.body, dependencies);
    const [tracked, current, rules] = await Promise.all([
      trackedBrandIds(dependencies.eventStore, workspace_id),
      readAlertRule(dependencies.eventStore, workspace_id, alert_id),
      countAlerts(dependencies.db, workspace_id),
    ]);
    const by = {
      workspace_id,
      alert_id,
      member_id: caller.memberId,
      at: dependencies.clock.now().toISOString(),
    };
    const decisionOn = (chat: SealedAddress | null) =>
      createAlertRule({ ...by, settings: { ...named, chat }, tracked, rules });
    // Validates the rule first, so that a refused rule leaves no secret in the vault.
    decisionOn(chat_webhook_url === null ? null : PLACEHOLDER_ADDRESS)(current);
    const chat = await sealAddress(dependencies, workspace_id, alert_id, chat_webhook_url);
    const webhook_secret = named.webhook_url === null ? null : await issueFirstSecret(call, dependencies);
    const { state, position, isShown } = await call.execute({
      stream: alertRuleStream(workspace_id, alert_id),
      decider: alertRule,
      decision: decisionOn(chat),
      shownIn: ['alerts'],
    });
    const rule = requireAlertRule(state);
    const data = await writtenAlertText(dependencies, { rule, isShown, webhook_secret });
    return { data, asOf: null, position, ...(webhook_secret === null ? {} : { shownOnce: { keyId: null } }) };
  },
});
