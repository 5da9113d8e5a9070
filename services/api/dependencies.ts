import type { Plan } from '#contracts/events/workspace/workspace.ts';
import type { RefusedRequests } from '#application/access/refused-requests.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import type { IdempotencyStore } from './idempotency/idempotency-store.ts';
import type { Admission } from './server/admission.ts';
import type { CallerTurns } from './server/caller-turns.ts';
import type { Etags } from './server/etags.ts';
import type { FilePlaces } from './server/file-places.ts';

/** Dependencies of pipeline steps and handlers. */
export type ApiDependencies = OperationDependencies & {
  readonly idempotencyStore: IdempotencyStore;
  readonly refusedRequests: RefusedRequests;
  readonly etags: Etags;
  readonly admission: Admission;
  readonly filePlaces: FilePlaces;
  readonly turns: CallerTurns;
  /** Milliseconds of a request, from its arrival to its reply. */
  readonly requestBudgetMs: number;
  /** Returns the requests per minute of a workspace with this plan. */
  readonly requestsPerMinute: (plan: Plan) => number;
};
