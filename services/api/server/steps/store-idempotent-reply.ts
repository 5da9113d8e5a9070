import { outsideTimeBudget } from '#platform/concurrency/time-budget.ts';
import type { RequestContext } from '../request-context.ts';

/**
 * Runs before the reply is sent, so that a retry finds it. A recorded write is stored also after the request's time.
 */
export const storeIdempotentReply = (context: RequestContext): void | Promise<void> => {
  const { claim, result, endpoint } = context;
  if (!claim || !result) return;
  const { data, asOf, position = null, shownOnce } = result;
  const { status } = endpoint.reply;
  return outsideTimeBudget(() => claim.store({ status, data, asOf, position, shownOnce }));
};
