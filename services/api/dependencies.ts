import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import type { IdempotencyStore } from './idempotency/idempotency-store.ts';

/** Dependencies of pipeline steps and handlers. */
export type ApiDependencies = OperationDependencies & {
  readonly idempotencyStore: IdempotencyStore;
};
