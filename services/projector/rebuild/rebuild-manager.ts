import { availableParallelism } from 'node:os';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector-control.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { PoisonEvent } from '../apply/apply-batch.ts';
import { rebuildProjection, setRebuildState, UNFINISHED } from './rebuild-projection.ts';
import { recordState } from '../apply/checkpoints.ts';
import type { Control } from '../control/operator-requests.ts';
import { lockSchemas, nextSchemaOf } from '../read-model-schema.ts';
import type { ProjectorDependencies } from '../dependencies.ts';
import { catchUpAndSwap } from './swap-schema.ts';

/**
 * Maximum concurrent rebuilds of one process; further ones wait. A rebuild keeps one core busy here and one
 * in Postgres, and readers need the others.
 */
const CONCURRENT_REBUILDS_MAX = Math.min(2, Math.ceil(availableParallelism() / 4));

type Building = {
  readonly cancelling: AbortController;
  readonly done: Promise<void>;
  isReady: boolean;
};

/** Runs the rebuilds of a process, concurrently with live projecting. */
export type RebuildManager = AsyncDisposable & {
  /**
   * Starts, resumes and cancels rebuilds according to the control table. `owned`: projections whose lock this
   * process holds.
   */
  reconcile(control: ReadonlyMap<string, Control>, owned: ReadonlySet<string>): Promise<void>;
  /** Returns the projections whose rebuild has caught up and can be swapped in by their owner. */
  ready(): readonly string[];
  /** Swaps a rebuild in. Needs exclusive access to the live tables. */
  finish(name: string): Promise<void>;
};

const lockOf = (name: string): string => `build:${name}`;
const isUnfinished = (state: string): boolean => UNFINISHED.some((one) => one === state);

const dropRebuild = ({ database }: ProjectorDependencies, name: string): Promise<void> =>
  inTransaction(database, async (client) => {
    await lockSchemas(client);
    await client.query(`drop schema if exists "${nextSchemaOf(name)}" cascade`);
    await setRebuildState(client, name, 'cancelled');
    await client.query('update projector.projection set wanted_version = null where name = $1', [name]);
  });

/** Creates the manager. `wake` is called when a rebuild is ready. */
export const createRebuildManager = (
  dependencies: ProjectorDependencies,
  wake: () => void,
): RebuildManager => {
  const { database, eventStore, ownership, projections, log } = dependencies;
  const building = new Map<string, Building>();
  /** Rebuilds that are being swapped in and can no longer be cancelled. */
  const finishing = new Set<string>();
  /**
   * Projections whose rebuild failed in this process. It would fail again, so only a process with other code
   * retries it.
   */
  const failedHere = new Set<string>();

  /** Returns true if this process should rebuild the projection. */
  const shouldRebuild = ({ name, version }: Projection, row: Control, isOwned: boolean): boolean => {
    const { build } = row;
    if (build?.state === 'asked') return isOwned;
    if (build?.version === version) {
      if (isUnfinished(build.state)) return isOwned || row.version < version;
      if (build.state === 'cancelled') return false;
    }
    return row.version < version && !failedHere.has(name);
  };

  const releaseLock = async (name: string): Promise<void> => {
    building.delete(name);
    await ownership.release(lockOf(name));
  };

  const fail = async ({ name, version }: Projection, error: PoisonEvent): Promise<void> => {
    failedHere.add(name);
    log.error({ projection: name, version, err: error }, 'rebuild failed on an event; live tables unchanged');
    await setRebuildState(database, name, 'failed', error.message);
    await database.query(
      `update projector.projection set wanted_version = null, last_error = $3,
         state = case when version = $2 then state else 'failed' end where name = $1`,
      [name, version, error.message],
    );
  };

  /** Records why a rebuild ended, unless it was cancelled. */
  const end = async (projection: Projection, error: unknown, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    const { name } = projection;
    if (error instanceof PoisonEvent) await fail(projection, error);
    else log.warn({ projection: name, err: error }, 'rebuild interrupted; to be resumed');
    await releaseLock(name);
  };

  const start = (projection: Projection): void => {
    const { name, version } = projection;
    const cancelling = new AbortController();
    const signal = AbortSignal.any([cancelling.signal, dependencies.signal]);
    const build = async (): Promise<void> => {
      log.info({ projection: name, version }, 'rebuild started');
      await rebuildProjection(database, eventStore, projection, signal);
      await database.query(
        `with wanted as (
           update projector.projection set wanted_version = $2 where name = $1 and version < $2 returning 1)
         select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1), (select count(*) from wanted)`,
        [name, version],
      );
      one.isReady = true;
      wake();
    };
    const one: Building = {
      cancelling,
      isReady: false,
      done: build()
        .catch((error: unknown) => end(projection, error, signal))
        .catch((error: unknown) => log.warn({ projection: name, err: error }, 'rebuild result not recorded')),
    };
    building.set(name, one);
  };

  const cancel = async (name: string): Promise<void> => {
    if (finishing.has(name)) return;
    const here = building.get(name);
    if (here) {
      here.cancelling.abort();
      await here.done;
    } else if (!(await ownership.acquire(lockOf(name)))) return;
    await dropRebuild(dependencies, name);
    await releaseLock(name);
    log.info({ projection: name }, 'rebuild cancelled');
  };

  return {
    reconcile: async (control, owned) => {
      for (const projection of projections) {
        const { name, version } = projection;
        const row = control.get(name);
        if (!row) continue;
        const isActive = row.build && (isUnfinished(row.build.state) || row.build.state === 'asked');
        if (row.build?.isCancelled && isActive) {
          await cancel(name);
          continue;
        }
        if (building.has(name) || building.size >= CONCURRENT_REBUILDS_MAX) continue;
        if (!shouldRebuild(projection, row, owned.has(name)) || !(await ownership.acquire(lockOf(name))))
          continue;
        if (owned.has(name) && row.version !== version) await recordState(database, name, 'building');
        start(projection);
      }
    },
    ready: () => [...building].filter(([, { isReady }]) => isReady).map(([name]) => name),
    finish: async (name) => {
      const projection = projections.find((one) => one.name === name);
      const one = building.get(name);
      if (!projection || !one) return;
      const signal = AbortSignal.any([one.cancelling.signal, dependencies.signal]);
      finishing.add(name);
      try {
        await catchUpAndSwap(database, eventStore, projection, signal);
        await releaseLock(name);
        log.info({ projection: name, version: projection.version }, 'rebuild swapped in');
      } catch (error) {
        await end(projection, error, signal);
      } finally {
        finishing.delete(name);
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const { cancelling } of building.values()) cancelling.abort();
      await Promise.all([...building.values()].map(({ done }) => done));
    },
  };
};
