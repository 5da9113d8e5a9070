import {
  ALERT_RULE,
  type AlertRuleEvent,
  type AlertRuleSettings,
  type Suspension,
} from '#contracts/events/workspace/alert-rule.ts';
import { projection, type Row } from '../define-projection.ts';

const columnsOf = ({ chat, quiet_hours, ...settings }: Partial<AlertRuleSettings>): Row => ({
  ...settings,
  ...(quiet_hours === undefined ? {} : { quiet_hours: quiet_hours && JSON.stringify(quiet_hours) }),
  ...(chat === undefined ? {} : { chat_host: chat?.host ?? null }),
});

const NO_LIMITS: Row = { threshold: null, quiet_hours: null, max_per_day: null };

const NONE: Row = { webhook_suspended: null, chat_suspended: null };

/** Any setting that is present resumes its channel, even if its value is unchanged. */
const clearSuspensions = ({ enabled, webhook_url, chat }: Partial<AlertRuleSettings>): Row => ({
  ...(enabled === true ? NONE : {}),
  ...(webhook_url === undefined ? {} : { webhook_suspended: null }),
  ...(chat === undefined ? {} : { chat_suspended: null }),
});

export const suspensionText = ({ channel, failing_since, suspended_at }: Suspension): string =>
  JSON.stringify({ channel, failing_since, suspended_at });

const suspensionColumns = (suspension: Suspension): Row => ({
  [`${suspension.channel}_suspended`]: suspensionText(suspension),
  updated_at: suspension.suspended_at,
});

export const alerts = projection<AlertRuleEvent>({
  name: 'alerts',
  version: 3,
  prefixes: [`${ALERT_RULE}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const { workspace_id, alert_id } = event.data;
    const key = { workspace_id, alert_id };
    switch (event.type) {
      case 'AlertRuleCreated': {
        const { workspace_id: _, alert_id: __, member_id, created_at, ...settings } = event.data;
        const made = { created_by: member_id, created_at, updated_at: created_at, ...NONE };
        return [
          { kind: 'insert', table: 'alert', row: { ...key, ...NO_LIMITS, ...columnsOf(settings), ...made } },
        ];
      }
      case 'AlertRuleChanged': {
        const { changes, changed_at } = event.data;
        const set = { ...columnsOf(changes), ...clearSuspensions(changes), updated_at: changed_at };
        return [{ kind: 'update', table: 'alert', key, set }];
      }
      case 'AlertChannelSuspended':
        return [{ kind: 'update', table: 'alert', key, set: suspensionColumns(event.data) }];
      case 'AlertRuleSuspended':
        return [
          { kind: 'update', table: 'alert', key, set: { ...suspensionColumns(event.data), enabled: false } },
        ];
      case 'AlertRuleDeleted':
        return [{ kind: 'delete', table: 'alert', key }];
    }
  },
});
