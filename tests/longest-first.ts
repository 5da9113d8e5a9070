import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, longest first, as fragments of their paths. The last file of a run keeps one worker busy while
 * the other is idle, so that it must be a short one.
 */
export const LONGEST: readonly string[] = [
  'reference/reference',
  'e2e/documents',
  'faults/kill-everything',
  'real-data/main-job',
  'ingest/files/memory',
  'ops/audit.',
  'mcp/sign-in/walks',
  'e2e/local-stack.',
  'real-data/any-order',
  'api/every-endpoint',
  'api/specification',
  'projector/postgres-limits',
  'projections/corrections-laws',
  'faults/restarts',
  'bench/tiny',
  'faults/alerts-kill',
  'mcp/sign-in/pages',
  'projections/library-laws',
  'ops/workspace-commands',
  'ops/projections.',
  'faults/delivery-kill',
  'real-data/network',
  'ops/console',
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
