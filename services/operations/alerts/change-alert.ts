import { alertRuleStream, type SealedAddress } from '#contracts/events/workspace/alert-rule.ts';
import { ChangeAlert, WrittenAlert } from '#contracts/resources/workspace/alert.ts';
import { alertRule, changeAlertRule, requireAlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { trackedBrandIds } from '../tracked-brands/tracked-brand-ids.ts';
import { requireRule } from './support/load-alert-rule.ts';
import { alert, ALERT_ID } from './support/examples.ts';
import { alertParams } from './support/parameters.ts';
import { requireTargets, sealAddress, PLACEHOLDER_ADDRESS } from './support/validate-targets.ts';
import { issueFirstSecret } from './support/webhook-secrets.ts';
import { writtenAlertText } from './support/written-alert-text.ts';

const NONE: ReadonlySet<string> = new Set();

export const changeAlert = endpoint({
  method: 'PATCH',
  path: '/v1/workspaces/{ws}/alerts/{alertId}',
  operationId: 'changeAlert',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Change an alert rule',
  description:
    'Properties that are absent stay unchanged; `webhook_url: null` removes the webhook. 400 when no channel would remain, or when `brand_ids` names an untracked brand. Deliveries queued for a removed channel are cancelled. Sending the address of a suspended channel, a new one or the same, ends its suspension; `enabled: true` ends all of them.',
  params: alertParams,
  query: noQuery,
  body: { schema: ChangeAlert, example: { cadence: 'daily', webhook_url: null } },
  paramsExample: { ws: WORKSPACE_ID, alertId: ALERT_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: WrittenAlert,
    example: { ...alert, cadence: 'daily', webhook_url: null, sends_on: ['email'], webhook_secret: null },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: async (call, dependencies) => {
    const { ws: workspace_id, alertId: alert_id } = call.params;
    const { chat_webhook_url, ...named } = requireTargets(call.body, dependencies);
    const current = await requireRule(dependencies.eventStore, workspace_id, alert_id);
    const tracked = named.brand_ids ? await trackedBrandIds(dependencies.eventStore, workspace_id) : NONE;
    const at = dependencies.clock.now().toISOString();
    const decisionOn = (chat: SealedAddress | null | undefined) =>
      changeAlertRule({ workspace_id, alert_id, change: omitUndefined({ ...named, chat }), tracked, at });
    // Validates the rule first, so that a refused rule leaves no secret in the vault.
    decisionOn(typeof chat_webhook_url === 'string' ? PLACEHOLDER_ADDRESS : chat_webhook_url)(current);
    const chat =
      chat_webhook_url === undefined
        ? undefined
        : await sealAddress(dependencies, workspace_id, alert_id, chat_webhook_url);
    const webhook_secret =
      typeof named.webhook_url === 'string' ? await issueFirstSecret(call, dependencies) : null;
    const { state, position, isShown } = await call.execute({
      stream: alertRuleStream(workspace_id, alert_id),
      decider: alertRule,
      decision: decisionOn(chat),
      shownIn: ['alerts'],
    });
    const rule = requireAlertRule(state);
    if (chat !== undefined) {
      await dependencies.secretVault?.forget(workspace_id, alert_id, rule.chat?.fingerprint ?? '');
    }
    const data = await writtenAlertText(dependencies, { rule, isShown, webhook_secret });
    return { data, asOf: null, position };
  },
});
