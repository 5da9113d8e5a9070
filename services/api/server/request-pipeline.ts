import { Refusal } from '#contracts/errors.ts';
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

export type Step = (context: RequestContext, dependencies: ApiDependencies) => void | Promise<void>;

/** What every request goes through, in this order, after it got its request id. A step that throws ends it. */
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

/** Of a request that no endpoint is given to: why is for those to learn who may call it. */
export const refusalPipeline = (refused: () => never): readonly Step[] => [
  authenticate,
  limitRate,
  authorizeWorkspace,
  authorizeScope,
  refused,
];

/** Counts one request: its status, and the seconds until its answer was handed to the socket. */
export type MeterRequest = (status: number, seconds: number) => void;

/** Steps that need no waiting run without it: most reads wait once, for the database. */
export const runPipeline = async (
  steps: readonly Step[],
  context: RequestContext,
  dependencies: ApiDependencies,
  meter: MeterRequest,
): Promise<void> => {
  const since = performance.now();
  try {
    for (const step of steps) {
      const waiting = step(context, dependencies);
      if (waiting) await waiting;
    }
  } catch (error) {
    await context.claim?.release(error instanceof Refusal ? 'refused' : 'failed').catch(() => undefined);
    sendError(context.reply, context.requestId, error, dependencies.log, context);
  }
  meter(context.reply.raw.statusCode, (performance.now() - since) / 1_000);
};
