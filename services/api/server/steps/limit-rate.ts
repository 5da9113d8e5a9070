import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** All keys of a workspace share the limit of its plan (specification, part "Limits"). */
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
