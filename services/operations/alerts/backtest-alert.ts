import {
  AlertBacktest,
  BACKTEST_DAYS,
  BACKTEST_EXAMPLES_MAX,
  BACKTEST_ITEMS_MAX,
} from '#contracts/resources/workspace/alert-backtest.ts';
import { CreateAlert } from '#contracts/resources/workspace/alert.ts';
import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import { BACKTEST_EVENTS_MAX, type Backtest, backtestRule } from '#application/alerts/backtest.ts';
import type { SentMatch } from '#application/alerts/rule-replay.ts';
import {
  alertRule,
  createAlertRule,
  requireAlertRule,
  sendingChannelsOf,
} from '#domain/workspace/alert/rule-decider.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noQuery, workspaceParams } from '../endpoint/parameters.ts';
import { trackedBrandIds } from '../tracked-brands.ts';
import { ALERT_ID, alertPayload, createAlertExample, PLACEHOLDER_ADDRESS, requireTargets } from './rules.ts';

const daysOf = (sent: readonly SentMatch[], channels: number): AlertBacktest['days'] =>
  [...Map.groupBy(sent, ({ due }) => utcDate(due))].map(([date, ofDay]) => ({
    date,
    deliveries: ofDay.length * channels,
    items: ofDay.reduce((sum, { matched }) => sum + matched.items_total, 0),
  }));

const exampleOf = ({ kind, at, matched }: SentMatch): AlertBacktest['examples'][number] => ({
  kind,
  at,
  items_total: matched.items_total,
  items: matched.items.slice(0, BACKTEST_ITEMS_MAX),
});

const shownBacktest = (
  { sent, events, eventsBefore, eventsUnread }: Backtest,
  channels: number,
): Pick<AlertBacktest, 'deliveries_total' | 'days' | 'examples' | 'events'> => ({
  deliveries_total: sent.length * channels,
  days: daysOf(sent, channels),
  examples: sent.slice(-BACKTEST_EXAMPLES_MAX).toReversed().map(exampleOf),
  events: { considered: events, older: eventsBefore, unread: eventsUnread },
});

export const backtestAlert = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/alerts/backtest',
  operationId: 'backtestAlert',
  tag: 'Alerts',
  scope: 'alerts:read',
  summary: 'Test what an alert rule would have sent',
  description: `Takes the body of a new rule, creates nothing and sends nothing. Tells what the rule would have sent in the last ${BACKTEST_DAYS} days, had it existed then and had its receivers accepted each delivery at once. A brand counts from before it was tracked, but not while it was untracked. 400 when the body would be refused for a rule, and when the brands have more than ${BACKTEST_EVENTS_MAX.toLocaleString('en')} events that matter.`,
  params: workspaceParams,
  query: noQuery,
  body: { schema: CreateAlert, example: createAlertExample },
  paramsExample: { ws: WORKSPACE_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: AlertBacktest,
    example: {
      from: '2026-08-24T09:31:00.000Z',
      to: '2026-11-22T09:31:00.000Z',
      deliveries_total: 2,
      days: [{ date: '2026-11-20', deliveries: 2, items: 1 }],
      examples: [
        { kind: 'alert', at: alertPayload.created_at, items_total: 1, items: [...alertPayload.items] },
      ],
      events: { considered: 1_204, older: 311, unread: 0 },
    },
  },
  errors: ['not_found'],
  corpus: false,
  heavy: true,
  reads: ['signals'],
  beyondContract: true,
  handler: async ({ params, body, caller }, dependencies) => {
    const { eventStore, clock, pastPlaces } = dependencies;
    const { ws: workspace_id } = params;
    const { chat_webhook_url, ...named } = requireTargets(body, dependencies);
    const until = clock.now();
    const since = new Date(until.getTime() - BACKTEST_DAYS * DAY_MS);
    const created = createAlertRule({
      workspace_id,
      alert_id: ALERT_ID,
      member_id: caller.memberId,
      at: since.toISOString(),
      settings: { ...omitUndefined(named), chat: chat_webhook_url === null ? null : PLACEHOLDER_ADDRESS },
      tracked: await trackedBrandIds(eventStore, workspace_id),
      rules: 0,
    })(alertRule.initial);
    const rule = requireAlertRule(created.reduce(alertRule.evolve, alertRule.initial));
    const backtest = await pastPlaces(workspace_id, () => backtestRule(dependencies, rule, { since, until }));
    const channels = sendingChannelsOf(rule).length;
    const data = { from: since.toISOString(), to: until.toISOString(), ...shownBacktest(backtest, channels) };
    return { data: JSON.stringify(data), asOf: null };
  },
});
