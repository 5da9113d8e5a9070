import type { AlertChannel, EndpointChannel } from '#contracts/values/alerts.ts';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type {
  AlertRuleEvent,
  AlertRuleSettings,
  Suspension,
} from '#contracts/events/workspace/alert-rule.ts';
import { ALERT_RULES_MAX } from '#contracts/resources/workspace/alert.ts';
import { type Decider, jsonSnapshot } from '#domain/decider.ts';

/** Aggregate alert rule, stream `alertRule-<workspaceId>+<alertId>`: the settings of one rule and its suspensions. */

export type Suspensions = Readonly<Record<EndpointChannel, Suspension | null>>;
const NO_SUSPENSIONS: Suspensions = { webhook: null, chat: null };

export type AlertRule = AlertRuleSettings & {
  readonly workspace_id: string;
  readonly alert_id: string;
  readonly member_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: 'present' | 'deleted';
  readonly suspended: Suspensions;
};
export type AlertRuleState = AlertRule | null;

const initial = null as AlertRuleState;

/** A field in `changes` ends a suspension even with an unchanged value. */
const remainingSuspensions = (suspended: Suspensions, changes: Partial<AlertRuleSettings>): Suspensions =>
  changes.enabled === true
    ? NO_SUSPENSIONS
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
    return { ...rule, status: 'present', suspended: NO_SUSPENSIONS };
  }
  if (!state) return state;
  switch (event.type) {
    case 'AlertRuleChanged': {
      const { changes, changed_at } = event.data;
      const suspended = remainingSuspensions(state.suspended, changes);
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

export const alertRule: Decider<AlertRuleState, AlertRuleEvent> = {
  initial,
  evolve,
  snapshot: jsonSnapshot(1),
};

type Channels = Pick<AlertRuleSettings, 'email' | 'webhook_url' | 'chat'>;

export const channelsOf = ({ email, webhook_url, chat }: Channels): readonly AlertChannel[] => [
  ...(email ? (['email'] as const) : []),
  ...(webhook_url === null ? [] : (['webhook'] as const)),
  ...(chat === null ? [] : (['chat'] as const)),
];

/** Omits suspended channels; empty when the rule is off or deleted. */
export const sendingChannelsOf = (rule: AlertRuleState): readonly AlertChannel[] =>
  rule?.enabled && rule.status === 'present'
    ? channelsOf(rule).filter((channel) => channel === 'email' || rule.suspended[channel] === null)
    : [];

export const isActive = (rule: AlertRuleState): rule is AlertRule => sendingChannelsOf(rule).length > 0;

/** Throws `not_found` when it does not exist or is deleted. */
export const requireAlertRule = (state: AlertRuleState): AlertRule => {
  if (state === null || state.status === 'deleted') throw new Refusal('not_found', 'Alert rule not found.');
  return state;
};

const refuse = (details: readonly ErrorDetail[]): never => {
  throw new Refusal('invalid_input', 'The alert rule is invalid; see `details`.', details);
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
  const message = 'A rule needs at least one channel: set `email`, `webhook_url` or `chat_webhook_url`.';
  refuse([{ path: '', message, code: 'no_channel' }]);
};

/** An instant alert on activity is one signal, so it would never reach a threshold. */
const requireReachable = ({ trigger, cadence, threshold }: AlertRuleSettings): void => {
  if (!threshold || trigger !== 'activity' || cadence !== 'instant') return;
  const message =
    'An instant alert on activity has one signal, which reaches no threshold. Set `cadence` to `daily` or `weekly`.';
  refuse([{ path: 'threshold', message, code: 'never_reached' }]);
};

const normalizeBrandIds = (brandIds: readonly string[]): readonly string[] =>
  [...new Set(brandIds)].toSorted();

type Command = { readonly workspace_id: string; readonly alert_id: string; readonly at: string };

const withoutUnsetLimits = ({ threshold, quiet_hours, max_per_day, ...settings }: AlertRuleSettings) => ({
  ...settings,
  ...(threshold ? { threshold } : {}),
  ...(quiet_hours ? { quiet_hours } : {}),
  ...(max_per_day ? { max_per_day } : {}),
});

/** `tracked`: ids of the tracked brands. `rules`: number of rules of the workspace. */
export const createAlertRule =
  (
    input: Command & {
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
    requireReachable(settings);
    if (rules >= ALERT_RULES_MAX) {
      throw new Refusal(
        'limit_reached',
        `A workspace can have at most ${ALERT_RULES_MAX} rules. Delete some.`,
      );
    }
    const created = {
      ...withoutUnsetLimits(settings),
      brand_ids: normalizeBrandIds(settings.brand_ids),
      member_id,
      created_at: at,
    };
    return [{ type: 'AlertRuleCreated', data: { workspace_id, alert_id, ...created } }];
  };

export type AlertRuleChange = Partial<AlertRuleSettings>;

const isSame = (before: unknown, after: unknown): boolean => JSON.stringify(before) === JSON.stringify(after);

/** Also returns unchanged fields that end a suspension. */
const changesOf = (before: AlertRule, requested: AlertRuleChange): Partial<AlertRuleSettings> => {
  const { suspended } = before;
  return Object.fromEntries(
    Object.entries(requested).filter(([name, value]) => {
      if (value === undefined) return false;
      const endsSuspension = !isSame(remainingSuspensions(suspended, { [name]: value }), suspended);
      return endsSuspension || !isSame(before[name as keyof AlertRuleChange] ?? null, value);
    }),
  );
};

/** Checks only brands in the request: a later untracked brand must not block other changes. */
export const changeAlertRule =
  (input: Command & { readonly change: AlertRuleChange; readonly tracked: ReadonlySet<string> }) =>
  (state: AlertRuleState): readonly AlertRuleEvent[] => {
    const { workspace_id, alert_id, change, tracked, at } = input;
    const before = requireAlertRule(state);
    const { brand_ids, ...others } = change;
    if (brand_ids) requireTracked(brand_ids, tracked);
    requireChannel({ ...before, ...change });
    requireReachable({ ...before, ...change });
    const requested = { ...others, ...(brand_ids ? { brand_ids: normalizeBrandIds(brand_ids) } : {}) };
    const changes = changesOf(before, requested);
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'AlertRuleChanged', data: { workspace_id, alert_id, changes, changed_at: at } }];
  };

/** Records nothing when the rule sends nothing on the channel. */
export const suspendAlertChannel =
  (input: Command & Pick<Suspension, 'channel' | 'failing_since'>) =>
  (state: AlertRuleState): readonly AlertRuleEvent[] => {
    if (!sendingChannelsOf(state).includes(input.channel)) return [];
    const { at, ...suspended } = input;
    return [{ type: 'AlertChannelSuspended', data: { ...suspended, suspended_at: at } }];
  };

export const deleteAlertRule =
  ({ workspace_id, alert_id, at }: Command) =>
  (state: AlertRuleState): readonly AlertRuleEvent[] => {
    if (state === null || state.status === 'deleted') return [];
    return [{ type: 'AlertRuleDeleted', data: { workspace_id, alert_id, deleted_at: at } }];
  };
