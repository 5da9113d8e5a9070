import type { FastifyInstance } from 'fastify';
import { listTargets } from '#application/collecting/list-targets.ts';
import { readLibraryAccount } from '#application/collecting/library-account.ts';
import { planStorefronts } from '#application/collecting/plan-targets.ts';
import { readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { countTargets } from '#application/collecting/target-states.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { record } from '../reply.ts';

/** Targets that are listed at most, and late targets that are named. The command line lists more. */
const TARGETS_MAX = 200;
const LATE_MAX = 20;

/**
 * Registers the read of what the collector and the media archive do: counts by state, the forecast with one collector,
 * the account of the library API, and the targets that are not simply waiting for their time.
 */
export const registerCollectionRoutes = (
  app: FastifyInstance,
  { pool }: { readonly pool: Database },
): void => {
  app.route({
    method: 'GET',
    url: '/ops/collection',
    handler: async (request) => {
      const now = new Date();
      const [sources, plan, media, account, targets] = await Promise.all([
        countTargets(pool, now),
        planStorefronts(pool, now, 1),
        readArchiveStatus(pool, now),
        readLibraryAccount(pool, now),
        listTargets(pool, now, {
          states: ['due', 'in_flight', 'overdue', 'refused', 'shut', 'paused'],
          limit: TARGETS_MAX,
        }),
      ]);
      return record(request, {
        sources,
        plan:
          plan === null
            ? null
            : {
                source: plan.source,
                targets: plan.targets,
                calls_an_hour: plan.callsPerHour,
                calls_a_round: plan.callsPerRound,
                days_a_round: plan.daysPerRound,
                load: plan.load,
                late: plan.late.length,
                late_targets: plan.late.slice(0, LATE_MAX),
              },
        media:
          media === null
            ? null
            : {
                mode: media.mode,
                files: media.files,
                bytes: media.bytes,
                quota_bytes: media.quotaBytes,
                room: media.room,
                reasons: media.reasons,
              },
        // `null` before a token of the official library API is stored.
        account,
        targets,
      });
    },
  });
};
