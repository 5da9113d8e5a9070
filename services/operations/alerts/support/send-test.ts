import type { AlertChannel } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { failedOutcome, type SendOutcome } from '#platform/channels/send-outcome.ts';
import { webhookKeysOf } from '#platform/channels/webhook-signature.ts';
import { findNames } from '#projections/workspaces/read.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';

/** Outcome for a channel without a usable target. Nothing was sent. */
const blockedOutcome = (reason: string): SendOutcome =>
  failedOutcome('blocked_target', reason, performance.now());

const byWebhook = async (
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => {
  const secret = await dependencies.signingSecrets?.current(rule.workspace_id);
  if (!secret || rule.webhook_url === null)
    return blockedOutcome('The workspace has no signing secret. Create one.');
  const target = { url: rule.webhook_url, deliveryId: payload.id, keys: webhookKeysOf(secret) };
  return dependencies.alertChannels.webhook.sendOnce(target, Buffer.from(JSON.stringify(payload), 'utf8'));
};

const byChat = async (
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => {
  const { workspace_id, alert_id, chat } = rule;
  const url = chat && (await dependencies.secretVault?.open(workspace_id, alert_id, chat.fingerprint));
  if (!url) return blockedOutcome('The address of the chat tool is no longer stored. Set it again.');
  return dependencies.alertChannels.chat.sendOnce({ url }, payload);
};

const byEmail = async (
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => {
  const { workspace_id, member_id } = rule;
  const names = await findNames(dependencies.db, workspace_id, member_id);
  const sealed = names?.sealed ?? null;
  const person =
    sealed === null ? null : await dependencies.memberVault?.open(workspace_id, member_id, sealed);
  if (!person?.email) return blockedOutcome('The member who created the rule has no e-mail address.');
  return dependencies.alertChannels.email.sendOnce({ to: person.email, deliveryId: payload.id }, payload);
};

const SENDERS: Readonly<Record<AlertChannel, typeof byEmail>> = {
  email: byEmail,
  webhook: byWebhook,
  chat: byChat,
};

/** Sends once, without retries. */
export const sendSample = (
  channel: AlertChannel,
  rule: AlertRule,
  payload: AlertPayload,
  dependencies: OperationDependencies,
): Promise<SendOutcome> => SENDERS[channel](rule, payload, dependencies);
