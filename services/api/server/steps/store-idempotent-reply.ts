import type { RequestContext } from '../request-context.ts';

/**
 * Stores the reply under the idempotency key. Runs before the reply is sent, so that a retry always finds it.
 */
export const storeIdempotentReply = (context: RequestContext): void | Promise<void> => {
  const { claim, result, endpoint } = context;
  if (!claim || !result) return;
  const { data, asOf, position = null, shownOnce } = result;
  return claim.store({ status: endpoint.reply.status, data, asOf, position, shownOnce });
};
