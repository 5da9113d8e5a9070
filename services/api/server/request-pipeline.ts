import { Refusal } from '#contracts/errors.ts';
import { SlugReplaced } from '#operations/brands/find-brand.ts';
import { timeIsOut } from '#operations/endpoint/overload.ts';
import { waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import {
  authenticate,
  authorizeScope,
  authorizeWorkspace,
  awaitMinPosition,
  claimIdempotencyKey,
  limitRate,
  runHandler,
  storeIdempotentReply,
  validateInput,
  type RequestContext,
  sendReplaced,
  sendReply,
} from './steps.ts';
import { sendError } from './send-error.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** A test send waits for a receiver with limits of its own. */
const RECEIVER_WAIT_MS = 30_000;

/** Throws `Refusal` to end the request. */
export type Step = (context: RequestContext, dependencies: ApiDependencies) => void | Promise<void>;

export const READ_PIPELINE: readonly Step[] = [
  authenticate,
  limitRate,
  authorizeWorkspace,
  authorizeScope,
  validateInput,
  awaitMinPosition,
  runHandler,
  sendReply,
];

export const WRITE_PIPELINE: readonly Step[] = [
  authenticate,
  limitRate,
  authorizeWorkspace,
  authorizeScope,
  validateInput,
  claimIdempotencyKey,
  runHandler,
  storeIdempotentReply,
  sendReply,
];

/** Authenticates before a body is refused, so that only authorised callers see the reason. */
export const refusalPipeline = (refuse: () => never): readonly Step[] => [
  authenticate,
  limitRate,
  authorizeWorkspace,
  authorizeScope,
  refuse,
];

/** Extra time of operations that wait for a receiver of the caller. */
const LONGER_BY_MS: Readonly<Record<string, number>> = { testAlert: RECEIVER_WAIT_MS };

export type MeterRequest = (status: number, seconds: number) => void;

/** After a server fault the events may be recorded, so that a repetition must use the same command id. */
const outcomeOf = (error: unknown): 'refused' | 'failed' =>
  error instanceof Refusal && error.code !== 'overloaded' ? 'refused' : 'failed';

/** Awaits only steps that return a promise: most reads await once, for the database. */
const runSteps = async (
  steps: readonly Step[],
  context: RequestContext,
  dependencies: ApiDependencies,
): Promise<void> => {
  for (const step of steps) {
    const pending = step(context, dependencies);
    if (pending) await pending;
  }
};

/** Relies on `handlerTimeout` to answer a late read; the waits of the read end by limits of their own. */
export const runRead = async (
  steps: readonly Step[],
  context: RequestContext,
  dependencies: ApiDependencies,
  meter: MeterRequest,
): Promise<void> => {
  const since = performance.now();
  try {
    await runSteps(steps, context, dependencies);
  } catch (error) {
    if (error instanceof SlugReplaced) sendReplaced(context, error);
    else sendError(context.reply, context.requestId, error, dependencies.log, context);
  }
  meter(context.reply.raw.statusCode, (performance.now() - since) / 1_000);
};

/**
 * Answers a write whose time is over with 503 and appends nothing. A write that was recorded by then stores its reply.
 * `handlerTimeout` ends with the body of a request (`services/decisions/0014-time-of-reads-and-writes.md`).
 */
export const runWrite = async (
  steps: readonly Step[],
  context: RequestContext,
  dependencies: ApiDependencies,
  meter: MeterRequest,
): Promise<void> => {
  const since = performance.now();
  const budgetMs = dependencies.requestBudgetMs + (LONGER_BY_MS[context.endpoint.operationId] ?? 0);
  const answer = (error: unknown): void =>
    sendError(context.reply, context.requestId, error, dependencies.log, context);
  try {
    await withTimeBudget(
      waitsOf(budgetMs),
      () => runSteps(steps, context, dependencies),
      () => answer(timeIsOut()),
    );
  } catch (error) {
    const outcome = outcomeOf(error);
    // The reply does not wait for Postgres: a repetition of a failed request waits for the claim. After a refusal the key is free at
    // once, also for another body.
    if (outcome === 'failed') answer(error);
    await context.claim?.release(outcome);
    if (outcome === 'refused') answer(error);
  }
  meter(context.reply.raw.statusCode, (performance.now() - since) / 1_000);
};
