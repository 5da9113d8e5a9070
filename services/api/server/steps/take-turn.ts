import type { RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** Waits for the turn of the caller, by its credentials as sent, or its address when it sent none. */
export const takeTurn = ({ request }: RequestContext, { turns }: ApiDependencies): void | Promise<void> =>
  turns.enter(request.headers.authorization ?? request.ip);
