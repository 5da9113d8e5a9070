import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** Takes a place among the requests in progress, or refuses with 503. The pipeline frees it at the end. */
export const admit = (context: RequestContext, { admission }: ApiDependencies): void => {
  context.place = admission.enter(callerOf(context).workspaceId, context.endpoint);
};
