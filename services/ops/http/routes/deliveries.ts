import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { page, record } from '../reply.ts';
import {
  cancelByIds,
  DeliveryIds,
  DeliveryQuery,
  type DeliveryDependencies,
  listDeliveries,
  replayFailed,
  replayByIds,
  showDelivery,
} from '#services/ops/deliveries/operations.ts';
import { requeueMissing } from '#services/ops/deliveries/requeue-missing.ts';
import { Moment, readQuery } from '#services/ops/validate-query.ts';

export type { DeliveryDependencies };

const Ids = z.strictObject({ ids: DeliveryIds });
/** Selection of the deliveries to replay: exactly one of three forms. */
const Replay = z.union(
  [Ids, z.strictObject({ failed_since: Moment }), z.strictObject({ missing: z.literal(true) })],
  'must be exactly one of {"ids": […]}, {"failed_since": time} and {"missing": true}',
);

const distinct = (ids: readonly string[]): readonly string[] => [
  ...new Set(ids.map((id) => id.toLowerCase())),
];
const ignoreProgress = (): void => undefined;

export const registerDeliveryRoutes = (app: FastifyInstance, dependencies: DeliveryDependencies): void => {
  const { pool } = dependencies;
  /** True while missing deliveries are searched. The search reads every delivery in the log, so only one may run. */
  let isSearchingMissing = false;

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
      const selection = readQuery(Replay, request.body);
      if ('ids' in selection) {
        const ids = distinct(selection.ids);
        const replayed = await replayByIds(dependencies, ids);
        return record(request, { replayed, still_under_way: ids.length - replayed });
      }
      if ('failed_since' in selection) {
        return record(request, await replayFailed(dependencies, selection.failed_since, ignoreProgress));
      }
      if (isSearchingMissing) {
        throw new Refusal(
          'already_exists',
          'A search for missing deliveries is already running. Wait until it ends.',
        );
      }
      isSearchingMissing = true;
      try {
        return record(request, {
          queued: await requeueMissing(dependencies, ignoreProgress, ignoreProgress),
        });
      } finally {
        isSearchingMissing = false;
      }
    },
  });

  app.route({
    method: 'POST',
    url: '/ops/deliveries/cancel',
    handler: async (request) => {
      const ids = distinct(readQuery(Ids, request.body).ids);
      const cancelled = await cancelByIds(pool, ids);
      return record(request, { cancelled, already_at_an_end: ids.length - cancelled });
    },
  });
};
