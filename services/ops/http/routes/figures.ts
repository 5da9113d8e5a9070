import type { FastifyInstance } from 'fastify';
import { readVerification } from '#application/invariants/verification-record.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { record } from '../reply.ts';

/** Registers the read of the last verification of the figures. `data` is `null` before the first. */
export const registerFigureRoutes = (app: FastifyInstance, { pool }: { readonly pool: Database }): void => {
  app.route({
    method: 'GET',
    url: '/ops/figures',
    handler: async (request) => record(request, await readVerification(pool)),
  });
};
