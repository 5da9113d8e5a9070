import type { FastifyInstance } from 'fastify';
import { readVerification } from '#application/invariants/verification-record.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { record } from '../reply.ts';

export const registerFigureRoutes = (app: FastifyInstance, { pool }: { readonly pool: Database }): void => {
  app.route({
    method: 'GET',
    url: '/ops/figures',
    handler: async (request) => record(request, await readVerification(pool)),
  });
};
