import { Refusal } from '#contracts/errors.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { isKeyText, sha256Of } from '#application/access/api-key-format.ts';
import { bearerOf } from '#platform/http/bearer-token.ts';
import type { RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

const KEY_REFUSED = new Refusal('unauthorized', 'Send a valid API key: `Authorization: Bearer <API_KEY>`.');

/**
 * Identifies the caller by API key. The error is the same for a missing, malformed, unknown and revoked key.
 */
export const authenticate = (
  context: RequestContext,
  dependencies: ApiDependencies,
): void | Promise<void> => {
  const key = bearerOf(context.request.headers);
  if (key === undefined || !isKeyText(key)) throw KEY_REFUSED;
  const accept = (caller: Caller | null): void => {
    if (!caller) throw KEY_REFUSED;
    context.caller = caller;
    dependencies.keyUsage.record(caller, context.now);
  };
  const found = dependencies.callers.find(sha256Of(key));
  return found instanceof Promise ? found.then(accept) : accept(found);
};
