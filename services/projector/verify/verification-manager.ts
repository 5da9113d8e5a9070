import { PROJECTOR_CONTROL_CHANNEL, type VerificationReport } from '#contracts/messages/projector.ts';
import { pause } from '#platform/clock.ts';
import { createKeyedMutex } from '#platform/concurrency/queues.ts';
import { type Lease, proveLease } from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction, withProof } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { verifyLease } from '../control/lease-names.ts';
import type { Control } from '../control/operator-requests.ts';
import type { ProjectorDependencies } from '../dependencies.ts';
import type { SharedReader } from '../rebuild/shared-read.ts';
import { dropReplaced } from '../rebuild/swap-schema.ts';
import { type Verification, VerificationRefused, verifyProjection } from './verify-projection.ts';

const PAUSE_TIMEOUT_MS = 60_000;
const PAUSE_POLL_MS = 100;
const PROGRESS_EVERY_MS = 500;

/** Runs verifications during live projecting. The next session restarts an interrupted one. */
export type VerificationManager = AsyncDisposable & {
  reconcile(control: ReadonlyMap<string, Control>): Promise<void>;
};

const UNFINISHED = ['asked', 'reading', 'comparing'];

export const createVerificationManager = (
  dependencies: ProjectorDependencies,
  reader: SharedReader,
): VerificationManager => {
  const { leases, projections, log } = dependencies;
  const running = new Map<string, { readonly cancelling: AbortController; readonly done: Promise<void> }>();
  const mutex = createKeyedMutex();
  const comparisons: Verification['comparisons'] = (compare) => mutex('compare', compare);

  const set = (
    database: Database,
    name: string,
    state: string,
    columns: Record<string, unknown> = {},
  ): Promise<unknown> => {
    const entries = Object.entries(columns);
    const sets = entries.map(([column], index) => `, ${column} = $${index + 3}`).join('');
    return inTransaction(database, (client) =>
      client.query(`update projector.verification set state = $2${sets} where name = $1`, [
        name,
        state,
        ...entries.map(([, value]) => value),
      ]),
    );
  };

  /** Returns false if no position was requested. */
  const pauseAtPosition = async (database: Database, name: string, signal: AbortSignal): Promise<boolean> => {
    const { rows } = await database.query<{ to: string | null; position: string; is_paused: boolean }>(
      `select v.to_position::text as to, p.position::text, p.is_paused
       from projector.verification v join projector.projection p using (name) where name = $1`,
      [name],
    );
    const [row] = rows;
    if (!row || row.to === null) return false;
    if (BigInt(row.position) > BigInt(row.to)) {
      throw new VerificationRefused(
        `The projection is at position ${row.position}, already after ${row.to}. Verify without --to.`,
      );
    }
    if (row.is_paused) return true;
    await database.query(
      `with paused as (update projector.read_model set pause_at = $2 where name = $1 returning 1)
       select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1), (select count(*) from paused)`,
      [name, row.to],
    );
    for (const deadline = Date.now() + PAUSE_TIMEOUT_MS; Date.now() < deadline; ) {
      await pause(PAUSE_POLL_MS, signal);
      signal.throwIfAborted();
      const paused = await database.query('select from projector.projection where name = $1 and is_paused', [
        name,
      ]);
      if (paused.rows.length > 0) return true;
    }
    throw new VerificationRefused(
      `The projection did not reach position ${row.to} within ${PAUSE_TIMEOUT_MS / 1_000} seconds.`,
    );
  };

  const resumeProjection = (name: string): Promise<unknown> =>
    dependencies.database.query(
      `with resumed as (
         update projector.read_model p set is_paused = false, pause_at = null
         from projector.verification v where p.name = $1 and v.name = $1 and p.pause_at = v.to_position returning 1)
       select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1), (select count(*) from resumed)`,
      [name],
    );

  const finish = async (database: Database, name: string, report: VerificationReport): Promise<void> => {
    const isEqual = report.tables.every((table) => table.is_equal);
    const { position, facts: events } = report;
    const columns = {
      position,
      facts: events,
      report: JSON.stringify(report),
      error: null,
      finished_at: new Date(),
    };
    if (isEqual) await dropReplaced(database, log, name);
    await set(database, name, isEqual ? 'passed' : 'differs', columns);
    const differing = report.tables.filter((table) => !table.is_equal).map(({ table }) => table);
    if (isEqual) log.info({ projection: name, position }, 'verification passed');
    else log.error({ projection: name, position, tables: differing }, 'verification found differences');
  };

  const verify = async (database: Database, projection: Projection, signal: AbortSignal): Promise<void> => {
    const { name } = projection;
    let progressAtMs = 0;
    const onEvents = (events: number): void => {
      if (performance.now() - progressAtMs < PROGRESS_EVERY_MS) return;
      progressAtMs = performance.now();
      database
        .query(`update projector.verification set facts = $2 where name = $1 and state = 'reading'`, [
          name,
          events,
        ])
        .catch(() => undefined);
    };
    try {
      await set(database, name, 'reading', {
        facts: 0,
        started_at: new Date(),
        finished_at: null,
        error: null,
        report: null,
      });
      await pauseAtPosition(database, name, signal);
      const onComparing = (): Promise<unknown> => set(database, name, 'comparing');
      await finish(
        database,
        name,
        await verifyProjection({
          database,
          reader,
          comparisons,
          projection,
          signal,
          onEvents,
          onComparing,
        }),
      );
    } catch (error) {
      // The session ended during the verification. The next session restarts it.
      if (dependencies.signal.aborted) return;
      if (signal.aborted) await set(database, name, 'cancelled', { finished_at: new Date() });
      else {
        if (!(error instanceof VerificationRefused))
          log.error({ projection: name, err: error }, 'verification failed');
        await set(database, name, 'failed', { error: (error as Error).message, finished_at: new Date() });
      }
    } finally {
      if (!dependencies.signal.aborted) await resumeProjection(name);
    }
  };

  const start = (projection: Projection, lease: Lease): void => {
    const { name } = projection;
    const cancelling = new AbortController();
    const signal = AbortSignal.any([cancelling.signal, dependencies.signal]);
    const database = withProof(dependencies.building.database, (client) => proveLease(client, lease));
    const done = verify(database, projection, signal)
      .then(() => leases.release(lease))
      .catch((error: unknown) =>
        log.warn({ projection: name, err: error }, 'verification result not recorded'),
      )
      .finally(() => running.delete(name));
    running.set(name, { cancelling, done });
  };

  return {
    reconcile: async (control) => {
      for (const projection of projections) {
        const { name, version } = projection;
        const row = control.get(name);
        if (!row?.verification || !UNFINISHED.includes(row.verification.state)) continue;
        if (row.verification.isCancelled) {
          const here = running.get(name);
          if (here) here.cancelling.abort();
          else {
            const lease = await leases.acquire(verifyLease(name));
            if (lease === null) continue;
            await set(dependencies.database, name, 'cancelled', { finished_at: new Date() });
            await resumeProjection(name);
            await leases.release(lease);
          }
        } else if (!running.has(name) && row.version === version) {
          const lease = await leases.acquire(verifyLease(name));
          if (lease !== null) start(projection, lease);
        }
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
};
