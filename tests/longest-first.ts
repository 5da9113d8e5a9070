import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, about longest first, as fragments of their paths. The last file of a run keeps one worker busy
 * while the others are idle, so that it must be a short one. A file that computes is followed by one that mostly waits, for
 * leases, timeouts and back-offs: otherwise the workers first share the processors and later leave them idle. Two whole
 * stacks at once would also miss the limits of their starts and stops.
 */
export const LONGEST: readonly string[] = [
  'mcp/sign-in/walks',
  'operations/proof.',
  'faults/proxy/half-open-alerts',
  'e2e/documents',
  'real-data/main-job',
  'operations/as-of',
  'projector/exclusive-jobs',
  'faults/restarts',
  'operations/observed-as-of',
  'reference/reference',
  'delivery/endpoints/without-event-store',
  'faults/server-faults',
  'contracts/journeys',
  'ops/projections.',
  'projector/slow-projection',
  'operations/ad-page',
  'e2e/local-stack.',
  'alerts/replay-memory',
  'faults/postgres-background',
  'operations/bounds-and-claims',
  'real-data/any-order',
  'faults/report-kill',
  'projector/busy-pool',
  'operations/workspace/alerts/backtest',
  'projector/postgres-limits',
  'faults/kill-everything',
  'projector/session-end',
  'operations/workspace/restatements',
  'delivery/endpoints/fair-turns',
  'mcp/tools/figures',
  'alerts/digests/digests',
  'faults/delivery-kill',
  'ingest/queue/unaware-leader',
  'projector/rebuild.',
  'ingest/files/memory',
  'e2e/start-and-test',
  'platform/nats/streams',
  'ingest/ad-library/repeated-ads',
  'alerts/many-rules',
  'ops/log/log-commands',
  'alerts/signal-failures',
  'faults/alerts-kill',
  'collector/add/add-brand',
  'local/event-store/slow-readers',
  'e2e/two-apis',
  'faults/event-store-process',
  'faults/histories/histories.',
  'operations/workspace/api-keys',
  'ingest/intake/attribution',
  'collector/ads-archive/token-hidden',
  'api/specification',
  'ops/log/log-copy-order',
  'projector/isolation',
  'alerts/many-signal-checks',
  'ops/console',
  'media/killed',
  'attacks/receivers/delivery-process',
  'api/limits',
  'ingest/queue/queue.',
  'mcp/sign-in/pages',
  'worker/reports',
  'mcp/process',
  'bench/tiny',
  'alerts/waiting-streams',
  'real-data/side-files',
  'collector/weeks/collect-weeks',
  'real-data/storefronts',
  'reference/invariants',
  'api/every-endpoint',
  'conformance/local-event-store',
  'alerts/digests/many-digests',
  'application/reads/standby',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((fragment) => moduleId.includes(`tests/${fragment}`));
  return rank === -1 ? LONGEST.length : rank;
};

/** Runs the longest files first, integration tests before unit tests, and the others in the order of their paths. */
export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const keyOf = (file: TestSpecification): string =>
      [String(rankOf(file)).padStart(3, '0'), file.project.name, file.moduleId].join(' ');
    return Promise.resolve(files.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)));
  }
}
