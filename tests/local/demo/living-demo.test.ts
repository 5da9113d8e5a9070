import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { MsgHdrs } from 'nats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BODY_SEQUENCE_HEADER } from '#contracts/messages/observation-headers.ts';
import { Observation, observedAtOf } from '#contracts/observations/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import type { TrafficEstimate } from '#contracts/observations/traffic-estimate.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { DemoState, fedToMs } from '#deploy/local/demo/demo-state.ts';
import { feedWorld } from '#deploy/local/demo/living/feed-world.ts';
import { dueScanMs, livingWorldOf, nextScanMs, withOpening } from '#deploy/local/demo/living/living-world.ts';
import { observationsBetween, scansOfTracked } from '#deploy/local/demo/living/observations-between.ts';
import { createPulse, type PulseOptions, RESTS_AFTER_MS } from '#deploy/local/demo/living/run-pulse.ts';
import { sendToQueue } from '#deploy/local/demo/living/send-part.ts';
import { LAUNCH_ADS, pulseAdsAt } from '#deploy/local/demo/world/pulse.ts';
import type { Nats } from '#platform/nats/connection.ts';

const PULSE_SECONDS = 180;
const LOADED: DemoState = {
  seed: 7,
  brands: 12,
  ads: 240,
  days: 30,
  until: '2026-03-01',
  fed_until: '2026-03-01',
  taken: 900,
};
/** Time of the first start. */
const START_MS = Date.parse('2026-03-01T09:00:00.500Z');
const STARTED = withOpening(LOADED, PULSE_SECONDS, START_MS);
const LIVING = livingWorldOf(STARTED, PULSE_SECONDS);
const RUNS = 6;

const textsBetween = (fromMs: number, toMs: number, living = LIVING): string[] =>
  [...observationsBetween(living, fromMs, toMs)].map((observation) => JSON.stringify(observation));

const scansIn = (observations: readonly Observation[]) =>
  observations.filter((observation) => observation.type === 'ad_library.scan_end');

describe('the world after the corpus', () => {
  const times = fc.integer({ min: START_MS, max: START_MS + 3 * DAY_MS });

  test('has the same observations in parts as in one', () => {
    fc.assert(
      fc.property(times, times, times, (...cuts) => {
        const [fromMs, cutMs, toMs] = cuts.toSorted((a, b) => a - b) as [number, number, number];
        const parts = [...textsBetween(fromMs, cutMs), ...textsBetween(cutMs, toMs)];
        expect(parts.toSorted()).toEqual(textsBetween(fromMs, toMs).toSorted());
      }),
      { numRuns: RUNS },
    );
  });

  test('dates nothing outside of its time, and fits the contracts', () => {
    const [fromMs, toMs] = [START_MS, START_MS + 3 * DAY_MS];
    const observations = [...observationsBetween(LIVING, fromMs, toMs)];
    for (const observation of observations) {
      expect(Date.parse(observedAtOf(observation))).toBeGreaterThan(fromMs);
      expect(Date.parse(observedAtOf(observation))).toBeLessThanOrEqual(toMs);
      expect(Observation.parse(observation)).toEqual(observation);
    }
    expect(scansIn(observations).length).toBeGreaterThan(8);
  });

  test('scans every brand within a week, and with ads that the corpus did not show', () => {
    const still = livingWorldOf(LOADED, 0);
    const week = [...observationsBetween(still, START_MS, START_MS + 7 * DAY_MS)];
    expect(new Set(scansIn(week).map(({ brand_domain }) => brand_domain)).size).toBe(LOADED.brands);
    const adsOf = (observations: readonly Observation[]): Set<string> =>
      new Set(
        observations
          .flatMap((part) => (part.type === 'ad_library.scan' ? part.ads : []))
          .map(({ ad_id }) => ad_id),
      );
    const before = adsOf([...observationsBetween(still, START_MS - 30 * DAY_MS, START_MS)]);
    const later = adsOf([...observationsBetween(still, START_MS + 40 * DAY_MS, START_MS + 41 * DAY_MS)]);
    expect([...later].some((id) => !before.has(id))).toBe(true);
  });
});

describe('shops and traffic after the corpus', () => {
  const fromMs = Date.parse(`${LOADED.until}T00:00:00Z`);
  const observations = [...observationsBetween(livingWorldOf(LOADED, 0), fromMs, fromMs + 65 * DAY_MS)];

  test('has an estimate of every site for each month, and none twice', () => {
    const estimates = observations.filter(({ type }) => type === 'traffic.estimate') as TrafficEstimate[];
    const corpus = [...demoObservations(LOADED)].filter(
      ({ type }) => type === 'traffic.estimate',
    ) as TrafficEstimate[];
    const keys = [...corpus, ...estimates].map(({ domain, period }) => `${domain} ${period}`);
    expect(new Set(keys).size).toBe(keys.length);
    const periods = Map.groupBy(estimates, ({ period }) => period);
    expect([...periods.keys()]).toEqual(['2026-03', '2026-04']);
    for (const [period, ofMonth] of periods) {
      expect(ofMonth).toHaveLength(LOADED.brands);
      for (const { observed_at, countries } of ofMonth) {
        expect(observed_at.slice(0, 7) > period).toBe(true);
        expect(countries?.length).toBeGreaterThan(0);
      }
    }
    const visits = estimates.map(({ domain, monthly_visits }) => {
      const [last] = corpus.filter((other) => other.domain === domain).slice(-1);
      return (monthly_visits ?? 0) / (last?.monthly_visits ?? 1);
    });
    for (const change of visits) expect(change).toBeGreaterThan(0.6);
    for (const change of visits) expect(change).toBeLessThan(1.7);
  });

  test('scans every shop each day, with products that become cheaper and dearer again', () => {
    const ends = observations.filter((observation) => observation.type === 'storefront.scan_end');
    const byShop = Map.groupBy(ends, ({ domain }) => domain);
    expect(byShop.size).toBe(LOADED.brands / 3);
    for (const scans of byShop.values()) expect(scans).toHaveLength(65);
    const catalogues = observations.filter((observation) => observation.type === 'storefront.scan');
    for (const { products } of catalogues) expect(products.length).toBeGreaterThanOrEqual(12);
    const reduced = new Set(
      catalogues
        .filter(({ products }) => products.some(({ variants }) => variants.some(isReduced)))
        .map(({ scanned_at }) => scanned_at),
    );
    expect(reduced.size).toBeGreaterThan(0);
    expect(reduced.size).toBeLessThan(65);
  });

  test('scans every site once in 24 days', () => {
    const sites = observations.filter((observation) => observation.type === 'site.scan');
    const counts = Map.groupBy(sites, ({ domain }) => domain);
    expect(counts.size).toBe(LOADED.brands);
    for (const scans of counts.values()) expect([2, 3]).toContain(scans.length);
  });
});

const isReduced = ({ compare_at_price }: { readonly compare_at_price: string | null }): boolean =>
  compare_at_price !== null && compare_at_price !== 'none';

describe('a start of the demo', () => {
  /** Days count from the end of the corpus, times from the first scan of the pulse, except the hours of earlier days. */
  const relativeTo = (state: DemoState, observation: Observation): string => {
    const [endMs, fromMs] = [Date.parse(state.until), Date.parse(state.pulse_from ?? '')];
    // Estimates are of calendar months.
    const { period: _, ...rest } = observation as TrafficEstimate;
    const dated = observation.type === 'traffic.estimate' ? { ...rest, observed_at: '' } : observation;
    return JSON.stringify(dated)
      .replaceAll(/oe=[0-9a-f]{8}/g, '')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => {
        const ms = Date.parse(time);
        return ms < fromMs ? `midnight ${ms - endMs}` : `start ${ms - fromMs}`;
      })
      .replaceAll(/\d{4}-\d\d-\d\d/g, (day) => `day ${(Date.parse(day) - endMs) / DAY_MS}`);
  };

  test('is the same on each day and at each hour, but for dates', () => {
    const observationsFrom = (start: string): string[] => {
      const until = start.slice(0, 'YYYY-MM-DD'.length);
      const state = withOpening({ ...LOADED, until, fed_until: until }, PULSE_SECONDS, Date.parse(start));
      const living = livingWorldOf(state, PULSE_SECONDS);
      const fromMs = living.pulse.fromMs;
      const scanTimes = [fromMs];
      while (scanTimes.length < 8) scanTimes.push(nextScanMs(living, scanTimes.at(-1) as number));
      const scans = scanTimes.flatMap((timeMs) => [...scansOfTracked(living, timeMs)]);
      const missed = [...observationsBetween(living, fedToMs(state, true), fromMs)];
      return [...demoObservations(state), ...missed, ...scans].map((one) => relativeTo(state, one));
    };
    const first = observationsFrom('2026-03-01T09:00:00.500Z');
    expect(first.some((text) => text.includes('start 301000'))).toBe(false);
    expect(first.some((text) => text.includes('start 300000'))).toBe(true);
    expect(observationsFrom('2027-11-17T21:44:31.020Z')).toEqual(first);
  });

  test('shows no pulse in its first scan and a launch in the next one', () => {
    const firstMs = dueScanMs(LIVING, START_MS);
    expect(firstMs).toBe(Date.parse('2026-03-01T09:00:00Z'));
    expect([...pulseAdsAt(LIVING.pulse, firstMs)]).toEqual([]);
    const soonMs = nextScanMs(LIVING, START_MS);
    expect(soonMs).toBe(Date.parse('2026-03-01T09:01:01Z'));
    expect(dueScanMs(LIVING, soonMs - 1)).toBe(firstMs);
    expect(dueScanMs(LIVING, soonMs)).toBe(soonMs);
    expect(nextScanMs(LIVING, soonMs)).toBe(firstMs + LIVING.scanEveryMs);
    const next = [...pulseAdsAt(LIVING.pulse, soonMs)];
    const launch = next.filter(({ isLaunch }) => isLaunch);
    expect(launch).toHaveLength(LAUNCH_ADS);
    expect(LIVING.pulse.launching).toContain(launch[0]?.brand);
    const later = [...pulseAdsAt(LIVING.pulse, firstMs + LIVING.scanEveryMs)];
    expect(later.some(({ isLaunch }) => !isLaunch)).toBe(true);
    const scanned = scansIn([...scansOfTracked(LIVING, firstMs)]).map(({ brand_domain }) => brand_domain);
    expect(scanned.toSorted()).toEqual(LIVING.tracked.map(({ domain }) => domain).toSorted());
  });

  test('changes no earlier scan, and keeps only openings that may still be listed', () => {
    const againMs = START_MS + 3 * HOUR_MS;
    const again = withOpening(STARTED, PULSE_SECONDS, againMs);
    expect(again.pulse_from).toBe(STARTED.pulse_from);
    expect(again.openings).toHaveLength(2);
    const before = [...scansOfTracked(LIVING, againMs)];
    expect([...scansOfTracked(livingWorldOf(again, PULSE_SECONDS), againMs)]).toEqual(before);
    const muchLater = withOpening(again, PULSE_SECONDS, againMs + 4 * DAY_MS);
    expect(muchLater.openings).toHaveLength(1);
    expect(withOpening(LOADED, 0, START_MS)).toEqual(LOADED);
  });
});

/** Calls `onFull` for each message after the first `takes`. A reference to a stored body counts as that body. */
const createQueue = () => {
  const bodies: string[] = [];
  const apart: string[] = [];
  const queue = {
    bodies,
    takes: Number.POSITIVE_INFINITY,
    onFull: () => undefined as void,
    nats: {
      manager: {
        streams: {
          info: async () => ({
            state: { messages: 0, first_seq: bodies.length + 1, last_seq: bodies.length },
          }),
        },
      },
      jetstream: {
        publish: async (subject: string, data: Uint8Array, options: { readonly headers?: MsgHdrs }) => {
          const text = new TextDecoder().decode(data);
          if (subject.startsWith('observation_bodies.')) return { seq: apart.push(text) };
          if (bodies.length >= queue.takes) {
            queue.onFull();
            throw new Error('the queue is full');
          }
          const sequence = options.headers?.get(BODY_SEQUENCE_HEADER) ?? '';
          bodies.push(sequence === '' ? text : (apart[Number(sequence) - 1] ?? ''));
          return { seq: bodies.length };
        },
      },
    } as unknown as Nats,
  };
  return queue;
};

describe('the pulse of npm start', () => {
  let folder: string;
  let files = 0;
  const newFile = (): string => join(folder, `demo-${(files += 1)}.json`);
  const live = new AbortController().signal;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'living-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const open = (state = STARTED) => {
    const queue = createQueue();
    const at = { nowMs: START_MS, lastUse: null as string | null, isDown: false };
    const reports: string[] = [];
    const stateFile = newFile();
    const options: PulseOptions = {
      send: sendToQueue(queue.nats),
      database: {
        query: async () => {
          if (at.isDown) throw new Error('the database is down');
          return { rows: [{ last_used_at: at.lastUse }] };
        },
      } as unknown as PulseOptions['database'],
      clock: { now: () => new Date(at.nowMs) },
      state,
      stateFile,
      pulseSeconds: PULSE_SECONDS,
      report: (message) => reports.push(message),
    };
    const stored = async () => DemoState.parse(JSON.parse(await readFile(stateFile, 'utf8')));
    return { queue, at, reports, stateFile, stored, publishDue: createPulse(options) };
  };

  test('publishes a scan of the tracked brands each five minutes, and each once', async () => {
    const { queue, at, stored, publishDue } = open();
    await publishDue(live);
    const first = queue.bodies.length;
    expect((await stored()).fed_to).toBe('2026-03-01T09:00:00.000Z');
    await publishDue(live);
    expect(queue.bodies).toHaveLength(first);
    at.nowMs += 5 * MINUTE_MS;
    await publishDue(live);
    const scans = queue.bodies.slice(first).map((body) => Observation.parse(JSON.parse(body)));
    expect(scansIn(scans).map(({ scanned_at }) => scanned_at)).toEqual(
      LIVING.tracked.map(() => '2026-03-01T09:05:00.000Z'),
    );
    expect(new Set(queue.bodies).size).toBe(queue.bodies.length);
  });

  test('fills the missed time of a night with the scans of that time, and ends in a scan at present', async () => {
    const { queue, at, stored, publishDue } = open({ ...STARTED, fed_to: '2026-03-01T22:00:00.000Z' });
    at.nowMs = Date.parse('2026-03-02T08:01:00Z');
    await publishDue(live);
    const scans = scansIn(queue.bodies.map((body) => Observation.parse(JSON.parse(body))));
    const times = [...new Set(scans.map(({ scanned_at }) => scanned_at))].toSorted();
    expect(times.at(-1)).toBe('2026-03-02T08:00:00.000Z');
    // Only the usual scans of the night are made up: none every five minutes.
    for (const time of times.slice(0, -1))
      expect(time >= '2026-03-02T02' && time < '2026-03-02T06').toBe(true);
    expect(times.length).toBeLessThanOrEqual(1 + LOADED.brands);
    expect((await stored()).fed_to).toBe('2026-03-02T08:00:00.000Z');
  });

  test('reports a failure once, and publishes the part later', async () => {
    const { queue, at, reports, publishDue } = open();
    at.isDown = true;
    expect(await publishDue(live)).toBe('failed');
    expect(await publishDue(live)).toBe('failed');
    expect(queue.bodies).toEqual([]);
    at.isDown = false;
    expect(await publishDue(live)).toBe('running');
    expect(queue.bodies.length).toBeGreaterThan(0);
    expect(reports).toEqual([
      'demo: changes are not published and will be tried again: Error: the database is down',
      'demo: goes on',
    ]);
  });

  test('rests after a day without a client, and goes on with what was missed', async () => {
    const { queue, at, reports, publishDue } = open();
    expect(await publishDue(live)).toBe('running');
    at.nowMs = START_MS + RESTS_AFTER_MS;
    expect(await publishDue(live)).toBe('running');
    const published = queue.bodies.length;
    at.nowMs += 5 * MINUTE_MS;
    expect(await publishDue(live)).toBe('resting');
    expect(await publishDue(live)).toBe('resting');
    expect(queue.bodies).toHaveLength(published);
    at.lastUse = new Date(at.nowMs).toISOString();
    at.nowMs += 10 * SECOND_MS;
    expect(await publishDue(live)).toBe('running');
    expect(queue.bodies.length).toBeGreaterThan(published);
    expect(reports).toEqual([
      'demo: rests after 24 hours without a request; the next request wakes it',
      'demo: goes on',
    ]);
  });

  test('publishes nothing twice when a part is interrupted at any message', async () => {
    const whole = open({ ...STARTED, fed_to: '2026-03-01T22:00:00.000Z' });
    whole.at.nowMs = Date.parse('2026-03-02T08:01:00Z');
    await whole.publishDue(live);
    const state = { ...STARTED, fed_to: '2026-03-01T22:00:00.000Z' };
    const toMs = Date.parse('2026-03-02T08:00:00Z');
    for (const takes of [0, 1, 5]) {
      const { queue, stateFile } = open();
      const stopping = new AbortController();
      queue.takes = takes;
      queue.onFull = () => stopping.abort(new Error('killed'));
      const feed = (from: DemoState, signal: AbortSignal) =>
        feedWorld(sendToQueue(queue.nats), LIVING, from, stateFile, toMs, signal);
      await expect(feed(state, stopping.signal)).rejects.toThrow('killed');
      queue.takes = Number.POSITIVE_INFINITY;
      const stored = await readFile(stateFile, 'utf8').then(
        (text) => DemoState.parse(JSON.parse(text)),
        () => state,
      );
      expect(fedToMs(stored, true)).toBeLessThan(toMs);
      await feed(stored, live);
      // A repeated observation is the same text, which ingest records once.
      expect([...new Set(queue.bodies)].toSorted()).toEqual([...new Set(whole.queue.bodies)].toSorted());
    }
  });
});
