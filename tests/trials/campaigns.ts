import { glob, readFile } from 'node:fs/promises';

/** A trial: the long form of tests, with settings for one run. `npm test` holds the short form. */
export type Campaign = {
  readonly about: string;
  readonly files: readonly string[];
  /** `factor` multiplies the number of values, worlds or rounds. */
  readonly settings: (seed: number, factor: number) => Readonly<Record<string, number>>;
};

const DRAWS = /fc\.assert|fc\.sample/;
/** Files of the conformance suite. They import its property tests from files without `fc.assert` in their own text. */
const CONFORMANCE = [
  'tests/conformance/local-event-store.integration.test.ts',
  'tests/conformance/real-event-store.integration.test.ts',
];

/** Property tests of read models. `npm test` draws few histories, because each takes seconds. */
const PROJECTION_LAWS = [
  'tests/projections/corrections-laws.integration.test.ts',
  'tests/projections/library-laws.integration.test.ts',
  'tests/projections/page-counts.integration.test.ts',
  'tests/projections/page-listings.integration.test.ts',
  'tests/projections/signals-laws.integration.test.ts',
  'tests/projections/social-pages-laws.integration.test.ts',
];

const propertyTests = async (): Promise<string[]> => {
  const files: string[] = [];
  for await (const file of glob('tests/**/*.test.ts')) {
    if (DRAWS.test(await readFile(file, 'utf8'))) files.push(file);
  }
  return files.toSorted();
};

/** Campaigns in the order in which `npm run trials` runs them. README.md names those of the acceptance. */
export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  properties: {
    about: 'every property test with another seed, and twice as many values',
    files: await propertyTests(),
    settings: (PROPERTY_SEED, factor) => ({ PROPERTY_SEED, PROPERTY_RUNS: 2 * factor }),
  },
  interleavings: {
    about: 'ten times as many random histories of appends and concurrent writers, on each event store',
    files: CONFORMANCE,
    settings: (PROPERTY_SEED, factor) => ({ PROPERTY_SEED, PROPERTY_RUNS: 10 * factor }),
  },
  'projection-laws': {
    about:
      'ten times as many random histories, in any batches and any order of their streams, in read models',
    files: PROJECTION_LAWS,
    settings: (PROPERTY_SEED, factor) => ({ PROPERTY_SEED, PROPERTY_RUNS: 10 * factor }),
  },
  order: {
    about: 'scans of 20,000 worlds in a random order of arrival',
    files: ['tests/domain/corpus/ad-library/order-of-arrival.test.ts'],
    settings: (PROPERTY_SEED, factor) => ({ PROPERTY_SEED, ORDER_WORLDS: 20_000 * factor }),
  },
  reference: {
    about: '20,000 worlds compared with the reference model',
    files: ['tests/reference/reference.integration.test.ts'],
    settings: (REFERENCE_SEED, factor) => ({
      REFERENCE_SEED,
      REFERENCE_WORLDS: 20_000 * factor,
      REFERENCE_STAGES: 1,
    }),
  },
  'reference-stages': {
    about: '2,000 worlds compared with the reference model at five places of their arrival',
    files: ['tests/reference/reference.integration.test.ts'],
    settings: (REFERENCE_SEED, factor) => ({ REFERENCE_SEED, REFERENCE_WORLDS: 2_000 * factor }),
  },
  invariants: {
    about: 'figures of 2,000 worlds agree in all replies, and rebuilds yield the same tables',
    files: ['tests/reference/invariants.integration.test.ts'],
    settings: (INVARIANT_SEED, factor) => ({ INVARIANT_SEED, INVARIANT_WORLDS: 2_000 * factor }),
  },
  replies: {
    about: 'replies about 200 worlds in the order of observation and of arrival',
    files: ['tests/reference/replies.integration.test.ts'],
    settings: (REPLY_SEED, factor) => ({ REPLY_SEED, REPLY_WORLDS: 200 * factor }),
  },
  'as-of': {
    about: 'reads of past moments of 100 worlds answer what they answered then',
    files: ['tests/operations/as-of.integration.test.ts'],
    settings: (AS_OF_SEED, factor) => ({ AS_OF_SEED, AS_OF_WORLDS: 100 * factor }),
  },
  'kept-states': {
    about:
      'reads of past moments of 20 worlds, and 5,000 at random in two processes, from kept states and without them',
    files: ['tests/operations/kept-states.integration.test.ts'],
    settings: (KEPT_SEED, factor) => ({ KEPT_SEED, KEPT_WORLDS: 20 * factor, KEPT_READS: 5_000 * factor }),
  },
  changes: {
    about: 'changes of 60 worlds by tokens, while they are recorded, are those of two replays',
    files: ['tests/operations/changes-by-token.integration.test.ts'],
    settings: (CHANGES_SEED, factor) => ({ CHANGES_SEED, CHANGES_WORLDS: 60 * factor }),
  },
  'any-order': {
    about: 'all real exports in ten random orders',
    files: ['tests/real-data/any-order.integration.test.ts'],
    settings: (ANY_ORDER_SEED, factor) => ({
      ANY_ORDER_SEED,
      ANY_ORDER_RUNS: 10 * factor,
      ANY_ORDER_LINES: 15_000,
      ANY_ORDER_SCANS: 1,
    }),
  },
  'demo-order': {
    about: 'a demo corpus of 4,000 ads in ten random orders',
    files: ['tests/local/demo/demo-any-order.integration.test.ts'],
    settings: (DEMO_ORDER_SEED, factor) => ({
      DEMO_ORDER_SEED,
      DEMO_ORDER_RUNS: 10 * factor,
      DEMO_ORDER_ADS: 4_000,
      DEMO_ORDER_DAYS: 45,
    }),
  },
  'collect-weeks': {
    about: 'two weeks of 50 brands in a played world, added by command, and read under every fault',
    files: ['tests/collector/weeks/collect-weeks.integration.test.ts'],
    settings: (COLLECT_WEEKS_SEED, factor) => ({
      COLLECT_WEEKS_SEED,
      COLLECT_WEEKS_BRANDS: 50,
      COLLECT_WEEKS_DAYS: 14 * factor,
    }),
  },
  'collect-forecast': {
    about:
      'a round of 10,000 brands at the library API takes the calls and days of its forecast; without a seed',
    files: ['tests/collector/weeks/forecast-holds.integration.test.ts'],
    settings: (_seed, factor) => ({ COLLECT_FORECAST_BRANDS: 10_000 * factor }),
  },
  'same-pictures': {
    about: 'near hashes among 100,000, compared with all pairs, and the cost of batches of new ones',
    files: ['tests/projections/many-pictures.integration.test.ts'],
    settings: (SAME_PICTURES_SEED, factor) => ({
      SAME_PICTURES_SEED,
      SAME_PICTURES_HASHES: 100_000 * factor,
    }),
  },
  'kill-everything': {
    about: 'all processes and servers killed while 200,000 ads arrive',
    files: ['tests/faults/kill-everything.integration.test.ts'],
    settings: (KILL_TEST_SEED, factor) => ({
      KILL_TEST_SEED,
      KILL_TEST_ADS: 200_000,
      KILL_TEST_DAYS: 20,
      KILL_TEST_ROUNDS: 10 * factor,
    }),
  },
  'kill-delivery': {
    about: 'the delivery service killed during 5,000 deliveries',
    files: ['tests/faults/delivery-kill.integration.test.ts'],
    settings: (DELIVERY_KILL_SEED, factor) => ({
      DELIVERY_KILL_SEED,
      DELIVERY_KILL_COUNT: 5000,
      DELIVERY_KILL_ROUNDS: 20 * factor,
    }),
  },
  'kill-alerts': {
    about: 'alerts, delivery and their servers killed while 5,000 alerts are sent',
    files: ['tests/faults/alerts-kill.integration.test.ts'],
    settings: (ALERTS_KILL_SEED, factor) => ({
      ALERTS_KILL_SEED,
      ALERTS_KILL_COUNT: 5000,
      ALERTS_KILL_ROUNDS: 20 * factor,
    }),
  },
  'many-digests': {
    about: '100,000 digests due at once, in a heap of 192 MiB, with a kill; without a seed',
    files: ['tests/alerts/digests/many-digests.integration.test.ts'],
    settings: (_seed, factor) => ({
      MANY_DIGESTS: 100_000 * factor,
      MANY_DIGESTS_ITEMS: 20,
      MANY_DIGESTS_COMPARED: 1_000,
    }),
  },
  endpoints: {
    about: '100,000 due deliveries of one endpoint next to 100 endpoints with ten; without a seed',
    files: ['tests/delivery/endpoints/endpoints.integration.test.ts'],
    settings: (_seed, factor) => ({ ENDPOINTS_DELIVERIES: 100_000 * factor, ENDPOINTS_SMALL: 100 }),
  },
  'nats-cluster': {
    about: '10,000 observations to three NATS nodes, one killed 15 times; without a seed',
    files: ['tests/platform/nats/cluster.integration.test.ts'],
    settings: (_seed, factor) => ({
      NATS_CLUSTER_OBSERVATIONS: 10_000 * factor,
      NATS_CLUSTER_KILLS: 15 * factor,
    }),
  },
  'postgres-mute': {
    about: 'Postgres mute for 60 s under load: answers, memory, and success afterwards; without a seed',
    files: ['tests/faults/servers-under-load/postgres-mute.integration.test.ts'],
    settings: (_seed, factor) => ({ POSTGRES_MUTE_SECONDS: 60 * factor }),
  },
  'slow-reads': {
    about: '50 slow reads at once beside hot reads and checks of keys; without a seed',
    files: ['tests/faults/servers-under-load/slow-reads.integration.test.ts'],
    settings: (_seed, factor) => ({ SLOW_READS_SECONDS: 20 * factor }),
  },
  'nats-down': {
    about: 'NATS down for ten minutes: every process is ready, and no call fails; without a seed',
    files: ['tests/faults/servers-under-load/nats-down.integration.test.ts'],
    settings: (_seed, factor) => ({ NATS_DOWN_SECONDS: 600 * factor }),
  },
  'server-faults': {
    about:
      'each server mute, one-way, slow, cut, reset or half-open before each process, with the limits of time; without a seed',
    files: [
      'tests/faults/server-faults.integration.test.ts',
      'tests/faults/servers-under-load/replica-mute.integration.test.ts',
      'tests/faults/background/each-server.integration.test.ts',
    ],
    settings: () => ({ SERVER_FAULTS_ALL: 1 }),
  },
  histories: {
    about:
      '100 recorded histories of callers, and 100 kills of deliveries, while networks fail and processes are killed',
    files: [
      'tests/faults/histories/histories.integration.test.ts',
      'tests/faults/delivery-kill.integration.test.ts',
    ],
    settings: (HISTORIES_SEED, factor) => ({
      HISTORIES_SEED,
      HISTORIES_RUNS: 100 * factor,
      DELIVERY_KILL_SEED: HISTORIES_SEED,
      DELIVERY_KILL_COUNT: 5000,
      DELIVERY_KILL_ROUNDS: 100 * factor,
    }),
  },
  replicas: {
    about: '10,000 writes with a read after each, and 1,000 revocations, beside a standby that stands still',
    files: ['tests/application/reads/standby.integration.test.ts'],
    settings: (_seed, factor) => ({ REPLICA_PAIRS: 10_000 * factor, REPLICA_REVOCATIONS: 1_000 * factor }),
  },
  'two-apis': {
    about: '200 clients, each reads its own write in both of two APIs; without a seed',
    files: ['tests/e2e/two-apis.integration.test.ts'],
    settings: (_seed, factor) => ({ TWO_APIS_CLIENTS: 200 * factor }),
  },
  'frozen-store': {
    about: 'the event store frozen under 64 writers, and 50 outages of a cluster; without a seed',
    files: ['tests/platform/event-store/frozen-store.integration.test.ts'],
    settings: (_seed, factor) => ({ FROZEN_STORE_ROUNDS: 3 * factor, FROZEN_STORE_OUTAGES: 50 * factor }),
  },
  benches: {
    about: 'every bench of a thousandth of its size, to its end; without a seed',
    files: ['tests/bench/tiny/tiny-benches.integration.test.ts'],
    settings: () => ({ TINY_BENCHES_ALL: 1 }),
  },
  'sign-in-kills': {
    about: 'a process killed at each write of each walk through a sign-in; without a seed',
    files: ['tests/mcp/sign-in/walks.integration.test.ts'],
    settings: () => ({ SIGN_IN_KILLS_ALL: 1 }),
  },
  takeovers: {
    about: 'projectors stopped, killed and cut off 200 times: each event applied once, and verify equal',
    files: ['tests/faults/takeovers/takeovers.integration.test.ts'],
    settings: (TAKEOVERS_SEED, factor) => ({ TAKEOVERS_SEED, TAKEOVERS: 200 * factor }),
  },
  isolation: {
    about:
      'one projection fails for 60 s in four ways, and the others keep 0.9 of their rate; without a seed',
    files: ['tests/projector/isolation.integration.test.ts'],
    settings: (_seed, factor) => ({ ISOLATION_SECONDS: 60 * factor }),
  },
  'import-memory': {
    about: 'files of 100 MiB are imported within 300 MiB of memory; without a seed',
    files: ['tests/ingest/files/memory.integration.test.ts'],
    settings: (_seed, factor) => ({ IMPORT_MEMORY_MIB: 100 * factor }),
  },
  'start-reads': {
    about: 'a start of ingest reads at most 10,000 of a million events; without a seed',
    files: ['tests/ingest/intake/start-reads.integration.test.ts'],
    settings: (_seed, factor) => ({ START_READS_EVENTS: 1_000_000 * factor }),
  },
  'start-and-test': {
    about: '`npm start` and the whole of `npm test` in one clone, in both orders; without a seed',
    files: ['tests/e2e/start-and-test.integration.test.ts'],
    settings: () => ({ START_AND_TEST: 1 }),
  },
  restarts: {
    about: 'every server restarted in turn while 100,000 ads arrive; without a seed',
    files: ['tests/faults/restarts.integration.test.ts'],
    settings: (_seed, factor) => ({ RESTARTS_ADS: 100_000, RESTARTS_ROUNDS: 10 * factor }),
  },
};
