import { Refusal } from '#contracts/errors.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { isKeyText, sha256Of } from '#application/access/api-key-format.ts';
import { bearerOf } from '#platform/http/bearer-token.ts';
import type { RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

const KEY_REFUSED = new Refusal('unauthorized', 'Send a valid API key: `Authorization: Bearer <API_KEY>`.');

/**
 * Identifies the caller by API key. The error is the same for a missing, malformed, unknown and revoked key. Refused
 * requests have a limit by address, which is checked before a key is parsed, hashed or looked up.
 */
export const authenticate = (
  context: RequestContext,
  dependencies: ApiDependencies,
): void | Promise<void> => {
  const { refusedRequests, callers, keyUsage, turns } = dependencies;
  const { ip, headers } = context.request;
  const key = bearerOf(headers);
  const exhausted = refusedRequests.exhausted(ip, key);
  if (exhausted) {
    context.allowance = exhausted;
    const message = `Too many requests without a valid API key from this address. Try again in ${exhausted.resetIn} s.`;
    throw new Refusal('rate_limited', message);
  }
  if (key === undefined || !isKeyText(key)) {
    refusedRequests.refuse(ip, key);
    throw KEY_REFUSED;
  }
  const accept = (caller: Caller | null): void => {
    turns.learn(key, caller?.workspaceId ?? null);
    if (!caller) {
      refusedRequests.refuse(ip, key);
      throw KEY_REFUSED;
    }
    refusedRequests.accept(key);
    context.caller = caller;
    keyUsage.record(caller, context.now);
  };
  const found = callers.find(sha256Of(key));
  return found instanceof Promise ? found.then(accept) : accept(found);
};
