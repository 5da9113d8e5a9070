import { Refusal } from '#contracts/errors.ts';
import type { RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** A position in the log: an unsigned 64-bit number. */
const POSITION = /^[0-9]{1,20}$/;

/** `min-position: <x-read-position of a write>`: the read shows at least that write, or what there is in time. */
export const awaitMinPosition = (
  context: RequestContext,
  dependencies: ApiDependencies,
): void | Promise<void> => {
  const position = context.request.headers['min-position'];
  if (position === undefined || context.endpoint.method !== 'GET') return;
  if (typeof position !== 'string' || !POSITION.test(position)) {
    const message = 'Send the value of `x-read-position` as it was answered.';
    throw new Refusal('invalid_input', message, [{ path: 'min-position', message, code: 'invalid_format' }]);
  }
  return dependencies.projectionWait.wait(context.endpoint.reads, BigInt(position)).then(() => undefined);
};
