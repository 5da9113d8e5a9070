import { Refusal } from '#contracts/errors.ts';
import { PLANS } from '#contracts/values/plans.ts';
import { callerOf, type Exchange } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** Counts the request against the key's minute (specification, part "Limits"). */
export const limitRate = (exchange: Exchange, room: ApiDependencies): void => {
  const { keyId, plan } = callerOf(exchange);
  exchange.allowance = room.rateLimits.take(keyId, PLANS[plan].requestsPerMinute);
  if (!exchange.allowance.allowed) {
    throw new Refusal(
      'rate_limited',
      `Wait until the time given by x-ratelimit-reset: ${exchange.allowance.resetIn} s.`,
    );
  }
};
