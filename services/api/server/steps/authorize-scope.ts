import { requireScope } from '#operations/endpoint/authorize.ts';
import { callerOf, type RequestContext } from '../request-context.ts';

/** Refuses a caller without the scope of the endpoint: 403. */
export const authorizeScope = (context: RequestContext): void =>
  requireScope(context.endpoint, callerOf(context));
