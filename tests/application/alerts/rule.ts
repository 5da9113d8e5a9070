import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';

export const BRAND = '7c0a4d52-1f3e-5b96-a8d0-1e6b9c3f7a42';

export const ruleOf = (more: Partial<AlertRule> = {}): AlertRule => ({
  workspace_id: 'ws_1',
  alert_id: '0b1f6a2e-3c4d-4e5f-8a9b-0c1d2e3f4a5b',
  member_id: 'ada',
  name: 'Launches',
  trigger: 'new_ads',
  brand_ids: [BRAND],
  cadence: 'instant',
  email: true,
  webhook_url: null,
  chat: null,
  enabled: true,
  created_at: '',
  updated_at: '',
  status: 'present',
  suspended: { webhook: null, chat: null },
  ...more,
});
