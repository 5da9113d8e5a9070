import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EndpointChannel } from '#contracts/values/alerts.ts';
import { Refusal } from '#contracts/errors.ts';
import type { AlertRuleEvent, AlertRuleSettings } from '#contracts/events/workspace/alert-rule.ts';
import type { WebhookSecretEvent } from '#contracts/events/workspace/webhook-secret.ts';
import { ALERT_RULES_MAX } from '#contracts/resources/workspace/alert.ts';
import {
  type AlertRuleChange,
  alertRule,
  type AlertRuleState,
  changeAlertRule,
  channelsOf,
  createAlertRule,
  deleteAlertRule,
  isActive,
  sendingChannelsOf,
  suspendAlertChannel,
} from '#domain/workspace/alert/rule-decider.ts';
import {
  issueFirstWebhookSecret,
  issueWebhookSecret,
  webhookSecret,
} from '#domain/workspace/webhook-secret.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const LATER = '2026-11-20T10:00:00.000Z';
const named = { workspace_id: 'ws_1', alert_id: '7c0a4d52-1f3e-5b96-a8d0-1e6b9c3f7a42' };
const BRANDS = ['brand a', 'brand b', 'brand c'];
const tracked = new Set(BRANDS);
const CHAT = { host: 'hooks.chat.example', fingerprint: 'f'.repeat(64) };

const settings: AlertRuleSettings = {
  name: 'Launches',
  trigger: 'new_ads',
  brand_ids: ['brand a', 'brand b'],
  cadence: 'instant',
  email: false,
  webhook_url: 'https://hooks.shop.example/in',
  chat: null,
  enabled: true,
};
const created = (more: Partial<AlertRuleSettings> = {}): AlertRuleEvent => ({
  type: 'AlertRuleCreated',
  data: { ...named, ...settings, ...more, member_id: 'ada', created_at: AT },
});
const changed = (changes: AlertRuleChange): AlertRuleEvent => ({
  type: 'AlertRuleChanged',
  data: { ...named, changes, changed_at: LATER },
});
const suspension = (channel: EndpointChannel) => ({ channel, failing_since: AT, suspended_at: LATER });
const suspended = (channel: EndpointChannel = 'webhook'): AlertRuleEvent => ({
  type: 'AlertChannelSuspended',
  data: { ...named, ...suspension(channel) },
});
/** Suspension from the time when one failing channel still disabled the rule. */
const ruleSuspended: AlertRuleEvent = {
  type: 'AlertRuleSuspended',
  data: { ...named, ...suspension('webhook') },
};
const deleted: AlertRuleEvent = { type: 'AlertRuleDeleted', data: { ...named, deleted_at: LATER } };

const create = (more: Partial<AlertRuleSettings> = {}, rules = 0) =>
  createAlertRule({
    ...named,
    settings: { ...settings, ...more },
    member_id: 'ada',
    tracked,
    rules,
    at: AT,
  });
const change = (changes: AlertRuleChange) =>
  changeAlertRule({ ...named, change: changes, tracked, at: LATER });
const suspend = (channel: EndpointChannel = 'webhook') =>
  suspendAlertChannel({ ...named, channel, failing_since: AT, at: LATER });
const remove = deleteAlertRule({ ...named, at: LATER });

describe('createAlertRule', () => {
  test('creates a rule with brands sorted and without duplicates', () =>
    given(alertRule)
      .when(create({ brand_ids: ['brand b', 'brand a', 'brand b'] }))
      .records(created()));
  test('records nothing when the rule exists or was deleted', () => {
    given(alertRule, created()).when(create()).records();
    given(alertRule, created(), deleted).when(create()).records();
  });
  test('refuses a brand that is not tracked', () =>
    given(alertRule)
      .when(create({ brand_ids: ['brand a', 'brand z'] }))
      .refuses('invalid_input'));
  test('refuses a rule without a channel', () =>
    given(alertRule)
      .when(create({ webhook_url: null }))
      .refuses('invalid_input'));
  test('records limits that are set, and no others', () => {
    const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Vienna' };
    given(alertRule)
      .when(create({ threshold: 3, quiet_hours, max_per_day: null }))
      .records(created({ threshold: 3, quiet_hours }));
  });
  test('refuses a threshold that no instant alert on activity reaches', () => {
    given(alertRule)
      .when(create({ trigger: 'activity', threshold: 2 }))
      .refuses('invalid_input');
    const daily = { trigger: 'activity', cadence: 'daily', threshold: 2 } as const;
    given(alertRule).when(create(daily)).records(created(daily));
    given(alertRule, created(daily))
      .when(change({ cadence: 'instant' }))
      .refuses('invalid_input');
  });
  test('refuses a rule above the maximum number', () => {
    given(alertRule)
      .when(create({}, ALERT_RULES_MAX - 1))
      .records(created());
    given(alertRule).when(create({}, ALERT_RULES_MAX)).refuses('limit_reached');
  });
});

describe('changeAlertRule', () => {
  test('records only the changed fields', () => {
    const requested = { name: 'Launches', trigger: 'activity', brand_ids: ['brand b', 'brand a'] } as const;
    given(alertRule, created())
      .when(change({ ...requested, chat: CHAT }))
      .records(changed({ trigger: 'activity', chat: CHAT }));
  });
  test('records nothing when all fields have their present values', () =>
    given(alertRule, created({ chat: CHAT }))
      .when(change({ ...settings, chat: { ...CHAT } }))
      .records());
  test('sets and removes limits, and records nothing when there is none to remove', () => {
    given(alertRule, created())
      .when(change({ max_per_day: 2 }))
      .records(changed({ max_per_day: 2 }));
    given(alertRule, created({ max_per_day: 2 }))
      .when(change({ max_per_day: null }))
      .records(changed({ max_per_day: null }));
    given(alertRule, created())
      .when(change({ max_per_day: null, threshold: null, quiet_hours: null }))
      .records();
  });
  test('refuses to remove the last channel', () => {
    given(alertRule, created())
      .when(change({ webhook_url: null }))
      .refuses('invalid_input');
    given(alertRule, created())
      .when(change({ webhook_url: null, email: true }))
      .records(changed({ webhook_url: null, email: true }));
  });
  test('checks that brands are tracked only when brands are given', () => {
    given(alertRule, created({ brand_ids: ['brand z'] }))
      .when(change({ name: 'Starts' }))
      .records(changed({ name: 'Starts' }));
    given(alertRule, created())
      .when(change({ brand_ids: ['brand z'] }))
      .refuses('invalid_input');
  });
  test('enables a rule that was suspended with all its channels', () =>
    given(alertRule, created(), ruleSuspended)
      .when(change({ enabled: true }))
      .records(changed({ enabled: true })));
  test('ends a suspension when a field is set to its present value', () => {
    const both = created({ chat: CHAT });
    given(alertRule, both, suspended(), suspended('chat'))
      .when(change({ ...settings, chat: { ...CHAT } }))
      .records(changed({ webhook_url: settings.webhook_url, chat: CHAT, enabled: true }));
    given(alertRule, both, suspended())
      .when(change({ webhook_url: settings.webhook_url, chat: { ...CHAT } }))
      .records(changed({ webhook_url: settings.webhook_url }));
    given(alertRule, both, suspended('chat'))
      .when(change({ webhook_url: settings.webhook_url, chat: { ...CHAT } }))
      .records(changed({ chat: CHAT }));
  });
  test('keeps suspensions when another field changes', () => {
    given(alertRule, created(), suspended())
      .when(change({ name: 'Starts', enabled: false }))
      .records(changed({ name: 'Starts', enabled: false }));
    given(alertRule, created(), suspended())
      .when(change({ name: settings.name, email: false }))
      .records();
  });
  test('refuses a rule that does not exist or is deleted', () => {
    given(alertRule)
      .when(change({ name: 'Starts' }))
      .refuses('not_found');
    given(alertRule, created(), deleted)
      .when(change({ name: 'Starts' }))
      .refuses('not_found');
  });
});

describe('suspendAlertChannel', () => {
  test('suspends each channel separately', () => {
    const both = created({ chat: CHAT });
    given(alertRule, both).when(suspend()).records(suspended());
    given(alertRule, both, suspended()).when(suspend('chat')).records(suspended('chat'));
  });
  test('suspends a channel again after it was enabled again', () =>
    given(alertRule, created(), suspended(), changed({ enabled: true }))
      .when(suspend())
      .records(suspended()));
  test('records nothing for a rule that is off, deleted or absent', () => {
    given(alertRule, created({ enabled: false }))
      .when(suspend())
      .records();
    given(alertRule, created(), ruleSuspended).when(suspend()).records();
    given(alertRule, created(), deleted).when(suspend()).records();
    given(alertRule).when(suspend()).records();
  });
  test('records nothing for a channel that the rule does not have', () =>
    given(alertRule, created()).when(suspend('chat')).records());
});

describe('deleteAlertRule', () => {
  test('deletes the rule', () => given(alertRule, created()).when(remove).records(deleted));
  test('records nothing when the rule does not exist', () => given(alertRule).when(remove).records());
});

describe('the state of a rule', () => {
  const after = (...events: readonly AlertRuleEvent[]) => events.reduce(alertRule.evolve, alertRule.initial);
  test('is active only while it sends on a channel', () => {
    expect(isActive(after(created()))).toBe(true);
    expect(isActive(after(created({ enabled: false })))).toBe(false);
    expect(isActive(after(created(), suspended()))).toBe(false);
    expect(isActive(after(created({ email: true }), suspended()))).toBe(true);
    expect(isActive(after(created({ email: true }), ruleSuspended))).toBe(false);
    expect(isActive(after(created(), suspended(), changed({ enabled: true })))).toBe(true);
    expect(isActive(after(created(), deleted))).toBe(false);
    expect(isActive(after())).toBe(false);
  });
  test('has suspended channels until the rule is enabled or their address is set', () => {
    const both = [created({ email: true, chat: CHAT }), suspended(), suspended('chat')] as const;
    const [webhook, chat] = [suspension('webhook'), suspension('chat')];
    const expectAfter = (changes: AlertRuleChange, left: object, sendsOn: readonly string[]) => {
      const state = after(...both, changed(changes));
      expect(state?.suspended).toEqual(left);
      expect(sendingChannelsOf(state)).toEqual(sendsOn);
    };
    expectAfter({ name: 'x' }, { webhook, chat }, ['email']);
    expectAfter({ enabled: false }, { webhook, chat }, []);
    expectAfter({ enabled: true }, { webhook: null, chat: null }, ['email', 'webhook', 'chat']);
    expectAfter({ webhook_url: settings.webhook_url }, { webhook: null, chat }, ['email', 'webhook']);
    expectAfter({ webhook_url: null }, { webhook: null, chat }, ['email']);
    expectAfter({ chat: CHAT }, { webhook, chat: null }, ['email', 'chat']);
    expect(after(...both)?.enabled).toBe(true);
  });
  test('stays off after a suspension of all channels until it is enabled', () => {
    const before = after(created({ email: true }), ruleSuspended, changed({ name: 'x' }));
    expect(before).toMatchObject({ enabled: false, suspended: { webhook: suspension('webhook') } });
    const mended = after(created(), ruleSuspended, changed({ webhook_url: 'https://two.example/' }));
    expect(mended).toMatchObject({ enabled: false, suspended: { webhook: null } });
    const again = after(created({ email: true }), ruleSuspended, changed({ enabled: true }));
    expect(sendingChannelsOf(again)).toEqual(['email', 'webhook']);
  });
  test('lists its channels', () => {
    expect(channelsOf(settings)).toEqual(['webhook']);
    expect(channelsOf({ email: true, webhook_url: null, chat: CHAT })).toEqual(['email', 'chat']);
  });
});

describe('any sequence of commands to a rule', () => {
  const brandIds = fc.array(fc.constantFrom(...BRANDS, 'brand z'), { minLength: 1, maxLength: 4 });
  const url = fc.constantFrom(null, 'https://one.example/', 'https://two.example/');
  const channels = {
    email: fc.boolean(),
    webhook_url: url,
    chat: fc.constantFrom(null, CHAT, { ...CHAT, fingerprint: 'e'.repeat(64) }),
  };
  const changes = fc.record(
    { ...channels, brand_ids: brandIds, enabled: fc.boolean() },
    { requiredKeys: [] },
  );
  const decision = fc.oneof(
    fc.record({ ...channels, brand_ids: brandIds }).map((more) => create(more)),
    changes.map((one) => change(one)),
    fc.constantFrom(suspend(), suspend('chat')),
    fc.constant(remove),
  );
  const decided = (state: AlertRuleState, decide: (state: AlertRuleState) => readonly AlertRuleEvent[]) => {
    try {
      return decide(state);
    } catch (error) {
      if (error instanceof Refusal) return [];
      throw error;
    }
  };

  test('keeps a channel, keeps brands sorted, records each command once, and never revives a deleted rule', () => {
    const requested = fc.array(decision, { maxLength: 12 });
    fc.assert(
      fc.property(requested, (decisions) => {
        let state: AlertRuleState = null;
        for (const decide of decisions) {
          const before: AlertRuleState = state;
          state = decided(before, decide).reduce(alertRule.evolve, before);
          expect(decided(state, decide)).toEqual([]);
          if (!state) continue;
          expect(channelsOf(state)).not.toEqual([]);
          expect(state.brand_ids).toEqual([...new Set(state.brand_ids)].toSorted());
          expect(state.brand_ids).not.toContain('brand z');
          if (before?.status === 'deleted') expect(state).toBe(before);
          if (state.status === 'deleted') continue;
          const { webhook, chat } = state.suspended;
          const givenUp: string[] = [...(webhook ? ['webhook'] : []), ...(chat ? ['chat'] : [])];
          expect(channelsOf(state)).toEqual(expect.arrayContaining(givenUp));
          expect(sendingChannelsOf(state)).toEqual(
            state.enabled ? channelsOf(state).filter((channel) => !givenUp.includes(channel)) : [],
          );
        }
      }),
    );
  });
});

describe('webhook secrets', () => {
  const secret = (fingerprint: string) => ({ workspace_id: 'ws_1', fingerprint, at: AT });
  const issued = (fingerprint: string): WebhookSecretEvent => ({
    type: 'WebhookSecretIssued',
    data: { workspace_id: 'ws_1', fingerprint, issued_at: AT },
  });
  test('issues the first secret once', () => {
    given(webhookSecret)
      .when(issueFirstWebhookSecret(secret('one')))
      .records(issued('one'));
    given(webhookSecret, issued('one'))
      .when(issueFirstWebhookSecret(secret('two')))
      .records();
  });
  test('replaces a secret with another one', () => {
    given(webhookSecret)
      .when(issueWebhookSecret(secret('one')))
      .records(issued('one'));
    given(webhookSecret, issued('one'))
      .when(issueWebhookSecret(secret('two')))
      .records(issued('two'));
  });
});
