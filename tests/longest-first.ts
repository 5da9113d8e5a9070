import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, about longest first, as fragments of their paths. The last file of a run keeps one worker busy
 * while the others are idle, so that it must be a short one. Files that wait most of their time stand between those that
 * compute, so that they overlap.
 */
export const LONGEST: readonly string[] = [
  'e2e/documents',
  'mcp/sign-in/walks',
  'faults/kill-everything',
  'faults/restarts',
  'e2e/local-stack.',
  'faults/histories/histories.',
  'real-data/main-job',
  'faults/takeovers',
  'mcp/sign-in/pages',
  'faults/alerts-kill',
  'real-data/any-order',
  'ops/console',
  'reference/reference',
  'faults/delivery-kill',
  'projector/postgres-limits',
  'bench/tiny',
  'ingest/files/memory',
  'api/every-endpoint',
  'api/specification',
  'real-data/network',
  'projector/isolation',
  'alerts/many-digests',
  'projections/corrections-laws',
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
