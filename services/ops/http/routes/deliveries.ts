import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { page, record } from '../reply.ts';
import {
  cancelNamed,
  DeliveryIds,
  DeliveryQuery,
  type DeliveryDependencies,
  listDeliveries,
  replayFailed,
  replayNamed,
  showDelivery,
} from '#services/ops/deliveries/operations.ts';
import { queueMissing } from '#services/ops/deliveries/requeue-missing.ts';
import { Moment, readQuery } from '#services/ops/validate-query.ts';

export type { DeliveryDependencies };

const Ids = z.strictObject({ ids: DeliveryIds });
/** Which to replay, said in one way. */
const Replay = z.union(
  [Ids, z.strictObject({ failed_since: Moment }), z.strictObject({ missing: z.literal(true) })],
  'one of {"ids": […]}, {"failed_since": time} and {"missing": true}',
);

const distinct = (ids: readonly string[]): readonly string[] => [
  ...new Set(ids.map((id) => id.toLowerCase())),
];
const nobody = (): void => undefined;

/** What `ops deliveries list|show|replay|cancel` does. */
export const registerDeliveryRoutes = (app: FastifyInstance, dependencies: DeliveryDependencies): void => {
  const { pool } = dependencies;
  /** It reads every delivery of the log, so one at a time is enough. */
  let queueingMissing = false;

  app.route({
    method: 'GET',
    url: '/ops/deliveries',
    handler: async (request) => {
      const query = readQuery(DeliveryQuery, request.query);
      const rows = await listDeliveries(pool, query);
      const last = rows.at(-1);
      return page(request, rows, last && rows.length === query.limit ? last.delivery_id : null);
    },
  });

  app.route<{ Params: { deliveryId: string } }>({
    method: 'GET',
    url: '/ops/deliveries/:deliveryId',
    handler: async (request) => {
      const { ids } = readQuery(Ids, { ids: [request.params.deliveryId] });
      return record(request, await showDelivery(pool, ids[0] ?? ''));
    },
  });

  app.route({
    method: 'POST',
    url: '/ops/deliveries/replay',
    handler: async (request) => {
      const wanted = readQuery(Replay, request.body);
      if ('ids' in wanted) {
        const ids = distinct(wanted.ids);
        const replayed = await replayNamed(dependencies, ids);
        return record(request, { replayed, still_under_way: ids.length - replayed });
      }
      if ('failed_since' in wanted) {
        return record(request, await replayFailed(dependencies, wanted.failed_since, nobody));
      }
      if (queueingMissing) {
        throw new Refusal('already_exists', 'What is missing is looked for already. Wait for that answer.');
      }
      queueingMissing = true;
      try {
        return record(request, { queued: await queueMissing(dependencies, nobody, nobody) });
      } finally {
        queueingMissing = false;
      }
    },
  });

  app.route({
    method: 'POST',
    url: '/ops/deliveries/cancel',
    handler: async (request) => {
      const ids = distinct(readQuery(Ids, request.body).ids);
      const cancelled = await cancelNamed(pool, ids);
      return record(request, { cancelled, already_at_an_end: ids.length - cancelled });
    },
  });
};
