import type { Plan } from '#contracts/events/workspace/workspace.ts';
import type { RefusedRequests } from '#application/access/request-counts.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { LimitFiles } from './server/file-routes.ts';

export type ApiDependencies = OperationDependencies & {
  readonly idempotencyStore: IdempotencyStore;
  readonly refusedRequests: RefusedRequests;
  readonly limitFiles: LimitFiles;
  /** Milliseconds of a request, from its arrival to its reply. */
  readonly requestBudgetMs: number;
  readonly requestsPerMinute: (plan: Plan) => number;
};
