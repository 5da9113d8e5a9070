import { Refusal } from '#contracts/errors.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Allowance } from '#application/access/request-counts.ts';
import { isKeyText, sha256Of } from '#application/access/api-key-format.ts';
import { bearerOf } from '#platform/http/bearer-token.ts';
import type { RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

const KEY_REFUSED = new Refusal('unauthorized', 'Send a valid API key: `Authorization: Bearer <API_KEY>`.');

export const addressRefusal = ({ resetIn }: Allowance): Refusal =>
  new Refusal(
    'rate_limited',
    `Too many requests without a valid API key from this address. Try again in ${resetIn} s.`,
  );

/**
 * The error is the same for a missing, malformed, unknown and revoked key. Refused requests are limited by address
 * before a key is hashed.
 */
export const authenticate = (
  context: RequestContext,
  { refusedRequests, callers, keyUsage }: ApiDependencies,
): void | Promise<void> => {
  const { ip, headers } = context.request;
  const key = bearerOf(headers);
  const entered = refusedRequests.enter(ip, key);
  if (entered !== null && typeof entered !== 'string') {
    context.allowance = entered;
    throw addressRefusal(entered);
  }
  if (key === undefined || !isKeyText(key)) {
    refusedRequests.refuse(ip, key, entered);
    throw KEY_REFUSED;
  }
  const accept = (caller: Caller | null): void => {
    if (!caller) {
      refusedRequests.refuse(ip, key, entered);
      throw KEY_REFUSED;
    }
    refusedRequests.accept(key, entered);
    context.caller = caller;
    keyUsage.record(caller, context.now);
  };
  const found = callers.find(sha256Of(key));
  if (!(found instanceof Promise)) return accept(found);
  return found.then(accept, (error: unknown) => {
    refusedRequests.cancel(entered);
    throw error;
  });
};
