import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import type { IdempotentAnswers } from './idempotency/idempotency-store.ts';

/** The dependencies of operations, and those of HTTP requests. */
export type ApiDependencies = OperationDependencies & {
  readonly idempotentAnswers: IdempotentAnswers;
};
