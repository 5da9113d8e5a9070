import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/**
 * Counts the request against the limit per minute of the plan (specification, part "Limits"). All keys of a workspace
 * share it: a workspace with many keys may send no more than one with a single key.
 */
export const limitRate = (context: RequestContext, dependencies: ApiDependencies): void => {
  const { workspaceId, plan } = callerOf(context);
  context.allowance = dependencies.rateLimiter.take(workspaceId, dependencies.requestsPerMinute(plan));
  if (!context.allowance.allowed) {
    throw new Refusal(
      'rate_limited',
      `Rate limit exceeded. Try again in ${context.allowance.resetIn} s (\`x-ratelimit-reset\`).`,
    );
  }
};
