import type { FastifyInstance } from 'fastify';
import { listTargets } from '#application/collecting/list-targets.ts';
import { readLibraryAccounts } from '#application/collecting/library-account.ts';
import { planRecord, planSources } from '#application/collecting/plan-sources.ts';
import { readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { countTargets } from '#application/collecting/target-states.ts';
import { countTasks } from '#application/collectors/collector-tasks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { record } from '../reply.ts';

/** Targets that are listed at most, and late targets that are named. The command line lists more. */
const TARGETS_MAX = 200;
const LATE_MAX = 20;

/**
 * Registers the read of what the collector and the media archive do: counts by state, the forecasts with one collector and the present accounts,
 * the accounts of the library API, the tasks of third-party collectors, and the targets that do not simply wait.
 */
export const registerCollectionRoutes = (
  app: FastifyInstance,
  { pool, archiveCallsPerHour }: { readonly pool: Database; readonly archiveCallsPerHour: number },
): void => {
  app.route({
    method: 'GET',
    url: '/ops/collection',
    handler: async (request) => {
      const now = new Date();
      const [sources, plans, media, accounts, tasks, targets] = await Promise.all([
        countTargets(pool, now),
        planSources(pool, now, { archiveCallsPerHour }),
        readArchiveStatus(pool, now),
        readLibraryAccounts(pool, now),
        countTasks(pool, now),
        listTargets(pool, now, {
          states: ['due', 'in_flight', 'overdue', 'refused', 'shut', 'paused'],
          limit: TARGETS_MAX,
        }),
      ]);
      return record(request, {
        sources,
        plans: plans.map((plan) => planRecord(plan, LATE_MAX)),
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
        // Accounts of the official library API. There is none before a token is stored.
        accounts,
        tasks,
        targets,
      });
    },
  });
};
