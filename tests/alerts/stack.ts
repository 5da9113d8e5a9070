import { BLANK_CONTENT, scanRecorded } from '#tests/dsl/ad-events.ts';
import { randomUUID } from 'node:crypto';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import {
  type AlertRuleEvent,
  type AlertRuleSettings,
  alertRuleStream,
} from '#contracts/events/workspace/alert-rule.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event } from '#contracts/events/event.ts';
import { type SocialPageEvent, socialPageStream } from '#contracts/events/corpus/social-page.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { derivedId } from '#domain/ids.ts';
import type { Clock } from '#platform/clock.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import type { SignalSource } from '#services/alerts/matching/pending-signal-checks.ts';
import { runAlerts } from '#services/alerts/run.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';
import { createTestDatabase, createTestEventStore } from '#tests/stack/database.ts';
import { until } from '../stack/wait-until.ts';

const POOL_CLIENTS = 4;
const LIMIT_MS = 60_000;
const WORKSPACE = 'ws_tests';
const TRACKED_AT = '2026-05-01T00:00:00.000Z';
export type Rule = { readonly workspace_id: string; readonly alert_id: string };
export type Queued = {
  readonly delivery_id: string;
  readonly alert_id: string;
  readonly channel: string;
  readonly kind: string;
  readonly status: string;
  readonly target: string;
  readonly payload: AlertPayload;
};

export type AlertsStack = AsyncDisposable & {
  readonly environment: Readonly<Record<string, string>>;
  readonly pool: Database;
  readonly eventStore: EventStore;
  /** Ids of which the delivery process was notified. */
  readonly published: string[];
  /** Appends without a revision check. */
  append(stream: string, events: readonly Event[]): Promise<bigint>;
  brand(domain: string): Promise<string>;
  rule(brandIds: readonly string[], settings?: Partial<AlertRuleSettings>): Promise<Rule>;
  change(rule: Rule, changes: Partial<AlertRuleSettings>): Promise<void>;
  suspend(rule: Rule): Promise<void>;
  delete(rule: Rule): Promise<void>;
  scan(events: readonly AdLibraryEvent[]): Promise<void>;
  link(event: SocialPageEvent): Promise<void>;
  track(brandId: string): Promise<void>;
  untrack(brandId: string): Promise<void>;
  /** `eventStoreUrl`: that of a proxy. `rulesMax`: rules that the process may have in memory. */
  start(clock?: Clock, signals?: SignalSource, eventStoreUrl?: string, rulesMax?: number): AsyncDisposable;
  matched(): Promise<void>;
  queued(rule: Rule): Promise<readonly Queued[]>;
};

export const openAlertsStack = async (): Promise<AlertsStack> => {
  const resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const server = await createTestEventStore();
  resources.defer(() => server.stop());
  const pool = openPool(database.url, POOL_CLIENTS);
  resources.defer(() => pool.end());
  const eventStore = resources.use(openEventStore(server.url));
  await createDeliveryTables(pool);
  const published: string[] = [];

  const append: AlertsStack['append'] = async (stream, events) => {
    const last = await eventStore.last(stream);
    const { position } = await eventStore.append(stream, last?.revision ?? -1n, events, METADATA, () =>
      randomUUID(),
    );
    return position;
  };
  const changeRule = async ({ workspace_id, alert_id }: Rule, event: AlertRuleEvent): Promise<void> => {
    await append(alertRuleStream(workspace_id, alert_id), [event]);
  };

  return {
    environment: { DATABASE_URL: database.url, EVENT_STORE_URL: server.url },
    pool,
    eventStore,
    published,
    append,
    brand: async (domain) => {
      const event = registered(domain, '2026-05-01T00:00:00.000Z');
      await append(brandStream(event.data.brand_id), [event]);
      return event.data.brand_id;
    },
    rule: async (brandIds, settings = {}) => {
      const rule = { workspace_id: WORKSPACE, alert_id: randomUUID() };
      const data = {
        ...rule,
        name: 'Launches',
        trigger: 'new_ads',
        brand_ids: brandIds,
        cadence: 'instant',
        email: false,
        webhook_url: 'https://hooks.shop.example/in',
        chat: null,
        enabled: true,
        member_id: 'mem_tests',
        created_at: '2026-05-01T00:00:00.000Z',
        ...settings,
      } as const;
      await changeRule(rule, { type: 'AlertRuleCreated', data });
      return rule;
    },
    change: (rule, changes) =>
      changeRule(rule, {
        type: 'AlertRuleChanged',
        data: { ...rule, changes, changed_at: '2026-05-02T00:00:00.000Z' },
      }),
    suspend: (rule) => {
      const days = { failing_since: '2026-05-01T00:00:00.000Z', suspended_at: '2026-05-06T00:00:00.000Z' };
      return changeRule(rule, {
        type: 'AlertChannelSuspended',
        data: { ...rule, channel: 'webhook', ...days },
      });
    },
    delete: (rule) =>
      changeRule(rule, {
        type: 'AlertRuleDeleted',
        data: { ...rule, deleted_at: '2026-05-02T00:00:00.000Z' },
      }),
    scan: async (events) => {
      const brandId = events[0]?.data.brand_id ?? '';
      await append(adLibraryStream(brandId), events);
    },
    link: async (event) => {
      await append(socialPageStream(event.data.page_id), [event]);
    },
    track: async (brand_id) => {
      const tracked = {
        workspace_id: WORKSPACE,
        brand_id,
        cadence: 'daily',
        tracked_at: TRACKED_AT,
      } as const;
      await append(trackingStream(WORKSPACE), [{ type: 'BrandTracked', data: tracked }]);
    },
    untrack: async (brand_id) => {
      const untracked = { workspace_id: WORKSPACE, brand_id, untracked_at: TRACKED_AT };
      await append(trackingStream(WORKSPACE), [{ type: 'BrandUntracked', data: untracked }]);
    },
    start: (clock = { now: () => new Date() }, signals, eventStoreUrl = server.url, rulesMax) => {
      const ending = new AbortController();
      const running = runAlerts({
        databaseUrl: database.url,
        eventStoreUrl,
        baseUrl: 'https://api.test',
        clock,
        log: silentLog(),
        signal: ending.signal,
        signals: signals ?? null,
        publish: (queued) => void published.push(...queued.map(({ deliveryId }) => deliveryId)),
        ...(rulesMax !== undefined && { rulesMax }),
      });
      return {
        [Symbol.asyncDispose]: async () => {
          ending.abort();
          await running;
        },
      };
    },
    matched: async () => {
      const head = await eventStore.head();
      await until('everything matched', LIMIT_MS, async () => {
        const { rows } = await pool
          .query<{ position: string }>('select position from alerting.checkpoint')
          .catch(() => ({ rows: [] }));
        return BigInt(rows[0]?.position ?? -1) >= head;
      });
    },
    queued: async ({ alert_id }) => {
      const { rows } = await pool.query<Omit<Queued, 'payload'> & { payload: Buffer }>(
        `select delivery_id, d.alert_id, d.channel, d.kind, d.status, d.target, p.payload
         from delivery.overview d join delivery.delivery p using (delivery_id)
         where d.alert_id = $1 order by (select min(seq) from delivery.journal j where j.delivery_id = d.delivery_id)`,
        [alert_id],
      );
      return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload.toString()) as AlertPayload }));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Rule as `alerting.rule` stores it, without its id. */
export const STORED_RULE = {
  workspace_id: 'ws_tests',
  name: 'Launches of the day',
  trigger: 'new_ads',
  cadence: 'daily',
  email: true,
  webhook_url: 'https://hooks.shop.example/in',
  chat: null,
  enabled: true,
  member_id: 'mem_tests',
  created_at: '2026-05-01T00:00:00.000Z',
  updated_at: '2026-05-01T00:00:00.000Z',
  status: 'present',
  suspended: { webhook: null, chat: null },
};

let nextAd = 1_000_000_000;

/** The events are in order and end with ScanRecorded. */
export const scanEvents = (
  brandId: string,
  observed_at: string,
  launches: number,
  pageId: string | null = null,
): readonly AdLibraryEvent[] => {
  const sighting = {
    brand_id: brandId,
    scan_id: derivedId('scan', `${brandId} ${observed_at}`),
    observed_at,
  };
  const ads = Array.from({ length: launches }, (_, n): AdLibraryEvent => {
    nextAd += 1;
    return {
      type: 'AdStarted',
      data: {
        ...sighting,
        ad_id: String(nextAd),
        format: 'image',
        countries: ['US'],
        started_on: observed_at.slice(0, 10),
        page_id: pageId,
        page_name: null,
        novelty: 'news',
        missing_since: null,
        collector: 'tests',
        content: { ...BLANK_CONTENT, title: `Ad ${n}`, link_url: 'https://shop.example/' },
      },
    };
  });
  const totals = { seen: launches, active: launches, total: launches, news: launches };
  return [...ads, scanRecorded(brandId, observed_at, { totals })];
};
