import { Refusal } from '#contracts/errors.ts';
import { awaitMinPosition } from './steps/await-min-position.ts';
import { checkContract } from './steps/validate-input.ts';
import { checkKey } from './steps/authenticate.ts';
import { checkScope } from './steps/authorize-scope.ts';
import { checkWorkspace } from './steps/authorize-workspace.ts';
import { claimIdempotencyKey } from './steps/claim-idempotency-key.ts';
import { keepAnswer } from './steps/store-idempotent-reply.ts';
import { limitRate } from './steps/limit-rate.ts';
import { runHandler } from './steps/run-handler.ts';
import type { Exchange } from './request-context.ts';
import { sendAnswer } from './send-reply.ts';
import { sendError } from './send-error.ts';
import type { ApiDependencies } from '../dependencies.ts';

export type Step = (exchange: Exchange, room: ApiDependencies) => void | Promise<void>;

/** What every request goes through, in this order, after it got its request id. A step that throws ends it. */
export const READ_PIPELINE: readonly Step[] = [
  checkKey,
  limitRate,
  checkWorkspace,
  checkScope,
  checkContract,
  awaitMinPosition,
  runHandler,
  sendAnswer,
];

export const WRITE_PIPELINE: readonly Step[] = [
  checkKey,
  limitRate,
  checkWorkspace,
  checkScope,
  checkContract,
  claimIdempotencyKey,
  runHandler,
  keepAnswer,
  sendAnswer,
];

/** Of a request that no endpoint is given to: why is for those to learn who may call it. */
export const refusalPipeline = (refused: () => never): readonly Step[] => [
  checkKey,
  limitRate,
  checkWorkspace,
  checkScope,
  refused,
];

/** Counts one request: its status, and the seconds until its answer was handed to the socket. */
export type MeterRequest = (status: number, seconds: number) => void;

/** Steps that need no waiting run without it: most reads wait once, for the database. */
export const runPipeline = async (
  steps: readonly Step[],
  exchange: Exchange,
  room: ApiDependencies,
  meter: MeterRequest,
): Promise<void> => {
  const since = performance.now();
  try {
    for (const step of steps) {
      const waiting = step(exchange, room);
      if (waiting) await waiting;
    }
  } catch (error) {
    await exchange.claim?.release(error instanceof Refusal ? 'refused' : 'failed').catch(() => undefined);
    sendError(exchange.reply, exchange.requestId, error, room.log, exchange);
  }
  meter(exchange.reply.raw.statusCode, (performance.now() - since) / 1_000);
};
