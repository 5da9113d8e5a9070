import type { RequestContext } from '../request-context.ts';

/** Stores the answer under the idempotency key before anybody sees it. */
export const storeIdempotentReply = (context: RequestContext): void | Promise<void> => {
  const { claim, answer, endpoint } = context;
  if (!claim || !answer) return;
  const { data, asOf, position = null } = answer;
  return claim.keep({ status: endpoint.reply.status, data, asOf, position });
};
