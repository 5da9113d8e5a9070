import type { FastifyInstance } from 'fastify';
import { listTargets } from '#application/collecting/list-targets.ts';
import { readLibraryAccounts } from '#application/collecting/library-account.ts';
import { planRecord, planSources } from '#application/collecting/plan-sources.ts';
import { readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { countTargets } from '#application/collecting/target-states.ts';
import { countTasks } from '#application/collectors/collector-tasks.ts';
import { readVerification } from '#application/invariants/verification-record.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { record } from '../reply.ts';

/** Maximum targets listed, and late targets named. The command line lists more. */
const TARGETS_MAX = 200;
const LATE_MAX = 20;

/** Registers the reads of the state of the collector, the media archive and the nightly check of figures. */
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
        accounts,
        tasks,
        targets,
      });
    },
  });
  app.route({
    method: 'GET',
    url: '/ops/figures',
    handler: async (request) => record(request, await readVerification(pool)),
  });
};
