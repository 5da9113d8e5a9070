import type { Plan } from '#contracts/events/workspace/workspace.ts';
import type { RefusedRequests } from '#application/access/request-counts.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { LimitFiles } from './server/file-routes.ts';
import type { ListStreams } from './server/list-formats.ts';
import type { TestWorld } from './server/test-world.ts';

export type ApiDependencies = OperationDependencies & {
  readonly idempotencyStore: IdempotencyStore;
  readonly refusedRequests: RefusedRequests;
  readonly limitFiles: LimitFiles;
  readonly listStreams: ListStreams;
  /** `null` without `TEST_WORLD_URL`. */
  readonly testWorld: TestWorld | null;
  /** Milliseconds of a request, from its arrival to its reply. */
  readonly requestBudgetMs: number;
  readonly requestsPerMinute: (plan: Plan) => number;
};
