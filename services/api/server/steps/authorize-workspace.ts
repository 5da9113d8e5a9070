import { requireWorkspace } from '#operations/endpoint/authorize.ts';
import { callerOf, type RequestContext } from '../request-context.ts';

/** Refuses a path that names another workspace than that of the caller: 404. */
export const authorizeWorkspace = (context: RequestContext): void =>
  requireWorkspace((context.request.params as { ws?: string }).ws, callerOf(context));
