import { requireScope } from '#operations/endpoint/authorize.ts';
import { callerOf, type RequestContext } from '../request-context.ts';

export const authorizeScope = (context: RequestContext): void =>
  requireScope(context.endpoint, callerOf(context));
