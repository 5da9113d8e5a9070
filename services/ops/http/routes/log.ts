import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { record } from '../reply.ts';
import { createConcurrencyLimit } from '#platform/concurrency/queues.ts';
import {
  eventFields,
  findEvents,
  LOG_TEXT_MAX_LENGTH,
  LogQuery,
  showEvent,
} from '#services/ops/log/search.ts';
import { readQuery } from '#services/ops/validate-query.ts';

const SEARCH_LIMIT_MS = 20_000;
/** Maximum concurrent searches. Each reads the log from its beginning. */
const SEARCHES_MAX = 4;

const Show = z.strictObject({
  stream: z.string().min(1).max(LOG_TEXT_MAX_LENGTH),
  revision: z
    .string()
    .regex(/^(\d{1,15}|last)$/, 'must be the revision of the event in its stream, or `last`')
    .transform((text) => (text === 'last' ? null : BigInt(text))),
});

export const registerLogRoutes = (
  app: FastifyInstance,
  { eventStore }: { readonly eventStore: EventStore },
  ending: AbortSignal,
): void => {
  const searching = createConcurrencyLimit(SEARCHES_MAX, 'searches of the log');
  app.route({
    method: 'GET',
    url: '/ops/log',
    handler: (request, reply) =>
      searching(async () => {
        const { limit, ...filter } = readQuery(LogQuery, request.query);
        const disconnected = new AbortController();
        reply.raw.once('close', () => disconnected.abort());
        const timeout = AbortSignal.timeout(SEARCH_LIMIT_MS);
        const signal = AbortSignal.any([ending, disconnected.signal, timeout]);
        const events: ReturnType<typeof eventFields>[] = [];
        for await (const event of findEvents(eventStore, filter, signal)) {
          events.push(eventFields(event));
          if (events.length === limit) break;
        }
        // False when the limit or the timeout ended the search.
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
