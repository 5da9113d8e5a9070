import { randomUUID } from 'node:crypto';
import { adLibraryStream } from '#contracts/events/ad-library.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { pause } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store.ts';
import { openPool } from '#platform/postgres.ts';
import { scanFacts } from '#tests/alerts/stack.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';
import { openReceivers } from '#tests/delivery/receivers.ts';
import { createWebhookRules, VAULT_KEY } from '#tests/delivery/webhook-rules.ts';
import { startProcess } from '#tests/stack/processes.ts';
import type { BenchContext } from '../bench.ts';
import type { BenchServers } from '../servers.ts';

const BRANDS = 20;
/** One ad and the end of its scan: two facts, one webhook. */
const FACTS_PER_SCAN = 2;
const FACTS_PER_SECOND = 100;
const SCANS = 500;
const WARM_UP = 50;
const P50_TARGET_MS = 50;
const P99_TARGET_MS = 250;
const LIMIT_MS = 20_000;
const WORKSPACE_ID = 'ws_latency';

/**
 * From a fact's acknowledgement by the event store to the webhook's arrival: alerts and delivery run as in
 * production, the receiver is this process, facts come at a steady rate.
 */
export async function measureLatency(context: BenchContext, servers: BenchServers): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const receivers = resources.use(await openReceivers());
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const pool = openPool(servers.databaseUrl, 1);
  resources.defer(() => pool.end());
  const urls = Array.from({ length: BRANDS }, (_, n) => `${receivers.url}/${n}`);
  const rules = await createWebhookRules(eventStore, pool, WORKSPACE_ID, urls);
  const environment = { ...servers.environment, MEMBER_VAULT_KEY: VAULT_KEY, LOG_LEVEL: 'info' };
  const alerts = startProcess('services/alerts/main.ts', { ...environment, API_BASE_URL: receivers.url });
  resources.defer(async () => void (await alerts.stop()));
  const delivery = startProcess('services/delivery/main.ts', {
    ...environment,
    EGRESS_ALLOW_LOOPBACK: 'true',
  });
  resources.defer(async () => void (await delivery.stop()));
  await Promise.all([alerts.says('caught up'), delivery.says('keeping deliveries')]);

  const recordedMs = new Map<string, number>();
  const revisions = new Map<string, bigint>();
  const appends: Promise<void>[] = [];
  const append = async (n: number): Promise<void> => {
    const brandId = rules[n % BRANDS]?.brandId ?? '';
    const facts = scanFacts(brandId, new Date(Date.now() + n).toISOString(), 1);
    const stream = adLibraryStream(brandId);
    const { revision } = await eventStore.append(
      stream,
      revisions.get(stream) ?? -1n,
      facts,
      METADATA,
      randomUUID(),
    );
    revisions.set(stream, revision);
    const [ad] = facts;
    if (ad?.type === 'AdStarted') recordedMs.set(ad.data.ad_id, performance.now());
  };
  for (let n = 0; n < WARM_UP + SCANS; n += 1) {
    // A stream is appended to again only long after its last append was answered.
    appends.push(append(n));
    await pause((1_000 * FACTS_PER_SCAN) / FACTS_PER_SECOND);
  }
  await Promise.all(appends);
  for (const startMs = performance.now(); receivers.received.length < WARM_UP + SCANS; ) {
    if (performance.now() - startMs > LIMIT_MS) {
      throw new Error(
        `Only ${receivers.received.length} webhooks came.\n${alerts.output()}\n${delivery.output()}`,
      );
    }
    await pause(20);
  }
  const delays = receivers.received
    .slice(WARM_UP)
    .map(({ body, atMs }) => {
      const { items } = JSON.parse(body.toString('utf8')) as AlertPayload;
      return atMs - (recordedMs.get(items[0]?.ad_id ?? '') ?? Number.NaN);
    })
    .toSorted((a, b) => a - b);
  const at = (share: number): number =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Number.NaN;
  const [p50, p99] = [at(0.5), at(0.99)];
  const said = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  context.print(
    `  fact to webhook, ${FACTS_PER_SECOND} facts a second: ${said}, most ${at(1).toFixed(0)} ms`,
  );
  context.record({
    bench: 'deliveries: fact to webhook',
    measured: said,
    ceiling: '-',
    ratio: null,
    target: `<= ${P50_TARGET_MS} and ${P99_TARGET_MS} ms`,
    held: p50 <= P50_TARGET_MS && p99 <= P99_TARGET_MS,
  });
}
