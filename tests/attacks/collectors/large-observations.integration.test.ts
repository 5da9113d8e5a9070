import { trafficEstimate } from '#tests/dsl/site-events.ts';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, inject, test } from 'vitest';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, Observation } from '#contracts/observations/index.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import { pause } from '#platform/clock.ts';
import { headersFrom, type Nats, openNats } from '#platform/nats/connection.ts';
import { ad } from '#tests/dsl/scans.ts';
import { percentileOfRounds } from '#tests/percentile.ts';
import { scanOf } from '../../ingest/fixtures/scan-messages.ts';
import { profileOf } from '../../intake/stack.ts';
import { createTestDatabase, createTestNats } from '../../stack/database.ts';
import { startProcess } from '../../stack/processes.ts';
import { isLong } from '../attack.ts';

/** Needs an ingest process, so it runs in `npm run attack` only. */

/** Both kinds alternate: a virtual machine's speed changes, and new memory of the queue costs twice its copying. */
const ROUNDS = 5;
const SMALL = 200;
const INTERVAL_MS = 25;
const BRANDS = 20;
const RECORDED_LIMIT_MS = 60_000;
/** Pause in which the database clears up after large observations. */
const SETTLING_MS = 5_000;
const FLOOD_MAX = 4_000;
const FLOOD_BRANDS = 40;
/** Percentiles of the delays: half, nearly all, and the slowest. */
const SHARES = [0.5, 0.95, 0.99];

type Delay = { readonly kind: Observation['type']; readonly ms: number };

const estimateOf = (domain: string, observed_at: string, monthly_visits: number): TrafficEstimate =>
  trafficEstimate({ domain, observed_at, provider: 'attack', monthly_visits });

/** Returns an estimate, a link, a profile of a new brand, or a scan of one ad, in turn. */
const smallOf = (round: number, place: number): readonly Observation[] => {
  const domain = `small-${place % BRANDS}.example`;
  const observed_at = new Date(Date.UTC(2026, 5, 1 + round, 0, 0, place)).toISOString();
  const page_id = String(500_000_000 + (place % BRANDS));
  const linked = { linked: true, role: 'OFFICIAL', confidence: 1, page_name: null };
  switch (place % 4) {
    case 0:
      return [estimateOf(domain, observed_at, round * 100_000 + place)];
    case 1:
      return [
        Observation.parse({
          type: 'social_page.link',
          brand_domain: domain,
          page_id,
          observed_at,
          ...linked,
        }),
      ];
    case 2:
      return [Observation.parse(profileOf(`new-${round}-${place}.example`, observed_at))];
    default: {
      const { chunks, end } = scanOf(domain, observed_at, [ad(`7${page_id}`, { page_id })], {
        pages: [page_id],
      });
      return [...chunks, end].map((one) => Observation.parse(one));
    }
  }
};

const measure = async (nats: Nats, round: number): Promise<Delay[]> => {
  const sentAt = new Map<number, { readonly kind: Observation['type']; readonly since: number }>();
  const ackedAt = new Map<number, number>();
  const acks = nats.connection.subscribe('$JS.ACK.OBSERVATIONS.>', {
    callback: (_, { subject, data }) => {
      // $JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>…; `working` and `nak` are no end.
      if (new TextDecoder().decode(data) !== '+ACK') return;
      ackedAt.set(Number(subject.split('.')[5]), performance.now());
    },
  });
  let published = 0;
  for (let place = 0; place < SMALL; place += 1) {
    for (const observation of smallOf(round, place)) {
      published += 1;
      const since = performance.now();
      const sent = nats.jetstream.publish(
        observationSubject(keyOf(observation)),
        JSON.stringify(observation),
        {
          headers: headersFrom(routingHeadersOf(observation)),
        },
      );
      void sent.then(({ seq }) => sentAt.set(seq, { kind: observation.type, since }));
    }
    await pause(INTERVAL_MS);
  }
  const isRecorded = (): boolean =>
    sentAt.size === published && [...sentAt.keys()].every((sequence) => ackedAt.has(sequence));
  await expect.poll(isRecorded, { timeout: RECORDED_LIMIT_MS, interval: 50 }).toBe(true);
  acks.unsubscribe();
  return [...sentAt].map(([sequence, { kind, since }]) => ({
    kind,
    ms: (ackedAt.get(sequence) ?? Number.NaN) - since,
  }));
};

/** Starts a flood. Its start takes the processors, unlike that on another machine. */
const startFlood = async (natsUrl: string) => {
  const worker = new Worker(new URL('./flood.ts', import.meta.url), {
    workerData: { natsUrl, brands: FLOOD_BRANDS },
  });
  expect(await once(worker, 'message')).toEqual(['ready']);
  const publish = (most: number) => {
    const ended = once(worker, 'message');
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has none
    worker.postMessage(most);
    return ended.then(([published]) => Number(published));
  };
  return {
    /** Publishes at most a number. Returns how many, at the end or after `stop`. */
    publish,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has none
    stop: (): void => worker.postMessage(0),
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  };
};

type Rounds = readonly (readonly Delay[])[];

const shareOf = (rounds: Rounds, share: number): number =>
  percentileOfRounds(
    rounds.map((delays) => delays.map(({ ms }) => ms)),
    share,
  );

const onlyOf = (rounds: Rounds, kind: Observation['type']): Rounds =>
  rounds.map((delays) => delays.filter((delay) => delay.kind === kind));

const compare = (alone: Rounds, beside: Rounds) => {
  const ratios: number[] = [];
  const figures: string[] = [];
  for (const share of SHARES) {
    const [one, other] = [shareOf(alone, share), shareOf(beside, share)];
    ratios.push(other / one);
    figures.push(
      `p${share * 100} ${one.toFixed(1)} → ${other.toFixed(1)} ms (${(other / one).toFixed(2)} ×)`,
    );
  }
  return { ratios, figure: figures.join(', ') };
};

test.runIf(isLong)(
  'observations of a megabyte at full speed delay small ones of other brands by at most twice',
  async ({ task }) => {
    await using resources = new AsyncDisposableStack();
    const [server, database] = await Promise.all([createTestNats(), createTestDatabase()]);
    resources.defer(() => server.stop());
    resources.defer(() => database.drop());
    const nats = resources.use(await openNats(server.url, 'attack'));
    const ingest = startProcess('services/ingest/main.ts', {
      DATABASE_URL: database.url,
      EVENT_STORE_URL: inject('eventStoreUrl'),
      NATS_URL: server.url,
      LOG_LEVEL: 'info',
    });
    resources.defer(async () => void (await ingest.stop()));
    await ingest.says('ingest consumer started');
    const flood = resources.use(await startFlood(server.url));
    const unread = async (): Promise<number> =>
      (await nats.manager.streams.info('OBSERVATIONS')).state.messages;
    const [alone, beside]: [Delay[][], Delay[][]] = [[], []];
    let [published, recorded] = [0, 0];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const before = await measure(nats, 2 * round);
      const flooding = flood.publish(FLOOD_MAX);
      const during = await measure(nats, 2 * round + 1);
      flood.stop();
      const large = await flooding;
      const left = await unread();
      await expect.poll(unread, { timeout: RECORDED_LIMIT_MS }).toBe(0);
      await pause(SETTLING_MS);
      // Code that runs for the first time is slower.
      if (round === 0) continue;
      alone.push(before);
      beside.push(during);
      published += large;
      recorded += large - left;
    }
    const { ratios, figure } = compare(alone, beside);
    const kinds = new Set(alone.flat().map(({ kind }) => kind));
    const byKind = [...kinds].map(
      (kind) => `${kind} ${compare(onlyOf(alone, kind), onlyOf(beside, kind)).figure}`,
    );
    task.meta.figure = [`${published} large ones, ${recorded} recorded meanwhile`, figure, ...byKind].join(
      '; ',
    );
    expect(recorded, 'large ones are recorded too').toBeGreaterThan(0);
    expect(Math.max(...ratios), task.meta.figure).toBeLessThanOrEqual(2);
  },
);
