import { z } from 'zod';
import { type SealedAddress, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import {
  type AlertRule,
  alertRule,
  changeAlertRule,
  createAlertRule,
  deleteAlertRule,
  requireAlertRule,
} from '#domain/workspace/alert/rule-decider.ts';
import { readAlertRule } from '#application/delivery-outbox/target.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import { UNKNOWN_CHAT_TOOL, chatToolAt } from '#platform/channels/chat.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import { suspensionText } from '#projections/alerts/project.ts';
import {
  type AlertRow,
  alertText,
  countAlerts,
  findAlert,
  listAlerts as readAlerts,
} from '#projections/alerts/read.ts';
import {
  ALERT_RULES_MAX,
  Alert,
  ChangeAlert,
  CreateAlert,
  DeleteAlert,
  DeletedAlert,
  WrittenAlert,
} from '#contracts/resources/workspace/alert.ts';
import { derivedId } from '#domain/ids.ts';
import { AD_ID, BRAND_ID, WORKSPACE_ID, brandReference, radarItem } from '../endpoint/examples.ts';
import { noQuery, pageQuery, workspaceParams } from '../endpoint/parameters.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { pageReply, writtenText } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { trackedBrandIds } from '../tracked-brands.ts';
import { WEBHOOK_SECRET, issueFirstSecret, requireVault } from './webhook-secrets.ts';
import { removalEndpoint } from '../endpoint/removal-endpoint.ts';
import { workspaceRead, workspaceWrite } from '../endpoint/kinds.ts';

/** Throws `Refusal` for a missing or deleted rule. */
export const requireRule = async (
  eventStore: EventStore,
  workspaceId: string,
  alertId: string,
): Promise<AlertRule> => requireAlertRule(await readAlertRule(eventStore, workspaceId, alertId));

export const ALERT_ID = 'b7d1c3e5-2f4a-5b68-9c0d-6e8f1a3b5d70';
export const DELIVERY_ID = '4e2a9c71-8d3b-5f06-a1e4-7b9d2c5f8036';

const settings = {
  name: 'Launches of competitors',
  trigger: 'new_ads' as const,
  brand_ids: [BRAND_ID],
  cadence: 'instant' as const,
  email: true,
};

export const createAlertExample = { ...settings, webhook_url: 'https://hooks.example.com/ads' };

export const alert = {
  id: ALERT_ID,
  ...createAlertExample,
  chat: null,
  enabled: true,
  sends_on: ['email' as const, 'webhook' as const],
  suspended: [],
  created_by: 'mem_2h8k4n6p0r5s7v9w',
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
};

export const alertPayload: AlertPayload = {
  id: DELIVERY_ID,
  type: 'alert.matched',
  kind: 'alert',
  created_at: '2026-11-20T09:31:00.000Z',
  workspace_id: WORKSPACE_ID,
  alert: { id: ALERT_ID, name: settings.name, trigger: settings.trigger, cadence: settings.cadence },
  period: null,
  items_total: 1,
  items: [
    {
      id: radarItem.id,
      type: 'ad_started',
      observed_at: radarItem.observed_at,
      brand: brandReference,
      title: `${brandReference.name} was observed running a new ad: “${radarItem.ad.title}”`,
      ad_id: AD_ID,
      page_id: radarItem.ad.page.page_id,
      destination_url: radarItem.destination_url,
      previous_destination_url: null,
      signal: null,
      url: radarItem.ad.url,
    },
  ],
  as_of: radarItem.observed_at,
};

export const alertParams = z.strictObject({
  ...workspaceParams.shape,
  alertId: Uuid.toLowerCase().meta({ description: 'Id of an alert rule.' }),
});

type RequestedTargets = {
  webhook_url?: string | null | undefined;
  chat_webhook_url?: string | null | undefined;
};

/** Returns the canonical URL; other text stays unchanged. */
const normalizeUrl = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

/**
 * Returns canonical targets. Throws `Refusal` for each forbidden address: a private network, or no supported chat tool.
 */
export const requireTargets = <Targets extends RequestedTargets>(
  requested: Targets,
  dependencies: OperationDependencies,
): Targets => {
  const { rules } = dependencies.alertChannels;
  const details: ErrorDetail[] = [];
  const targets = { ...requested };
  for (const name of ['webhook_url', 'chat_webhook_url'] as const) {
    const url = requested[name];
    if (typeof url !== 'string') continue;
    targets[name] = normalizeUrl(url);
    const fault =
      checkTargetUrl(url, rules) ??
      checkTargetUrl(normalizeUrl(url), rules) ??
      (name === 'chat_webhook_url' && chatToolAt(url, rules) === null ? UNKNOWN_CHAT_TOOL : null);
    if (fault !== null) details.push({ path: name, message: fault, code: 'target_refused' });
  }
  if (details.length > 0) throw new Refusal('invalid_input', 'The input was rejected; see details.', details);
  return targets;
};

/** Stands for a chat address while a rule is validated, before it is encrypted. */
export const PLACEHOLDER_ADDRESS: SealedAddress = { host: '', fingerprint: '' };

/** Encrypts a chat address into the vault. Events hold only its host and fingerprint. `null` without an address. */
export const sealAddress = async (
  dependencies: OperationDependencies,
  workspaceId: string,
  alertId: string,
  url: string | null,
): Promise<SealedAddress | null> => {
  if (url === null) return null;
  const fingerprint = await requireVault(dependencies).seal(workspaceId, alertId, url);
  return { host: new URL(url).host, fingerprint };
};

const rowOf = (rule: AlertRule): AlertRow => ({
  id: rule.alert_id,
  name: rule.name,
  trigger: rule.trigger,
  brand_ids: rule.brand_ids,
  cadence: rule.cadence,
  email: rule.email,
  webhook_url: rule.webhook_url,
  chat_host: rule.chat?.host ?? null,
  enabled: rule.enabled,
  threshold: rule.threshold ?? null,
  quiet_hours: rule.quiet_hours ? JSON.stringify(rule.quiet_hours) : null,
  max_per_day: rule.max_per_day ?? null,
  webhook_suspended: rule.suspended.webhook && suspensionText(rule.suspended.webhook),
  chat_suspended: rule.suspended.chat && suspensionText(rule.suspended.chat),
  created_by: rule.member_id,
  created_at: rule.created_at,
  updated_at: rule.updated_at,
});

/** `webhook_secret` is `null` except in the one reply that shows it. `isShown`: the read model shows the write. */
export const writtenAlertText = async (
  { db, log }: Pick<OperationDependencies, 'db' | 'log'>,
  written: { readonly rule: AlertRule; readonly isShown: boolean; readonly webhook_secret: string | null },
): Promise<string> => {
  const { rule, isShown, webhook_secret } = written;
  const text = await writtenText(
    { isShown, log },
    () => findAlert(db, rule.workspace_id, rule.alert_id),
    () => alertText(rowOf(rule)),
  );
  return appendFields(text, { webhook_secret: JSON.stringify(webhook_secret) });
};

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

export const createAlert = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/alerts',
  operationId: 'createAlert',
  tag: 'Alerts',
  scope: 'alerts:write',
  summary: 'Create an alert rule',
  description: `Creates a rule on tracked brands; 400 names brands that are not tracked. The first rule with a webhook creates the signing secret of the workspace, which only this reply shows. 409 when the workspace has ${ALERT_RULES_MAX} rules.`,
  body: { schema: CreateAlert, example: createAlertExample },
  reply: {
    status: 201,
    shape: 'record',
    data: WrittenAlert,
    example: { ...alert, webhook_secret: WEBHOOK_SECRET },
  },
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
      createAlertRule({ ...by, settings: { ...omitUndefined(named), chat }, tracked, rules });
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
  reply: { data: DeletedAlert, example: { alert_id: ALERT_ID, workspace_id: WORKSPACE_ID } },
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

export const listAlerts = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/alerts',
  operationId: 'listAlerts',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'List alert rules',
  description:
    'The rules of the workspace, newest first. Signing secrets and addresses of chat tools are left out.',
  query: z.strictObject(pageQuery),
  reply: { status: 200, shape: 'paged', data: Alert, example: [alert] },
  reads: ['alerts'],
  handler: async ({ params, page }, { db }) => pageReply(await readAlerts(db, params.ws, page), null),
});
