import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';

/** The endpoint's scope is among those of the key that its member's role still allows. */
export const authorizeScope = (context: RequestContext): void => {
  const { scope } = context.endpoint;
  if (!callerOf(context).scopes.has(scope)) {
    throw new Refusal('scope_missing', `This needs a key with the scope ${scope}.`);
  }
};
