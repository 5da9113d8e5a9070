import type { AlertCadence, AlertChannel, AlertTrigger, EndpointChannel } from '#contracts/values/alerts.ts';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type {
  AlertRuleEvent,
  AlertRuleSettings,
  SealedAddress,
  Suspension,
} from '#contracts/events/workspace/alert-rule.ts';
import { ALERT_RULES_MAX } from '#contracts/resources/workspace/alert.ts';

/** Channels that the service gave up. Enabling the rule, or giving the channel an address, ends that. */
export type Suspensions = Readonly<Record<EndpointChannel, Suspension | null>>;
const NONE: Suspensions = { webhook: null, chat: null };

/** Stream `alertRule-<workspaceId>+<alertId>`: one rule. A deleted one stays known as such. */
export type AlertRule = AlertRuleSettings & {
  readonly workspace_id: string;
  readonly alert_id: string;
  /** Who created it, and whom its e-mails go to. */
  readonly member_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: 'present' | 'deleted';
  readonly suspended: Suspensions;
};
export type AlertRuleState = AlertRule | null;

const initial = null as AlertRuleState;

/** Whatever is named is meant afresh, also where it is as it was. */
const stillSuspended = (suspended: Suspensions, changes: Partial<AlertRuleSettings>): Suspensions =>
  changes.enabled === true
    ? NONE
    : {
        webhook: changes.webhook_url === undefined ? suspended.webhook : null,
        chat: changes.chat === undefined ? suspended.chat : null,
      };

const suspend = (state: AlertRule, { channel, failing_since, suspended_at }: Suspension): AlertRule => {
  const suspended = { ...state.suspended, [channel]: { channel, failing_since, suspended_at } };
  return { ...state, updated_at: suspended_at, suspended };
};

const evolve = (state: AlertRuleState, event: AlertRuleEvent): AlertRuleState => {
  if (event.type === 'AlertRuleCreated') {
    const rule = { ...event.data, updated_at: event.data.created_at };
    return { ...rule, status: 'present', suspended: NONE };
  }
  if (!state) return state;
  switch (event.type) {
    case 'AlertRuleChanged': {
      const { changes, changed_at } = event.data;
      const suspended = stillSuspended(state.suspended, changes);
      return { ...state, ...changes, suspended, updated_at: changed_at };
    }
    case 'AlertChannelSuspended':
      return suspend(state, event.data);
    case 'AlertRuleSuspended':
      return { ...suspend(state, event.data), enabled: false };
    case 'AlertRuleDeleted':
      return { ...state, status: 'deleted' };
  }
};

export const alertRule = { initial, evolve };

type Channels = Pick<AlertRuleSettings, 'email' | 'webhook_url' | 'chat'>;

export const channelsOf = ({ email, webhook_url, chat }: Channels): readonly AlertChannel[] => [
  ...(email ? (['email'] as const) : []),
  ...(webhook_url === null ? [] : (['webhook'] as const)),
  ...(chat === null ? [] : (['chat'] as const)),
];

/** Those that what it matches now is to be sent on. */
export const sendingChannelsOf = (rule: AlertRuleState): readonly AlertChannel[] =>
  rule?.enabled && rule.status === 'present'
    ? channelsOf(rule).filter((channel) => channel === 'email' || rule.suspended[channel] === null)
    : [];

/** Whether what it matches now is to be sent at all. */
export const isActive = (rule: AlertRuleState): rule is AlertRule => sendingChannelsOf(rule).length > 0;

export const requireAlertRule = (state: AlertRuleState): AlertRule => {
  if (state === null || state.status === 'deleted') throw new Refusal('not_found', 'There is no such rule.');
  return state;
};

const refuse = (details: readonly ErrorDetail[]): never => {
  throw new Refusal('invalid_input', 'The rule cannot be as asked for; see details.', details);
};

const requireTracked = (brandIds: readonly string[], tracked: ReadonlySet<string>): void => {
  const details = brandIds.flatMap((brandId, index): ErrorDetail[] =>
    tracked.has(brandId)
      ? []
      : [
          {
            path: `brand_ids.${index}`,
            message: `The brand ${brandId} is not tracked. Track it first.`,
            code: 'not_tracked',
          },
        ],
  );
  if (details.length > 0) refuse(details);
};

const requireChannel = (channels: Channels): void => {
  if (channelsOf(channels).length > 0) return;
  const message = 'A rule answers on at least one of `email`, `webhook_url` and `chat_webhook_url`.';
  refuse([{ path: '', message, code: 'no_channel' }]);
};

/** Each once and in one order, however they were given. */
const settled = (brandIds: readonly string[]): readonly string[] => [...new Set(brandIds)].toSorted();

type Named = { readonly workspace_id: string; readonly alert_id: string; readonly at: string };

/** `tracked`: what the workspace follows now. `rules`: how many it has. */
export const createAlertRule =
  (
    input: Named & {
      readonly settings: AlertRuleSettings;
      readonly member_id: string;
      readonly tracked: ReadonlySet<string>;
      readonly rules: number;
    },
  ) =>
  (state: AlertRuleState): readonly AlertRuleEvent[] => {
    if (state) return [];
    const { workspace_id, alert_id, settings, member_id, tracked, rules, at } = input;
    requireTracked(settings.brand_ids, tracked);
    requireChannel(settings);
    if (rules >= ALERT_RULES_MAX) {
      throw new Refusal('limit_reached', `A workspace has at most ${ALERT_RULES_MAX} rules. Delete some.`);
    }
    const created = { ...settings, brand_ids: settled(settings.brand_ids), member_id, created_at: at };
    return [{ type: 'AlertRuleCreated', data: { workspace_id, alert_id, ...created } }];
  };

/** What is not named stays. */
export type AlertRuleChange = {
  readonly name?: string;
  readonly trigger?: AlertTrigger;
  readonly brand_ids?: readonly string[];
  readonly cadence?: AlertCadence;
  readonly email?: boolean;
  readonly webhook_url?: string | null;
  readonly chat?: SealedAddress | null;
  readonly enabled?: boolean;
};

const isSame = (before: unknown, after: unknown): boolean => JSON.stringify(before) === JSON.stringify(after);

const changesOf = (before: AlertRule, named: AlertRuleChange): Partial<AlertRuleSettings> => {
  const { suspended } = before;
  return Object.fromEntries(
    Object.entries(named).filter(([name, value]) => {
      if (value === undefined) return false;
      const endsSuspension = !isSame(stillSuspended(suspended, { [name]: value }), suspended);
      return endsSuspension || !isSame(before[name as keyof AlertRuleChange], value);
    }),
  );
};

/** Brands that a rule has and that were untracked since are no reason to refuse a change of something else. */
export const changeAlertRule =
  (input: Named & { readonly change: AlertRuleChange; readonly tracked: ReadonlySet<string> }) =>
  (state: AlertRuleState): readonly AlertRuleEvent[] => {
    const { workspace_id, alert_id, change, tracked, at } = input;
    const before = requireAlertRule(state);
    const { brand_ids, ...others } = change;
    if (brand_ids) requireTracked(brand_ids, tracked);
    requireChannel({ ...before, ...change });
    const named = { ...others, ...(brand_ids ? { brand_ids: settled(brand_ids) } : {}) };
    const changes = changesOf(before, named);
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'AlertRuleChanged', data: { workspace_id, alert_id, changes, changed_at: at } }];
  };

/** A channel that nothing is sent on needs no suspending. */
export const suspendAlertChannel =
  (input: Named & Pick<Suspension, 'channel' | 'failing_since'>) =>
  (state: AlertRuleState): readonly AlertRuleEvent[] => {
    if (!sendingChannelsOf(state).includes(input.channel)) return [];
    const { at, ...suspended } = input;
    return [{ type: 'AlertChannelSuspended', data: { ...suspended, suspended_at: at } }];
  };

/** Deleting what is not there is already so. */
export const deleteAlertRule =
  ({ workspace_id, alert_id, at }: Named) =>
  (state: AlertRuleState): readonly AlertRuleEvent[] => {
    if (state === null || state.status === 'deleted') return [];
    return [{ type: 'AlertRuleDeleted', data: { workspace_id, alert_id, deleted_at: at } }];
  };
