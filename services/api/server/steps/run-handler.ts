import type { Answer } from '#operations/endpoint/reply.ts';
import { callerOf, type Exchange } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** In stored JSON texts, the service's own base URL: figures stay the same when the service moves. */
const BASE_URL_MARK = '\u0001';

export const runHandler = async (exchange: Exchange, room: ApiDependencies): Promise<void> => {
  if (exchange.answer) return;
  const { endpoint, request } = exchange;
  const whose = endpoint.method === 'GET' ? readerOf(exchange) : null;
  exchange.answer =
    whose === null
      ? await answerOf(exchange, room)
      : await room.sharedReads(`${whose} ${request.url}`, () => answerOf(exchange, room));
};

/** Among whom a read is the same: everybody for the corpus, a member for a workspace; `null` for a key's own. */
const readerOf = (exchange: Exchange): string | null => {
  const { endpoint } = exchange;
  if (endpoint.corpus) return '';
  return endpoint.path.includes('{ws}') ? callerOf(exchange).memberId : null;
};

const answerOf = async (exchange: Exchange, room: ApiDependencies): Promise<Answer> => {
  const { limit } = exchange.query as { limit?: number };
  const answer = await exchange.endpoint.handler(
    {
      params: exchange.params as never,
      query: exchange.query as never,
      body: exchange.body as never,
      caller: callerOf(exchange),
      requestId: exchange.requestId,
      commandId: exchange.commandId,
      mayRepeat: exchange.claim !== undefined,
      page: { limit: limit ?? 0, after: exchange.after },
    },
    room,
  );
  return { ...answer, data: answer.data.replaceAll(BASE_URL_MARK, room.baseUrl) };
};
