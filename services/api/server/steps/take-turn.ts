import type { RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** Waits for the turn of the caller: its workspace when the key is known, and otherwise its network. */
export const takeTurn = ({ request }: RequestContext, { turns }: ApiDependencies): void | Promise<void> =>
  turns.enter(request.headers, request.ip);
