import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

const POSITION = /^[0-9]{1,20}$/;

/**
 * Waits for the position in the header `min-position`. After a timeout the read continues with the projections as they
 * are.
 */
export const awaitMinPosition = (
  context: RequestContext,
  dependencies: ApiDependencies,
): void | Promise<void> => {
  const position = context.request.headers['min-position'];
  if (position === undefined || context.endpoint.method !== 'GET') return;
  if (typeof position !== 'string' || !POSITION.test(position)) {
    const message = 'Send the value of `x-read-position` from an earlier reply, unchanged.';
    throw new Refusal('invalid_input', message, [{ path: 'min-position', message, code: 'invalid_format' }]);
  }
  const { keyId } = callerOf(context);
  return dependencies.readRoutes.waitFor(keyId, context.endpoint.reads, BigInt(position));
};
