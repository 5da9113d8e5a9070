import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/**
 * Counts the request against the limit per minute of the plan (specification, part "Limits"). All keys of a workspace
 * share it: a workspace with many keys may send no more than one with a single key.
 */
export const limitRate = (context: RequestContext, dependencies: ApiDependencies): void | Promise<void> => {
  const { requestCounts, requestsPerMinute } = dependencies;
  const { workspaceId, plan } = callerOf(context);
  const limit = requestsPerMinute(plan);
  const hearing = requestCounts.hearing(workspaceId, limit);
  if (hearing) return hearing.then(() => limitRate(context, dependencies));
  const allowance = requestCounts.take(workspaceId, limit);
  context.allowance = allowance;
  if (allowance.allowed) return undefined;
  throw new Refusal(
    'rate_limited',
    `Rate limit exceeded. Try again in ${allowance.resetIn} s (\`x-ratelimit-reset\`).`,
  );
};
