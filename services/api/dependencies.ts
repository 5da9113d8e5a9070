import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import type { IdempotencyStore } from './idempotency/idempotency-store.ts';

/** The dependencies of operations, and those of HTTP requests. */
export type ApiDependencies = OperationDependencies & {
  readonly idempotencyStore: IdempotencyStore;
};
