import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, about longest first, as fragments of their paths. The last file of a run keeps one worker busy
 * while the others are idle, so that it must be a short one. A file that computes is followed by one that mostly waits, for
 * leases, timeouts and back-offs: otherwise the workers first share the processors and later leave them idle. Two whole
 * stacks at once would also miss the limits of their starts and stops.
 */
export const LONGEST: readonly string[] = [
  'e2e/documents',
  'projector/slow-projection',
  'mcp/sign-in/walks',
  'faults/proxy/half-open-alerts',
  'reference/reference',
  'faults/restarts',
  'real-data/main-job',
  'faults/server-faults',
  'e2e/local-stack.',
  'projector/exclusive-jobs',
  'real-data/any-order',
  'alerts/digests/digests',
  'mcp/sign-in/pages',
  'faults/postgres-background',
  'faults/kill-everything',
  'delivery/endpoints/without-event-store',
  'local/event-store/slow-readers',
  'ingest/queue/unaware-leader',
  'projector/postgres-limits',
  'projector/session-end',
  'faults/histories/histories.',
  'e2e/start-and-test',
  'attacks/receivers/delivery-process',
  'api/every-endpoint',
  'delivery/keeping',
  'mcp/process',
  'alerts/signal-failures',
  'real-data/side-files',
  'faults/takeovers',
  'bench/tiny',
  'collector/ads-archive/token-hidden',
  'platform/nats/cluster',
  'api/specification',
  'faults/alerts-kill',
  'mcp/tools/figures',
  'faults/delivery-kill',
  'alerts/replay-memory',
  'ops/projections.',
  'ops/console',
  'platform/nats/streams',
  'alerts/digests/many-digests',
  'projector/isolation',
  'projections/corrections-laws',
  'e2e/two-apis',
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
