import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { page, record } from '../reply.ts';
import {
  cancelRebuild,
  pauseProjection,
  readBuild,
  requestRebuild,
  resumeProjection,
} from '#services/ops/projections/builds.ts';
import { readDiff } from '#services/ops/projections/diff.ts';
import { readLagSeries, readStatus } from '#services/ops/projections/status.ts';
import {
  cancelVerification,
  readVerification,
  requestVerification,
  VerifyQuery,
} from '#services/ops/projections/verification.ts';
import { Nothing, readQuery } from '#services/ops/validate-query.ts';

export type ProjectionDependencies = { readonly pool: Database; readonly eventStore: EventStore };

const BY = 'ops-http';

const Rebuild = z.strictObject({ from: z.enum(['start', 'checkpoint']).default('start') });

/** Long operations reply 202. The projector carries them out, and clients poll their state. */
export const registerProjectionRoutes = (
  app: FastifyInstance,
  { pool, eventStore }: ProjectionDependencies,
): void => {
  const read = (url: string, find: (name: string) => Promise<unknown>): void => {
    app.route<{ Params: { name: string } }>({
      method: 'GET',
      url,
      handler: async (request) => {
        readQuery(Nothing, request.query);
        return record(request, await find(request.params.name));
      },
    });
  };
  const accept = <T>(
    what: string,
    body: z.ZodType<T>,
    run: (name: string, input: T) => Promise<void>,
    show: (name: string) => Promise<unknown>,
  ): void => {
    app.route<{ Params: { name: string } }>({
      method: 'POST',
      url: `/ops/projections/:name/${what}`,
      handler: async (request, reply) => {
        const { name } = request.params;
        await run(name, readQuery(body, request.body ?? {}));
        void reply.status(202);
        return record(request, await show(name));
      },
    });
  };
  const statusOf = async (name: string) => (await readStatus(pool, eventStore, projections, name))[0];
  const verificationOf = async (name: string) => {
    const found = await readVerification(pool, name);
    if (!found) throw new Refusal('not_found', `Verification not found: ${name} was never verified.`);
    return found;
  };

  app.route({
    method: 'GET',
    url: '/ops/projections',
    handler: async (request) => {
      readQuery(Nothing, request.query);
      return page(request, await readStatus(pool, eventStore, projections));
    },
  });
  app.route({
    method: 'GET',
    url: '/ops/projections/lag',
    handler: async (request) => {
      readQuery(Nothing, request.query);
      return page(request, await readLagSeries(pool));
    },
  });
  app.route({
    method: 'GET',
    url: '/ops/projections/diff',
    handler: async (request) => {
      readQuery(Nothing, request.query);
      return page(request, await readDiff(pool, projections));
    },
  });
  read('/ops/projections/:name', statusOf);
  read('/ops/projections/:name/verification', verificationOf);

  const build = (name: string) => readBuild(pool, name);
  accept('rebuild', Rebuild, (name, { from }) => requestRebuild(pool, name, { from, by: BY }), build);
  accept('cancel', Nothing, (name) => cancelRebuild(pool, name), build);
  accept('pause', Nothing, (name) => pauseProjection(pool, name), statusOf);
  accept('resume', Nothing, (name) => resumeProjection(pool, name), statusOf);
  const verify = (name: string, { to }: z.infer<typeof VerifyQuery>) =>
    requestVerification(pool, name, { to: to ?? null, by: BY });
  accept('verify', VerifyQuery, verify, verificationOf);
  accept('verify/cancel', Nothing, (name) => cancelVerification(pool, name), verificationOf);
};
