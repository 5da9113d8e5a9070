import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, longest first, as fragments of their paths. The last file of a run keeps one worker busy while
 * the other is idle, so that it must be a short one.
 */
export const LONGEST: readonly string[] = [
  'e2e/documents',
  'mcp/sign-in/walks',
  'e2e/local-stack.',
  'real-data/main-job',
  'real-data/any-order',
  'faults/restarts',
  'api/every-endpoint',
  'api/specification',
  'faults/kill-everything',
  'bench/tiny',
  'faults/histories/histories.',
  'ingest/files/memory',
  'ops/console',
  'mcp/sign-in/pages',
  'real-data/network',
  'faults/takeovers',
  'faults/alerts-kill',
  'faults/delivery-kill',
  'projector/isolation',
  'ops/audit.',
  'projections/corrections-laws',
  'reference/reference',
  'projector/postgres-limits',
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
