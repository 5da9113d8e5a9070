import { Refusal } from '#contracts/errors.ts';
import type { Allowance } from '#application/access/allowance.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/**
 * Counts the request against the limit per minute of the plan (specification, part "Limits"). All keys of a workspace
 * share it: a workspace with many keys may send no more than one with a single key.
 */
export const limitRate = (context: RequestContext, dependencies: ApiDependencies): void | Promise<void> => {
  const { workspaceId, plan } = callerOf(context);
  const accept = (allowance: Allowance): void => {
    context.allowance = allowance;
    if (allowance.allowed) return;
    throw new Refusal(
      'rate_limited',
      `Rate limit exceeded. Try again in ${allowance.resetIn} s (\`x-ratelimit-reset\`).`,
    );
  };
  const taken = dependencies.rateLimiter.take(workspaceId, dependencies.requestsPerMinute(plan));
  return taken instanceof Promise ? taken.then(accept) : accept(taken);
};
