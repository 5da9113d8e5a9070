import type { Exchange } from '../request-context.ts';

/** Stores the answer under the idempotency key before anybody sees it. */
export const keepAnswer = (exchange: Exchange): void | Promise<void> => {
  const { claim, answer, endpoint } = exchange;
  if (!claim || !answer) return;
  const { data, asOf, position = null } = answer;
  return claim.keep({ status: endpoint.reply.status, data, asOf, position });
};
