import { inSpan, isTracing } from '#platform/telemetry/tracing.ts';
import type { RequestContext } from './request-context.ts';

/** Continues the trace of the caller. Spans contain neither the key nor parameters. */
export const traceRequest = (context: RequestContext, run: () => Promise<void>): Promise<void> => {
  if (!isTracing()) return run();
  const { endpoint, request, reply, requestId } = context;
  const { traceparent } = request.headers;
  return inSpan(
    `${endpoint.method} ${endpoint.path}`,
    {
      kind: 'server',
      // A repeated header is ignored.
      parent: typeof traceparent === 'string' ? traceparent : undefined,
      attributes: {
        'http.request.method': endpoint.method,
        'http.route': endpoint.path,
        operation: endpoint.operationId,
        request_id: requestId,
      },
    },
    async (span) => {
      await run();
      span?.set({
        'http.response.status_code': reply.raw.statusCode,
        ...(context.caller ? { workspace_id: context.caller.workspaceId } : {}),
      });
    },
  );
};
