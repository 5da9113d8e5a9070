import { availableParallelism } from 'node:os';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector-control.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { PoisonEvent } from '../apply/apply-batch.ts';
import { buildBeside, setBuildState, UNFINISHED } from './rebuild-projection.ts';
import { recordState } from '../apply/checkpoints.ts';
import type { Control } from '../control/operator-requests.ts';
import { lockSchemas, nextSchemaOf } from '../read-model-schema.ts';
import type { ProjectorDependencies } from '../dependencies.ts';
import { finishBuild } from './swap-schema.ts';

/**
 * Builds that one process has under way; more wait for their turn. A build keeps a core busy here and another in
 * Postgres, and those who read meanwhile need theirs.
 */
const BUILDS_AT_ONCE = Math.min(2, Math.ceil(availableParallelism() / 4));

type Building = {
  readonly cancelling: AbortController;
  readonly done: Promise<void>;
  isReady: boolean;
};

/** The builds of a process, beside everything else it does. */
export type Builds = AsyncDisposable & {
  /** Begins, resumes and cancels builds as it is asked for. `owned`: the projections whose lock this process has. */
  look(control: ReadonlyMap<string, Control>, owned: ReadonlySet<string>): Promise<void>;
  /** Projections whose build has caught up, to be swapped in by their owner. */
  ready(): readonly string[];
  /** Swaps one in; nobody else writes to its tables meanwhile. */
  finish(name: string): Promise<void>;
};

const lockOf = (name: string): string => `build:${name}`;
const isUnfinished = (state: string): boolean => UNFINISHED.some((one) => one === state);

const dropBuild = ({ database }: ProjectorDependencies, name: string): Promise<void> =>
  inTransaction(database, async (client) => {
    await lockSchemas(client);
    await client.query(`drop schema if exists "${nextSchemaOf(name)}" cascade`);
    await setBuildState(client, name, 'cancelled');
    await client.query('update projector.projection set wanted_version = null where name = $1', [name]);
  });

/** `wake` is called when something is ready. */
export const openBuilds = (dependencies: ProjectorDependencies, wake: () => void): Builds => {
  const { database, eventStore, ownership, projections, log } = dependencies;
  const building = new Map<string, Building>();
  /** Too late to cancel. */
  const finishing = new Set<string>();
  /** A process with other code tries them again; this one would fail again. */
  const failedHere = new Set<string>();

  /** Whether this process is to build it. */
  const isWanted = ({ name, version }: Projection, row: Control, isOwned: boolean): boolean => {
    const { build } = row;
    if (build?.state === 'asked') return isOwned;
    if (build?.version === version) {
      if (isUnfinished(build.state)) return isOwned || row.version < version;
      if (build.state === 'cancelled') return false;
    }
    return row.version < version && !failedHere.has(name);
  };

  const letGo = async (name: string): Promise<void> => {
    building.delete(name);
    await ownership.release(lockOf(name));
  };

  const fail = async ({ name, version }: Projection, error: PoisonEvent): Promise<void> => {
    failedHere.add(name);
    log.error(
      { projection: name, version, err: error },
      'the build stopped at an event; the tables stay as they were',
    );
    await setBuildState(database, name, 'failed', error.message);
    await database.query(
      `update projector.projection set wanted_version = null, last_error = $3,
         state = case when version = $2 then state else 'failed' end where name = $1`,
      [name, version, error.message],
    );
  };

  /** Says why a build ended, unless it was told to. */
  const end = async (projection: Projection, error: unknown, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    const { name } = projection;
    if (error instanceof PoisonEvent) await fail(projection, error);
    else
      log.warn(
        { projection: name, err: error },
        'the build was interrupted, and goes on from where it stopped',
      );
    await letGo(name);
  };

  const start = (projection: Projection): void => {
    const { name, version } = projection;
    const cancelling = new AbortController();
    const signal = AbortSignal.any([cancelling.signal, dependencies.signal]);
    const build = async (): Promise<void> => {
      log.info({ projection: name, version }, 'building beside');
      await buildBeside(database, eventStore, projection, signal);
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
        .catch((error: unknown) =>
          log.warn({ projection: name, err: error }, 'the end of a build was not recorded'),
        ),
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
    await dropBuild(dependencies, name);
    await letGo(name);
    log.info({ projection: name }, 'the build was cancelled');
  };

  return {
    look: async (control, owned) => {
      for (const projection of projections) {
        const { name, version } = projection;
        const row = control.get(name);
        if (!row) continue;
        const isActive = row.build && (isUnfinished(row.build.state) || row.build.state === 'asked');
        if (row.build?.isCancelled && isActive) {
          await cancel(name);
          continue;
        }
        if (building.has(name) || building.size >= BUILDS_AT_ONCE) continue;
        if (!isWanted(projection, row, owned.has(name)) || !(await ownership.acquire(lockOf(name)))) continue;
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
        await finishBuild(database, eventStore, projection, signal);
        await letGo(name);
        log.info({ projection: name, version: projection.version }, 'swapped in');
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
