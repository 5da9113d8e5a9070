import { appendFields } from '#contracts/values/json-text.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { suspensionText } from '#projections/alerts/project.ts';
import { type AlertRow, alertText, findAlert } from '#projections/alerts/read.ts';
import type { OperationDependencies } from '../../dependencies/dependencies.ts';
import { writtenText } from '../../endpoint/written-text.ts';

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
