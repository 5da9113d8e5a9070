import { callerOf, type Exchange } from '../exchange.ts';
import type { ApiRoom } from '../room.ts';

/** In stored JSON texts, the service's own base URL: figures stay the same when the service moves. */
const BASE_URL_MARK = '\u0001';

export const runHandler = async (exchange: Exchange, room: ApiRoom): Promise<void> => {
  if (exchange.answer) return;
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
  exchange.answer = { ...answer, data: answer.data.replaceAll(BASE_URL_MARK, room.baseUrl) };
};
