import type { WakeSignal } from '#platform/concurrency/wake-signal.ts';
import { LeaseLost } from '#platform/postgres/lease/prove-lease.ts';
import type { BehindRow } from './apply/running.ts';
import { createRebuildManager } from './rebuild/rebuild-manager.ts';
import { type Control, readControl } from './control/operator-requests.ts';
import { groupReaders, runReaderGroup, type Stop } from './subscription/reader-groups.ts';
import { openEventCounter, type EventCounter } from './subscription/event-counter.ts';
import { LOG_COUNTER, PROJECTIONS } from './control/lease-names.ts';
import { createProjectionAssignments } from './control/projection-ownership.ts';
import { retryParked } from './dead-letters/retry-parked.ts';
import type { ProjectorDependencies } from './dependencies.ts';
import { dropReplaced, readExpiredReplacements } from './rebuild/swap-schema.ts';
import { createVerificationManager } from './verify/verification-manager.ts';
import { SAMPLE_EVERY_MS, sampleProjections } from './control/stall-detector.ts';

/** Polling interval for requests whose notification was missed, and for projections without an owner. */
const POLL_INTERVAL_MS = 2_000;

type Job = (row: BehindRow) => Promise<void>;

/**
 * Runs projections in cycles. During a cycle the owned projections follow the log; exclusive jobs (swap,
 * retry of parked events) run next to them. Any change to who follows the log ends the cycle, so live tables
 * have no writer between two cycles. Rebuilds and verifications use their own tables and continue across
 * cycles.
 */
export const runCycles = async (
  dependencies: ProjectorDependencies,
  wakeSignal: WakeSignal,
): Promise<void> => {
  const { database, eventStore, leases, log, signal } = dependencies;
  const owned = createProjectionAssignments(dependencies);
  const building = { ...dependencies, database: dependencies.building };
  await using rebuilds = createRebuildManager(building, wakeSignal.notify);
  await using verifications = createVerificationManager(building);
  let counter: EventCounter | null = null;
  let sampledAtMs = 0;

  /**
   * The inputs of the current run plan. When any of them changes, the running cycle is stopped and replanned.
   */
  const planKey = (control: ReadonlyMap<string, Control>): string =>
    JSON.stringify([
      [...owned.names].map((name) => {
        const row = control.get(name);
        const isApart = row?.behind === 'apart';
        return [name, row?.isPaused, String(row?.pauseAt), row?.wantedVersion, row?.hasRetries, isApart];
      }),
      rebuilds.ready().filter((name) => owned.names.has(name)),
    ]);

  const sampleProgress = async (): Promise<void> => {
    if (counter === null && (await leases.acquire(LOG_COUNTER))) counter = await openEventCounter(database);
    await counter?.store(true);
    if (counter === null || performance.now() - sampledAtMs < SAMPLE_EVERY_MS) return;
    sampledAtMs = performance.now();
    await sampleProjections(database, log);
    for (const name of await readExpiredReplacements(database)) await dropReplaced(database, name);
  };

  /** Polls for requests. Returns true if the cycle must end. */
  const poll = async (plan: string): Promise<boolean> => {
    const control = await readControl(database);
    const hasAcquired = await owned.acquire(control);
    await rebuilds.reconcile(control, owned.names);
    await verifications.reconcile(control);
    await sampleProgress();
    return hasAcquired || planKey(control) !== plan;
  };

  const stopsFor = (control: ReadonlyMap<string, Control>, names: readonly string[]): Stop[] =>
    names.flatMap((name) => {
      const at = control.get(name)?.pauseAt ?? null;
      if (at === null) return [];
      const reached = async (): Promise<void> => {
        await database.query(
          'update projector.read_model set is_paused = true where name = $1 and pause_at = $2',
          [name, at],
        );
      };
      return [{ at, reached }];
    });

  /** Jobs that need exclusive access to a projection's tables. Each transaction proves the row of the projection. */
  const exclusiveJobs = (control: ReadonlyMap<string, Control>): ReadonlyMap<string, Job> => {
    const jobs = new Map<string, Job>();
    for (const name of owned.names) {
      const one = owned.running.get(name);
      if (rebuilds.ready().includes(name)) jobs.set(name, (row) => rebuilds.finish(name, row));
      else if (one && control.get(name)?.hasRetries)
        jobs.set(name, (row) => retryParked(dependencies, one.target, row));
    }
    return jobs;
  };

  const runCycle = async (): Promise<void> => {
    const before = await readControl(database);
    await owned.acquire(before);
    await owned.open(before);
    await sampleProgress();
    const control = await readControl(database);
    const jobs = exclusiveJobs(control);
    const { following, cursor } = await owned.arrange(control, new Set(jobs.keys()));
    // Only what has been arranged is read again. A request that arrived meanwhile is not in this cycle, and must end it.
    const arranged = await readControl(database);
    const plan = planKey(
      new Map(
        [...control].map(([name, row]) => [name, { ...row, behind: arranged.get(name)?.behind ?? null }]),
      ),
    );
    const head = counter === null ? 0n : await eventStore.head();
    const readerGroups = groupReaders(following, cursor, counter, head);
    const cycle = new AbortController();
    const lost = owned.lost();
    const cycleSignal = AbortSignal.any([signal, cycle.signal, lost]);
    let caughtUp = 0;
    const onCaughtUp = (): void => {
      caughtUp += 1;
      if (readerGroups.length > 1 && caughtUp > 1) cycle.abort();
    };
    const watch = async (): Promise<void> => {
      while (!cycleSignal.aborted) {
        // Requested before the poll, so that a notification during the poll is not missed.
        const notified = wakeSignal.next({ timeoutMs: POLL_INTERVAL_MS, signal: cycleSignal });
        if (await poll(plan)) return;
        await notified;
      }
    };
    const tasks = [
      watch(),
      ...readerGroups.map((group) => {
        const names = group.running.map(({ target }) => target.projection.name);
        const stops = stopsFor(control, names);
        return runReaderGroup(dependencies, group, { stops, signal: cycleSignal, onCaughtUp });
      }),
      ...[...jobs].flatMap(([name, job]) => {
        const row = owned.rowOf(name);
        return row === null ? [] : [job(row).finally(() => owned.close(name))];
      }),
    ];
    // The first task to end aborts the cycle. All tasks are awaited: none may still be writing when the next
    // cycle begins.
    const outcomes = await Promise.allSettled(tasks.map((task) => task.finally(() => cycle.abort())));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    if (lost.aborted && !signal.aborted) throw new LeaseLost(PROJECTIONS);
  };

  while (!signal.aborted) await runCycle();
};
