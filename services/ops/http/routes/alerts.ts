import type { FastifyInstance } from 'fastify';
import type { Database } from '#platform/postgres/pool.ts';
import { listWaitingStreams, nextWaitingCursor, WaitingQuery } from '#services/ops/alerts/waiting-streams.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { page } from '../reply.ts';

const Page = WaitingQuery.omit({ after: true }).extend({ cursor: WaitingQuery.shape.after });

export const registerAlertRoutes = (app: FastifyInstance, { pool }: { readonly pool: Database }): void => {
  app.route({
    method: 'GET',
    url: '/ops/alerts/waiting',
    handler: async (request) => {
      const { limit, cursor } = readQuery(Page, request.query);
      const streams = await listWaitingStreams(pool, { limit, after: cursor });
      return page(request, streams, nextWaitingCursor(streams, limit));
    },
  });
};
