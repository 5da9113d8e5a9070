import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { record } from '../reply.ts';
import { atMost } from '#platform/concurrency/concurrency-limit.ts';
import {
  eventFields,
  findEvents,
  LOG_TEXT_MAX_LENGTH,
  LogQuery,
  showEvent,
} from '#services/ops/log/search.ts';
import { readQuery } from '#services/ops/validate-query.ts';

/** Looking through the log takes as long as the log is; a request ends with what it found by then. */
const LOOK_LIMIT_MS = 20_000;
/** Each of these reads the log from its beginning. */
const LOOKS_MAX = 4;

const Show = z.strictObject({
  stream: z.string().min(1).max(LOG_TEXT_MAX_LENGTH),
  revision: z
    .string()
    .regex(/^(\d{1,15}|last)$/, 'the number of the event in its stream, or `last`')
    .transform((text) => (text === 'last' ? null : BigInt(text))),
});

/** What `ops log find|show` does; to follow it there is `ops log tail`. */
export const registerLogRoutes = (
  app: FastifyInstance,
  { eventStore }: { readonly eventStore: EventStore },
  ending: AbortSignal,
): void => {
  const looking = atMost(LOOKS_MAX, 'searches of the log');
  app.route({
    method: 'GET',
    url: '/ops/log',
    handler: (request, reply) =>
      looking(async () => {
        const { limit, ...filter } = readQuery(LogQuery, request.query);
        const gone = new AbortController();
        reply.raw.once('close', () => gone.abort());
        const signal = AbortSignal.any([ending, gone.signal, AbortSignal.timeout(LOOK_LIMIT_MS)]);
        const events: ReturnType<typeof eventFields>[] = [];
        for await (const event of findEvents(eventStore, filter, signal)) {
          events.push(eventFields(event));
          if (events.length === limit) break;
        }
        // Of a log that was not looked through to its end there may be more.
        return record(request, { facts: events, is_complete: events.length < limit && !signal.aborted });
      }),
  });

  app.route<{ Params: { stream: string; revision: string } }>({
    method: 'GET',
    url: '/ops/log/:stream/:revision',
    handler: async (request) => {
      const { stream, revision } = readQuery(Show, request.params);
      return record(request, eventFields(await showEvent(eventStore, stream, revision)));
    },
  });
};
