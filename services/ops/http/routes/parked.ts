import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { page, record } from '../reply.ts';
import { eventFields } from '#services/ops/log/search.ts';
import {
  listParked,
  ParkedPageLimit,
  ParkedCursor,
  nextParkedCursor,
  PROJECTION_MAX_LENGTH,
  retryParked,
  showParked,
  skipParked,
  STREAM_MAX_LENGTH,
} from '#services/ops/projections/parked.ts';
import { listWaitingStreams, nextWaitingCursor, WaitingQuery } from '#services/ops/alerts/waiting-streams.ts';
import { readQuery } from '#services/ops/validate-query.ts';

export type ParkedDependencies = { readonly pool: Database; readonly eventStore: EventStore };

const STREAMS_MAX = 1_000;

const Projection = z.string().min(1).max(PROJECTION_MAX_LENGTH);
const Stream = z.string().min(1).max(STREAM_MAX_LENGTH);
const Page = z.strictObject({
  projection: Projection.optional(),
  limit: ParkedPageLimit,
  cursor: ParkedCursor.optional(),
});
const WaitingPage = WaitingQuery.omit({ after: true }).extend({ cursor: WaitingQuery.shape.after });
const Retry = z.strictObject({
  projection: Projection,
  streams: z.union(
    [z.array(Stream).min(1).max(STREAMS_MAX), z.literal('all')],
    `must be up to ${STREAMS_MAX} stream names, or "all"`,
  ),
});
const Skip = z.strictObject({ projection: Projection, stream: Stream });

/** Registers reads and commands of events that wait. Retry and skip reply 202: the projector that owns the projection carries them out. */
export const registerParkedRoutes = (
  app: FastifyInstance,
  { pool, eventStore }: ParkedDependencies,
): void => {
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
      return page(request, parked, nextParkedCursor(parked, limit));
    },
  });

  app.route<{ Params: { projection: string; stream: string } }>({
    method: 'GET',
    url: '/ops/parked/:projection/:stream',
    handler: async (request) => {
      const { projection, stream } = request.params;
      const { fact: event, ...parked } = await showParked(pool, eventStore, projection, stream);
      return record(request, { ...parked, fact: event === null ? null : eventFields(event) });
    },
  });

  app.route({
    method: 'POST',
    url: '/ops/parked/retry',
    handler: async (request, reply) => {
      const { projection, streams } = readQuery(Retry, request.body);
      const requested = await retryParked(pool, projection, streams === 'all' ? null : streams);
      void reply.status(202);
      return record(request, { projection, streams_asked: requested });
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

  app.route({
    method: 'GET',
    url: '/ops/alerts/waiting',
    handler: async (request) => {
      const { limit, cursor } = readQuery(WaitingPage, request.query);
      const streams = await listWaitingStreams(pool, { limit, after: cursor });
      return page(request, streams, nextWaitingCursor(streams, limit));
    },
  });
};
