import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, about longest first, as fragments of their paths. The last file of a run keeps one worker busy
 * while the others are idle, so that it must be a short one. Files that start many processes stand between those that start
 * few: two whole stacks at once would take the processors from each other, and miss the limits of their starts and stops.
 */
export const LONGEST: readonly string[] = [
  'e2e/documents',
  'mcp/sign-in/walks',
  'reference/reference',
  'real-data/any-order',
  'e2e/local-stack.',
  'bench/tiny',
  'faults/kill-everything',
  'ingest/files/memory',
  'mcp/sign-in/pages',
  'real-data/network',
  'faults/restarts',
  'api/every-endpoint',
  'faults/takeovers',
  'api/specification',
  'real-data/main-job',
  'faults/histories/histories.',
  'projector/slow-projection',
  'projector/postgres-limits',
  'ops/console',
  'alerts/digests/many-digests',
  'faults/alerts-kill',
  'projections/corrections-laws',
  'faults/delivery-kill',
  'projector/isolation',
  'ops/audit.',
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
