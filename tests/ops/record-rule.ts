import { type AlertRuleCreated, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import type { ApiStack, Key } from '#tests/api/stack.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';

/** A rule with a webhook: a delivery of no rule has nobody that it could be sent to again. */
export const recordRule = async (
  { eventStore }: ApiStack,
  { workspaceId: workspace_id, memberId: member_id }: Key,
  alert_id: string,
): Promise<void> => {
  const created: AlertRuleCreated = {
    type: 'AlertRuleCreated',
    data: {
      workspace_id,
      alert_id,
      member_id,
      name: 'Launches',
      trigger: 'new_ads',
      brand_ids: [],
      cadence: 'instant',
      email: false,
      webhook_url: 'https://hooks.shop.example/ads',
      chat: null,
      enabled: true,
      created_at: new Date().toISOString(),
    },
  };
  await eventStore.append(alertRuleStream(workspace_id, alert_id), -1n, [created], METADATA, 'a rule');
};
