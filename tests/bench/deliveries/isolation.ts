import { randomUUID } from 'node:crypto';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { scanEvents } from '#tests/alerts/stack.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';
import { hangs, openReceivers } from '#tests/delivery/receivers.ts';
import { createWebhookRules, VAULT_KEY, type WebhookRule } from '#tests/delivery/webhook-rules.ts';
import { type BenchContext, percentile, scaled } from '../runner/bench.ts';
import { type BenchServers, openPlainPool, startService } from '../runner/servers.ts';

const ENDPOINTS = 50;
const DELIVERIES = scaled(2_000, 50);
const PER_SECOND = 100;
const OTHERS_PER_HANGING = 10;
const HANGING_BEFORE = 40;
const LIMIT_MS = 20_000;
const WORKSPACE_ID = 'ws_isolation';

/** Scans of a brand follow each other. */
const openRecorder = (eventStore: EventStore) => {
  const recordedMs = new Map<string, number>();
  /** Revision of a brand's stream after its last scan. */
  const ends = new Map<string, Promise<bigint>>();
  let scans = 0;
  const append = async (brandId: string, after: bigint): Promise<bigint> => {
    scans += 1;
    const events = scanEvents(brandId, new Date(Date.now() + scans).toISOString(), 1);
    const stream = adLibraryStream(brandId);
    const { revision } = await eventStore.append(stream, after, events, METADATA, randomUUID());
    const [ad] = events;
    if (ad?.type === 'AdStarted') recordedMs.set(ad.data.ad_id, performance.now());
    return revision;
  };
  const record = ({ brandId }: WebhookRule): Promise<bigint> => {
    const before = ends.get(brandId) ?? Promise.resolve(-1n);
    const end = before.then((after) => append(brandId, after));
    ends.set(brandId, end);
    return end;
  };
  return { recordedMs, record };
};

/** One endpoint never replies, up to the limit of 15 seconds, while fifty others receive normally. */
export async function measureIsolation(
  context: BenchContext<'deliveries'>,
  servers: BenchServers,
): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const receivers = resources.use(await openReceivers());
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const pool = openPlainPool(servers.databaseUrl, 1);
  resources.defer(() => pool.end());
  const paths = ['/hangs', ...Array.from({ length: ENDPOINTS }, (_, n) => `/busy/${n}`)];
  receivers.behave('/hangs', hangs);
  const urls = paths.map((path) => receivers.url + path);
  const [hanging, ...busy] = await createWebhookRules(eventStore, pool, WORKSPACE_ID, urls);
  if (!hanging) throw new Error('no rule');
  const alerts = startService(resources, servers, 'alerts', {
    LOG_LEVEL: 'info',
    API_BASE_URL: receivers.url,
  });
  const delivery = startService(resources, servers, 'delivery', {
    LOG_LEVEL: 'info',
    MEMBER_VAULT_KEY: VAULT_KEY,
    EGRESS_ALLOW_LOOPBACK: 'true',
  });
  await Promise.all([alerts.says('caught up'), delivery.says('leader acquired')]);

  const { record, recordedMs } = openRecorder(eventStore);
  for (let n = 0; n < HANGING_BEFORE; n += 1) await record(hanging);
  const startMs = performance.now();
  const appends: Promise<unknown>[] = [];
  for (let n = 0; n < DELIVERIES; n += 1) {
    await pause(Math.max(0, startMs + (n * 1_000) / PER_SECOND - performance.now()));
    appends.push(record(busy[n % ENDPOINTS] ?? hanging));
    if (n % OTHERS_PER_HANGING === 0) appends.push(record(hanging));
  }
  await Promise.all(appends);
  const arrivals = () => receivers.received.filter(({ path }) => path !== '/hangs');
  for (const waitMs = performance.now(); arrivals().length < DELIVERIES; await pause(20)) {
    if (performance.now() - waitMs < LIMIT_MS) continue;
    throw new Error(
      `Only ${arrivals().length} of ${DELIVERIES} webhooks arrived.\n${alerts.output()}\n${delivery.output()}`,
    );
  }
  const delays = arrivals().map(({ body, atMs }) => {
    const { items } = JSON.parse(body.toString('utf8')) as AlertPayload;
    return atMs - (recordedMs.get(items[0]?.ad_id ?? '') ?? Number.NaN);
  });
  const [p50, p95, longest] = [0.5, 0.95, 1].map((share) => percentile(delays, share)) as [
    number,
    number,
    number,
  ];
  context.print(
    `  with a hanging endpoint, ${ENDPOINTS} others receive ${DELIVERIES} at ${PER_SECOND} per second: p50 ${p50.toFixed(0)} ms, ` +
      `p95 ${p95.toFixed(0)} ms, maximum ${longest.toFixed(0)} ms; ${receivers.at('/hangs').length} requests hung`,
  );
  context.record('with a hanging endpoint, p95', p95);
}
