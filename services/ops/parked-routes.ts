import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { EventStore } from '#platform/event-store.ts';
import type { Database } from '#platform/postgres.ts';
import { page, record } from './answers.ts';
import { readQuery } from './audit/history-query.ts';
import { factFields } from './commands/log.ts';
import { listParked, PARKED_PAGE_MAX, retryParked, showParked, skipParked } from './projections/parked.ts';

export type ParkedRoom = { readonly pool: Database; readonly eventStore: EventStore };

const PAGE_DEFAULT = 50;
/** Streams of one request. */
const STREAMS_MAX = 1_000;
const NAME_MAX_LENGTH = 100;
const STREAM_MAX_LENGTH = 300;

const Projection = z.string().min(1).max(NAME_MAX_LENGTH);
const Stream = z.string().min(1).max(STREAM_MAX_LENGTH);
const Page = z.strictObject({
  projection: Projection.optional(),
  limit: z.coerce.number().int().min(1).max(PARKED_PAGE_MAX).default(PAGE_DEFAULT),
  cursor: z
    .string()
    .max(NAME_MAX_LENGTH + STREAM_MAX_LENGTH + 1)
    .regex(/^[^/]+\/.+$/, 'the cursor of the page before')
    .transform((text) => ({
      projection: text.slice(0, text.indexOf('/')),
      stream: text.slice(text.indexOf('/') + 1),
    }))
    .optional(),
});
const Retry = z.strictObject({
  projection: Projection,
  streams: z.union(
    [z.array(Stream).min(1).max(STREAMS_MAX), z.literal('all')],
    `names of streams, ${STREAMS_MAX} at most, or "all"`,
  ),
});
const Skip = z.strictObject({ projection: Projection, stream: Stream });

/** What `ops projections parked list|show|retry|skip` does. The owner of the projection does what is asked for here. */
export const registerParkedRoutes = (app: FastifyInstance, { pool, eventStore }: ParkedRoom): void => {
  app.route({
    method: 'GET',
    url: '/ops/parked',
    handler: async (request) => {
      const { projection, limit, cursor } = readQuery(Page, request.query);
      const parked = await listParked(pool, {
        projection: projection ?? null,
        stream: null,
        limit,
        after: cursor ?? null,
      });
      const last = parked.at(-1);
      const isFull = parked.length === limit && last !== undefined;
      return page(request, parked, isFull ? `${last.projection}/${last.stream}` : null);
    },
  });

  app.route<{ Params: { projection: string; stream: string } }>({
    method: 'GET',
    url: '/ops/parked/:projection/:stream',
    handler: async (request) => {
      const { projection, stream } = request.params;
      const { fact, ...parked } = await showParked(pool, eventStore, projection, stream);
      return record(request, { ...parked, fact: fact === null ? null : factFields(fact) });
    },
  });

  app.route({
    method: 'POST',
    url: '/ops/parked/retry',
    handler: async (request, reply) => {
      const { projection, streams } = readQuery(Retry, request.body);
      const asked = await retryParked(pool, projection, streams === 'all' ? null : streams);
      void reply.status(202);
      return record(request, { projection, streams_asked: asked });
    },
  });

  app.route({
    method: 'POST',
    url: '/ops/parked/skip',
    handler: async (request, reply) => {
      const { projection, stream } = readQuery(Skip, request.body);
      await skipParked(pool, projection, stream);
      void reply.status(202);
      return record(request, { projection, stream, asked: 'skip' });
    },
  });
};
