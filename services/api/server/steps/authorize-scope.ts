import { Refusal } from '#contracts/errors.ts';
import { callerOf, type Exchange } from '../request-context.ts';

/** The endpoint's scope is among those of the key that its member's role still allows. */
export const checkScope = (exchange: Exchange): void => {
  const { scope } = exchange.endpoint;
  if (!callerOf(exchange).scopes.has(scope)) {
    throw new Refusal('scope_missing', `This needs a key with the scope ${scope}.`);
  }
};
