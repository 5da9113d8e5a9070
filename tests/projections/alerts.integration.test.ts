import { describe, test } from 'vitest';
import {
  AlertChannel,
  type DeliveryKind,
  DeliveryStatus,
  type EndpointChannel,
} from '#contracts/values/alerts.ts';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import {
  type AlertRuleEvent,
  type AlertRuleSettings,
  alertRuleStream,
} from '#contracts/events/workspace/alert-rule.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { alertDeliveries } from '#projections/alert-deliveries/project.ts';
import {
  type DeliveryFilter,
  listAlertDeliveries,
  searchAlertDeliveries,
} from '#projections/alert-deliveries/read.ts';
import { alerts } from '#projections/alerts/project.ts';
import { countAlerts, listAlerts } from '#projections/alerts/read.ts';
import { given, type GivenEvent } from '../dsl/projections.ts';

const workspace_id = 'ws_1';
const page = { limit: 100, after: null };
const id = (n: number): string => `0000000${n}-0000-4000-8000-000000000000`;
const at = (minute: number): string => `2026-11-20T09:${String(minute).padStart(2, '0')}:00.000Z`;

const settings: AlertRuleSettings = {
  name: 'Launches',
  trigger: 'new_ads',
  brand_ids: [id(8), id(9)],
  cadence: 'instant',
  email: false,
  webhook_url: 'https://hooks.shop.example/in',
  chat: null,
  enabled: true,
};
const ofRule = (n: number, event: AlertRuleEvent): GivenEvent => ({
  stream: alertRuleStream(workspace_id, id(n)),
  event,
});
const rule = (n: number) => ({ workspace_id, alert_id: id(n) });
const created = (n: number, minute: number): GivenEvent =>
  ofRule(n, {
    type: 'AlertRuleCreated',
    data: { ...rule(n), ...settings, member_id: 'ada', created_at: at(minute) },
  });
const changed = (n: number, minute: number, changes: Partial<AlertRuleSettings>): GivenEvent =>
  ofRule(n, { type: 'AlertRuleChanged', data: { ...rule(n), changes, changed_at: at(minute) } });
const suspension = (channel: EndpointChannel, minute: number) => ({
  channel,
  failing_since: at(0),
  suspended_at: at(minute),
});
const suspended = (
  n: number,
  minute: number,
  channel: EndpointChannel = 'chat',
  type: 'AlertChannelSuspended' | 'AlertRuleSuspended' = 'AlertChannelSuspended',
): GivenEvent => ofRule(n, { type, data: { ...rule(n), ...suspension(channel, minute) } });
const deleted = (n: number, minute: number): GivenEvent =>
  ofRule(n, { type: 'AlertRuleDeleted', data: { ...rule(n), deleted_at: at(minute) } });

const listed = async (db: ReadDatabase): Promise<unknown> =>
  (await listAlerts(db, workspace_id, page)).items.map((text) => JSON.parse(text) as unknown);

const shownAs = (n: number, minute: number) => ({
  id: id(n),
  ...settings,
  sends_on: ['webhook'],
  suspended: [],
  created_by: 'ada',
  created_at: at(minute),
  updated_at: at(minute),
});

describe('alerts', () => {
  test('lists alerts as created and changed, newest first, without the chat address', () =>
    given([
      created(1, 0),
      created(2, 1),
      changed(1, 2, { chat: { host: 'chat.example', fingerprint: 'f'.repeat(64) }, webhook_url: null }),
      changed(2, 3, { name: 'Starts', brand_ids: [id(7)] }),
      changed(1, 4, { enabled: false }),
    ])
      .into(alerts)
      .shows(listed, [
        { ...shownAs(2, 1), name: 'Starts', brand_ids: [id(7)], updated_at: at(3) },
        {
          ...shownAs(1, 0),
          chat: { host: 'chat.example' },
          webhook_url: null,
          enabled: false,
          sends_on: [],
          updated_at: at(4),
        },
      ]));

  test('shows limits only while they are set', () => {
    const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Vienna' };
    const limits = { threshold: 3, quiet_hours, max_per_day: 2 };
    return given([
      created(1, 0),
      created(2, 1),
      changed(1, 2, limits),
      changed(2, 3, limits),
      changed(2, 4, { threshold: null, quiet_hours: null, max_per_day: null }),
    ])
      .into(alerts)
      .shows(listed, [
        { ...shownAs(2, 1), updated_at: at(4) },
        { ...shownAs(1, 0), ...limits, updated_at: at(2) },
      ]);
  });

  test('shows a suspended channel until it is enabled or gets a new address', () => {
    const chat = { host: 'chat.example', fingerprint: 'f'.repeat(64) };
    const all = (n: number, minute: number) => [
      created(n, minute),
      changed(n, minute, { email: true, chat }),
      suspended(n, 5, 'webhook'),
      suspended(n, 6),
    ];
    const shown = (n: number, minute: number, more: object) => ({
      ...shownAs(n, minute),
      email: true,
      chat: { host: 'chat.example' },
      ...more,
    });
    const [webhook, chatTool] = [suspension('webhook', 5), suspension('chat', 6)];
    return given([
      ...[1, 2, 3, 4, 5].flatMap((n) => all(n, n - 1)),
      changed(1, 7, { email: false }),
      changed(2, 7, { webhook_url: settings.webhook_url }),
      changed(3, 7, { chat: null }),
      changed(4, 7, { enabled: true }),
      changed(5, 7, { enabled: false }),
    ])
      .into(alerts)
      .shows(listed, [
        shown(5, 4, { enabled: false, sends_on: [], suspended: [webhook, chatTool], updated_at: at(7) }),
        shown(4, 3, { sends_on: ['email', 'webhook', 'chat'], updated_at: at(7) }),
        shown(3, 2, { chat: null, sends_on: ['email'], suspended: [webhook], updated_at: at(7) }),
        shown(2, 1, { sends_on: ['email', 'webhook'], suspended: [chatTool], updated_at: at(7) }),
        shown(1, 0, { email: false, sends_on: [], suspended: [webhook, chatTool], updated_at: at(7) }),
      ]);
  });

  test('shows an alert suspended, enabled again, and omits it once deleted', () =>
    given([
      created(1, 0),
      created(2, 1),
      created(3, 2),
      suspended(1, 3, 'webhook', 'AlertRuleSuspended'),
      suspended(2, 4, 'webhook', 'AlertRuleSuspended'),
      changed(2, 5, { enabled: true }),
      changed(1, 6, { name: 'Starts' }),
      deleted(3, 7),
    ])
      .into(alerts)
      .shows(
        async (db) => [await countAlerts(db, workspace_id), await listed(db)],
        [
          2,
          [
            { ...shownAs(2, 1), updated_at: at(5) },
            {
              ...shownAs(1, 0),
              name: 'Starts',
              enabled: false,
              sends_on: [],
              suspended: [suspension('webhook', 3)],
              updated_at: at(6),
            },
          ],
        ],
      ));
});

const delivery = (n: number, d: number) => ({ ...rule(n), delivery_id: id(d) });
const ofDelivery = (n: number, event: AlertDeliveryEvent): GivenEvent => ({
  stream: alertDeliveryStream(workspace_id, id(n)),
  event,
});
const queued = (n: number, d: number, minute: number, kind: DeliveryKind = 'alert'): GivenEvent =>
  ofDelivery(n, {
    type: 'DeliveryQueued',
    data: {
      ...delivery(n, d),
      channel: 'webhook',
      kind,
      queued_at: at(minute),
      payload: {
        id: id(d),
        type: 'alert.matched',
        kind,
        created_at: at(minute),
        workspace_id,
        alert: { id: id(n), name: 'Launches', trigger: 'new_ads', cadence: 'instant' },
        period: null,
        items_total: 3,
        items: [],
        as_of: at(minute),
      },
    },
  });
const answer = (
  attempt: number,
  minute: number,
  outcome: 'delivered' | 'retrying' | 'failed',
  next: number | null = null,
) => ({
  attempt,
  attempted_at: at(minute),
  outcome,
  failure: outcome === 'delivered' ? null : ('http' as const),
  status_code: outcome === 'delivered' ? 200 : 503,
  reason: outcome === 'delivered' ? null : 'The receiver answered 503.',
  duration_ms: 12,
  next_attempt_at: next === null ? null : at(next),
});
const attempted = (n: number, d: number, ...of: Parameters<typeof answer>): GivenEvent =>
  ofDelivery(n, { type: 'DeliveryAttempted', data: { ...delivery(n, d), ...answer(...of) } });
const cancelled = (n: number, d: number, minute: number): GivenEvent =>
  ofDelivery(n, {
    type: 'DeliveryCancelled',
    data: { ...delivery(n, d), reason: 'The rule is off.', cancelled_at: at(minute) },
  });
const replayed = (n: number, d: number, minute: number): GivenEvent =>
  ofDelivery(n, { type: 'DeliveryReplayed', data: { ...delivery(n, d), replayed_at: at(minute) } });

const sent = (alertId?: string) => async (db: ReadDatabase) =>
  (await listAlertDeliveries(db, workspace_id, alertId, page)).items.map(
    (text) => JSON.parse(text) as unknown,
  );
const shown = (n: number, d: number, minute: number, more: object) => ({
  id: id(d),
  alert_id: id(n),
  channel: 'webhook',
  kind: 'alert',
  status: 'queued',
  items_total: 3,
  created_at: at(minute),
  next_attempt_at: null,
  finished_at: null,
  reason: null,
  attempts_total: 0,
  attempts: [],
  ...more,
});

describe('alert-deliveries', () => {
  const queuedOnly = shown(2, 4, 3, {});
  const delivered = shown(1, 5, 2, {
    status: 'delivered',
    finished_at: at(6),
    attempts_total: 2,
    attempts: [answer(1, 3, 'retrying', 5), answer(2, 6, 'delivered')],
  });
  const retrying = shown(1, 6, 1, {
    status: 'retrying',
    next_attempt_at: at(9),
    reason: 'The receiver answered 503.',
    attempts_total: 1,
    attempts: [answer(1, 4, 'retrying', 9)],
  });
  const events = [
    created(1, 0),
    queued(1, 6, 1),
    queued(1, 5, 2),
    queued(2, 4, 3),
    attempted(1, 5, 1, 3, 'retrying', 5),
    attempted(1, 6, 1, 4, 'retrying', 9),
    attempted(1, 5, 2, 6, 'delivered'),
  ];
  test('lists deliveries of all rules, newest first, with their attempts', () =>
    given(events).into(alertDeliveries).shows(sent(), [queuedOnly, delivered, retrying]));
  test('lists deliveries of one rule', () =>
    given(events)
      .into(alertDeliveries)
      .shows(sent(id(1)), [delivered, retrying]));

  const idsOf =
    (filter: Partial<DeliveryFilter>) =>
    async (db: ReadDatabase): Promise<readonly string[]> => {
      const any = {
        workspaceId: workspace_id,
        statuses: DeliveryStatus.options,
        channels: AlertChannel.options,
      };
      const { items } = await searchAlertDeliveries(db, { ...any, ...filter }, page);
      return items.map((text) => (JSON.parse(text) as { id: string }).id);
    };
  test.each<[string, Partial<DeliveryFilter>, readonly number[]]>([
    ['nothing', {}, [4, 5, 6]],
    ['a status that only their first event gave them', { statuses: ['queued'] }, [4]],
    ['several statuses', { statuses: ['delivered', 'retrying'] }, [5, 6]],
    ['a status that none has', { statuses: ['cancelled'] }, []],
    ['their channel', { channels: ['webhook'] }, [4, 5, 6]],
    ['another channel', { channels: ['chat', 'email'] }, []],
    ['rule and status', { alertId: id(1), statuses: ['queued', 'retrying'] }, [6]],
    ['times, of which the first is included', { since: at(2), until: at(3) }, [5]],
    ['another workspace', { workspaceId: 'ws_2' }, []],
  ])('searches deliveries by %s', (_name, filter, ids) =>
    given(events).into(alertDeliveries).shows(idsOf(filter), ids.map(id)),
  );
  test('searches deliveries by the status after a replay and a cancellation', () =>
    given([...events, replayed(1, 5, 7), cancelled(2, 4, 8)])
      .into(alertDeliveries)
      .shows(
        async (db) => [
          await idsOf({ statuses: ['queued'] })(db),
          await idsOf({ statuses: ['cancelled'] })(db),
          await idsOf({ statuses: ['delivered'] })(db),
        ],
        [[id(5)], [id(4)], []],
      ));
  test('searches a delivery whose first event was recorded after its outcome', () =>
    given([attempted(1, 5, 1, 3, 'failed'), queued(1, 5, 2)])
      .into(alertDeliveries)
      .shows(idsOf({ statuses: ['failed'] }), [id(5)]));

  test('shows failed, cancelled and replayed deliveries', () => {
    const failed = { finished_at: at(2), attempts_total: 1, attempts: [answer(1, 2, 'failed')] };
    return given([
      queued(1, 3, 0, 'digest'),
      queued(1, 2, 0),
      queued(1, 1, 0, 'test'),
      attempted(1, 3, 1, 2, 'failed'),
      attempted(1, 2, 1, 2, 'failed'),
      cancelled(1, 1, 3),
      replayed(1, 2, 4),
    ])
      .into(alertDeliveries)
      .shows(sent(), [
        shown(1, 3, 0, {
          ...failed,
          kind: 'digest',
          status: 'failed',
          reason: 'The receiver answered 503.',
        }),
        shown(1, 2, 0, { ...failed, finished_at: null }),
        shown(1, 1, 0, {
          kind: 'test',
          status: 'cancelled',
          reason: 'The rule is off.',
          finished_at: at(3),
        }),
      ]);
  });

  test('removes deliveries of a deleted rule, even if their outcome arrives later', () =>
    given([
      created(1, 0),
      queued(1, 5, 1),
      queued(2, 4, 2),
      attempted(1, 5, 1, 3, 'retrying', 5),
      deleted(1, 4),
      attempted(1, 5, 2, 5, 'delivered'),
      queued(1, 6, 6),
      attempted(2, 4, 1, 7, 'delivered'),
    ])
      .into(alertDeliveries)
      .shows(
        async (db) => [
          await sent()(db),
          await db.slow({
            sql: 'select * from alert_deliveries.outcome where alert_id = $1',
            values: [id(1)],
          }),
          await db.slow({
            sql: 'select * from alert_deliveries.attempt where alert_id = $1',
            values: [id(1)],
          }),
        ],
        [
          [
            shown(2, 4, 2, {
              status: 'delivered',
              finished_at: at(7),
              attempts_total: 1,
              attempts: [answer(1, 7, 'delivered')],
            }),
          ],
          [],
          [],
        ],
      ));

  test('shows only the latest attempts of a delivery with many attempts', () => {
    const many = Array.from({ length: 35 }, (_, index) => index + 1);
    return given([
      queued(1, 1, 0),
      ...many.map((attempt) => attempted(1, 1, attempt, attempt, 'retrying', attempt + 1)),
    ])
      .into(alertDeliveries)
      .shows(
        async (db) => {
          const [one] = (await sent()(db)) as { attempts_total: number; attempts: { attempt: number }[] }[];
          return [one?.attempts_total, one?.attempts.map(({ attempt }) => attempt)];
        },
        [35, many.slice(5)],
      );
  });
});
