import { ALERT_RULE, type AlertRuleFact, type AlertRuleSettings } from '#contracts/events/alert-rule.ts';
import { projection, type Row } from '#projections/projection.ts';

/** Columns of the settings that are named. */
const columnsOf = ({ chat, ...settings }: Partial<AlertRuleSettings>): Row => ({
  ...settings,
  ...(chat === undefined ? {} : { chat_host: chat?.host ?? null }),
});

/** Alert rules, for the alerts reads. */
export const alerts = projection<AlertRuleFact>({
  name: 'alerts',
  version: 1,
  prefixes: [`${ALERT_RULE}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (fact) => {
    const { workspace_id, alert_id } = fact.data;
    const key = { workspace_id, alert_id };
    switch (fact.type) {
      case 'AlertRuleCreated': {
        const { workspace_id: _, alert_id: __, member_id, created_at, ...settings } = fact.data;
        const made = { created_by: member_id, created_at, updated_at: created_at, suspended: null };
        return [{ kind: 'insert', table: 'alert', row: { ...key, ...columnsOf(settings), ...made } }];
      }
      case 'AlertRuleChanged': {
        const { changes, changed_at } = fact.data;
        const resumed = changes.enabled === true ? { suspended: null } : {};
        const set = { ...columnsOf(changes), ...resumed, updated_at: changed_at };
        return [{ kind: 'update', table: 'alert', key, set }];
      }
      case 'AlertRuleSuspended': {
        const { channel, failing_since, suspended_at } = fact.data;
        const suspended = JSON.stringify({ channel, failing_since, suspended_at });
        const set = { enabled: false, suspended, updated_at: suspended_at };
        return [{ kind: 'update', table: 'alert', key, set }];
      }
      case 'AlertRuleDeleted':
        return [{ kind: 'delete', table: 'alert', key }];
    }
  },
});
