import { createExecute } from '#operations/endpoint/execute-command.ts';
import type { Reply } from '#operations/endpoint/reply.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** In stored JSON texts, the service's own base URL: figures stay the same when the service moves. */
const BASE_URL_MARK = '\u0001';

export const runHandler = async (context: RequestContext, dependencies: ApiDependencies): Promise<void> => {
  if (context.answer) return;
  const { endpoint, request } = context;
  const whose = endpoint.method === 'GET' ? readerOf(context) : null;
  context.answer =
    whose === null
      ? await answerOf(context, dependencies)
      : await dependencies.coalesceReads(`${whose} ${request.url}`, () => answerOf(context, dependencies));
};

/** Among whom a read is the same: everybody for the corpus, a member for a workspace; `null` for a key's own. */
const readerOf = (context: RequestContext): string | null => {
  const { endpoint } = context;
  if (endpoint.corpus) return '';
  return endpoint.path.includes('{ws}') ? callerOf(context).memberId : null;
};

const answerOf = async (context: RequestContext, dependencies: ApiDependencies): Promise<Reply> => {
  const { limit } = context.query as { limit?: number };
  const { requestId, commandId } = context;
  const call = { caller: callerOf(context), requestId, commandId, mayRepeat: context.claim !== undefined };
  const answer = await context.endpoint.handler(
    {
      ...call,
      params: context.params as never,
      query: context.query as never,
      body: context.body as never,
      page: { limit: limit ?? 0, after: context.after },
      execute: createExecute(dependencies.workspaceCommands, call),
    },
    dependencies,
  );
  return { ...answer, data: answer.data.replaceAll(BASE_URL_MARK, dependencies.baseUrl) };
};
