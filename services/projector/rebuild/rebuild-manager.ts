import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector.ts';
import type { Log } from '#platform/logger.ts';
import { type Lease, proveLease } from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction, withProof } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { retryDelayMs } from '../apply/apply-each.ts';
import { endsSession, mayPass } from '#application/read-models/failures.ts';
import { logParked } from '../apply/park-stream.ts';
import type { BehindRow } from '../apply/running.ts';
import { buildLease } from '../control/lease-names.ts';
import { rebuildProjection, setRebuildState, UNFINISHED } from './rebuild-projection.ts';
import { recordState } from '../apply/checkpoints.ts';
import { type Control, readControl } from '../control/operator-requests.ts';
import { nextSchemaOf } from '#application/read-models/schema.ts';
import type { ProjectorDependencies } from '../dependencies.ts';
import type { SharedReader } from './shared-read.ts';
import { catchUpAndSwap, tryToDrop } from './swap-schema.ts';

type Building = {
  readonly lease: Lease;
  readonly database: Database;
  readonly cancelling: AbortController;
  readonly done: Promise<void>;
  isReady: boolean;
  isOver: boolean;
};

/** Runs rebuilds during live projecting. The next session resumes an interrupted one. Disposal awaits them. */
export type RebuildManager = AsyncDisposable & {
  /** `owned`: projections that this process may write. */
  reconcile(control: ReadonlyMap<string, Control>, owned: ReadonlySet<string>): Promise<void>;
  ready(): readonly string[];
  /** Swaps a rebuild in; `row` proves exclusive access. Throws while readers hold replaced tables, to be retried. */
  finish(name: string, row: BehindRow): Promise<void>;
};

const isUnfinished = (state: string): boolean => UNFINISHED.some((one) => one === state);

/** Returns false while a reader, such as a backup, holds the tables. */
const dropRebuild = (database: Database, log: Log, name: string): Promise<boolean> =>
  tryToDrop(database, log, name, async (client) => {
    await client.query(`drop schema if exists "${nextSchemaOf(name)}" cascade`);
    await setRebuildState(client, name, 'cancelled');
    await client.query('update projector.read_model set wanted_version = null where name = $1', [name]);
  });

export const createRebuildManager = (
  dependencies: Pick<
    ProjectorDependencies,
    'database' | 'requests' | 'building' | 'leases' | 'projections' | 'log' | 'signal'
  >,
  reader: SharedReader,
  wake: () => void,
): RebuildManager => {
  const { leases, projections, log } = dependencies;
  const building = new Map<string, Building>();
  /** Rebuilds that are being swapped in and can no longer be cancelled. */
  const finishing = new Set<string>();
  /** Rebuilds that failed in this process. Only other code can succeed, so this process does not retry them. */
  const failedHere = new Set<string>();
  /** Interruptions in a row, and the time of the next attempt. */
  const postponed = new Map<string, { readonly failures: number; readonly untilMs: number }>();

  /** True if this process should rebuild the projection. */
  const shouldRebuild = ({ name, version }: Projection, row: Control, isOwned: boolean): boolean => {
    const { build } = row;
    if (build?.state === 'asked') return isOwned;
    if (build?.version === version) {
      if (isUnfinished(build.state)) return isOwned || row.version < version;
      if (build.state === 'cancelled') return false;
    }
    return row.version < version && !failedHere.has(name);
  };

  const acquire = async (name: string): Promise<Pick<Building, 'lease' | 'database'> | null> => {
    const lease = await leases.acquire(buildLease(name));
    if (lease === null) return null;
    const database = withProof(dependencies.building.database, (client) => proveLease(client, lease));
    return { lease, database };
  };

  const release = async (name: string, lease: Lease): Promise<void> => {
    building.delete(name);
    await leases.release(lease);
  };

  /** A first fill that fails, for example at an index, is left to the live path. */
  const fail = async (
    { name, version }: Projection,
    database: Database,
    { message }: Error,
  ): Promise<void> => {
    failedHere.add(name);
    log.error({ projection: name, version, reason: message }, 'rebuild failed; live tables unchanged');
    await inTransaction(database, async (client) => {
      await setRebuildState(client, name, 'failed', message);
      await client.query(
        `update projector.read_model set wanted_version = null, last_error = $3,
           state = case version when $2 then state when 0 then 'building' else 'failed' end,
           version = case version when 0 then $2 else version end
         where name = $1`,
        [name, version, message],
      );
    });
  };

  /** Delays the next attempt, because the cause of the interruption may last. */
  const postpone = (name: string, error: unknown): void => {
    const failures = (postponed.get(name)?.failures ?? 0) + 1;
    const delayMs = retryDelayMs(failures);
    postponed.set(name, { failures, untilMs: performance.now() + delayMs });
    log.warn(
      { projection: name, failures, retry_ms: delayMs, err: error },
      'rebuild interrupted; to be resumed',
    );
  };

  const isPostponed = (name: string): boolean => (postponed.get(name)?.untilMs ?? 0) > performance.now();

  const end = async (
    projection: Projection,
    { lease, database }: Pick<Building, 'lease' | 'database'>,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> => {
    const { name } = projection;
    if (lease.lost.aborted) building.delete(name);
    if (signal.aborted) return;
    if (mayPass(error)) postpone(name, error);
    else await fail(projection, database, error as Error);
    await release(name, lease);
  };

  const start = (projection: Projection, held: Pick<Building, 'lease' | 'database'>): void => {
    const { lease, database } = held;
    const { name, version } = projection;
    const cancelling = new AbortController();
    const signal = AbortSignal.any([cancelling.signal, dependencies.signal, lease.lost]);
    const build = async (): Promise<void> => {
      log.info({ projection: name, version }, 'rebuild started');
      await rebuildProjection({ database, signal, onPoison: logParked(log, name) }, reader, projection);
      await inTransaction(database, (client) =>
        client.query(
          `with wanted as (
             update projector.read_model set wanted_version = $2 where name = $1 and version < $2 returning 1)
           select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1), (select count(*) from wanted)`,
          [name, version],
        ),
      );
      one.isReady = true;
      postponed.delete(name);
      wake();
    };
    const one: Building = {
      ...held,
      cancelling,
      isReady: false,
      isOver: false,
      done: build()
        .catch((error: unknown) => end(projection, held, error, signal))
        .catch((error: unknown) => log.warn({ projection: name, err: error }, 'rebuild result not recorded'))
        .finally(() => {
          one.isOver = true;
          if (cancelling.signal.aborted) wake();
        }),
    };
    building.set(name, one);
  };

  /** Does not wait for the last statement of the rebuild, so that the poll continues; the caller repeats it. */
  const cancel = async (name: string): Promise<void> => {
    if (finishing.has(name)) return;
    const here = building.get(name);
    here?.cancelling.abort();
    if (here?.isOver === false) return;
    const held = here ?? (await acquire(name));
    if (held === null) return;
    postponed.delete(name);
    // Polls have a short timeout, which a rebuild would exceed.
    const database = withProof(dependencies.database, (client) => proveLease(client, held.lease));
    const isDropped = await dropRebuild(database, log, name);
    await release(name, held.lease);
    if (isDropped) log.info({ projection: name }, 'rebuild cancelled');
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
        if (building.has(name) || isPostponed(name)) continue;
        if (!shouldRebuild(projection, row, owned.has(name))) continue;
        const held = await acquire(name);
        if (held === null) continue;
        // Its swap may have ended after `control` was read; none ends while the lease is held.
        const now = (await readControl(dependencies.requests)).get(name);
        if (!now || !shouldRebuild(projection, now, owned.has(name))) {
          await release(name, held.lease);
          continue;
        }
        if (owned.has(name) && now.version !== version)
          await recordState(dependencies.database, name, 'building');
        start(projection, held);
      }
    },
    ready: () => [...building].filter(([, { isReady }]) => isReady).map(([name]) => name),
    finish: async (name, row) => {
      const projection = projections.find((one) => one.name === name);
      const one = building.get(name);
      if (!projection || !one) return;
      const signal = AbortSignal.any([one.cancelling.signal, dependencies.signal, one.lease.lost]);
      finishing.add(name);
      try {
        const { database } = one;
        await catchUpAndSwap({ database, signal, onPoison: logParked(log, name) }, reader, projection, row);
        await release(name, one.lease);
        log.info({ projection: name, version: projection.version }, 'rebuild swapped in');
      } catch (error) {
        await end(projection, one, error, signal);
        if (!signal.aborted && !endsSession(error) && mayPass(error)) throw error;
      } finally {
        finishing.delete(name);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...building.values()].map(({ done }) => done));
    },
  };
};
