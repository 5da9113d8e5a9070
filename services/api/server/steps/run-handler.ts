import { type HandlerCall, runEndpointHandler } from '#operations/endpoint/run-handler.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

export const runHandler = async (context: RequestContext, dependencies: ApiDependencies): Promise<void> => {
  if (context.result) return;
  const caller = callerOf(context);
  const createCall = (): HandlerCall => ({
    params: context.params,
    query: context.query,
    body: context.body,
    caller,
    requestId: context.requestId,
    commandId: context.commandId,
    mayRepeat: context.claim?.isTakenOver === true,
    page: { limit: (context.query as { limit?: number }).limit ?? 0, after: context.after },
  });
  context.result = await runEndpointHandler(
    context.endpoint,
    caller,
    context.request.url,
    createCall,
    dependencies,
  );
};
