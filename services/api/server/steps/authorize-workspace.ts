import { requireWorkspace } from '#operations/endpoint/authorize.ts';
import { callerOf, type RequestContext } from '../request-context.ts';

/** Answers 404, not 403, so that no caller finds out which other workspaces exist. */
export const authorizeWorkspace = (context: RequestContext): void =>
  requireWorkspace((context.request.params as { ws?: string }).ws, callerOf(context));
