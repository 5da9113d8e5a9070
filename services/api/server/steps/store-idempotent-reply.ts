import { outsideTimeBudget } from '#platform/concurrency/time-budget.ts';
import type { RequestContext } from '../request-context.ts';

/** Stores the reply before it is sent, so that a retry always finds it; also after the time of the request. */
export const storeIdempotentReply = (context: RequestContext): void | Promise<void> => {
  const { claim, result, endpoint } = context;
  if (!claim || !result) return;
  const { data, asOf, position = null, shownOnce } = result;
  const { status } = endpoint.reply;
  return outsideTimeBudget(() => claim.store({ status, data, asOf, position, shownOnce }));
};
