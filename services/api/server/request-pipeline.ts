import { Refusal } from '#contracts/errors.ts';
import { timeIsOut } from '#operations/endpoint/overload.ts';
import { waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { awaitMinPosition } from './steps/await-min-position.ts';
import { validateInput } from './steps/validate-input.ts';
import { authenticate } from './steps/authenticate.ts';
import { authorizeScope } from './steps/authorize-scope.ts';
import { authorizeWorkspace } from './steps/authorize-workspace.ts';
import { claimIdempotencyKey } from './steps/claim-idempotency-key.ts';
import { storeIdempotentReply } from './steps/store-idempotent-reply.ts';
import { limitRate } from './steps/limit-rate.ts';
import { runHandler } from './steps/run-handler.ts';
import type { RequestContext } from './request-context.ts';
import { sendReply } from './send-reply.ts';
import { sendError } from './send-error.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** Milliseconds for a test send, whose receiver has limits of its own. */
const RECEIVER_WAIT_MS = 30_000;

/** A check or action of the pipeline. Throws `Refusal` to end the request. */
export type Step = (context: RequestContext, dependencies: ApiDependencies) => void | Promise<void>;

/** Steps of a read, in order. A step that throws ends the request with an error reply. */
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

/** Steps of a write, in order. */
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

/**
 * Steps for a request whose body cannot be parsed: authenticate first, so that only authorised callers see the
 * reason.
 */
export const refusalPipeline = (refuse: () => never): readonly Step[] => [
  authenticate,
  limitRate,
  authorizeWorkspace,
  authorizeScope,
  refuse,
];

/** Operations that wait for a receiver of the caller, with the milliseconds that they may take longer than others. */
const LONGER_BY_MS: Readonly<Record<string, number>> = { testAlert: RECEIVER_WAIT_MS };

/** Records one request: its status, and the seconds until its reply was written to the socket. */
export type MeterRequest = (status: number, seconds: number) => void;

/**
 * Returns how the claim on an idempotency key ends. A server that is gone may have recorded the events of the request, so
 * that a repetition must use the same command id.
 */
const outcomeOf = (error: unknown): 'refused' | 'failed' =>
  error instanceof Refusal && error.code !== 'overloaded' ? 'refused' : 'failed';

/** Runs the steps in order. Awaits only those that return a promise: most reads await once, for the database. */
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

/** Runs a read. Its route answers it when its time is over (`handlerTimeout`); what it waits for ends by limits of its own. */
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
    sendError(context.reply, context.requestId, error, dependencies.log, context);
  }
  meter(context.reply.raw.statusCode, (performance.now() - since) / 1_000);
};

/**
 * Runs a write in its time: then it is answered with 503, its waits end, and nothing is appended. The reply of a write that was
 * recorded by then is stored, so that a repetition with the same idempotency key gets it. `handlerTimeout` would not do: it ends with
 * the body of a request (`services/decisions/0014-time-of-reads-and-writes.md`).
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
    await context.claim?.release(outcome).catch(() => undefined);
    if (outcome === 'refused') answer(error);
  }
  meter(context.reply.raw.statusCode, (performance.now() - since) / 1_000);
};
