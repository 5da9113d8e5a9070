import { pause } from '#platform/clock.ts';
import type { WakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { Log } from '#platform/logger.ts';
import { LeaseLost } from '#platform/postgres/lease/leases.ts';
import { createRebuildManager } from './rebuild/rebuild-manager.ts';
import { type Control, readControl } from './control/operator-requests.ts';
import {
  type EventCounter,
  type Stop,
  groupReaders,
  openEventCounter,
  runReaderGroup,
} from './subscription.ts';
import { LOG_COUNTER, PROJECTIONS } from './control/lease-names.ts';
import { createExclusiveJobs } from './control/exclusive-jobs.ts';
import { createProjectionAssignments, type ProjectionAssignments } from './control/projection-ownership.ts';
import { retryParked } from './dead-letters/retry-parked.ts';
import type { ProjectorDependencies } from './dependencies.ts';
import { createSharedReader } from './rebuild/shared-read.ts';
import { dropOneUnused } from './rebuild/swap-schema.ts';
import { createVerificationManager } from './verify/verification-manager.ts';
import { SAMPLE_EVERY_MS, sampleProjections } from './control/stall-detector.ts';

const POLL_INTERVAL_MS = 2_000;

/** Maximum wait for work of a session that failed or was cut off. */
const CUT_OFF_WAIT_MS = 3_000;

type JobKind = 'swap' | 'retry';
type WantedJobs = ReadonlyMap<string, JobKind>;

const openLongWork = (
  dependencies: ProjectorDependencies,
  wake: () => void,
  onJobEnd: (name: string) => void,
) => {
  const resources = new AsyncDisposableStack();
  const reader = createSharedReader(dependencies.eventStore);
  return {
    rebuilds: resources.use(createRebuildManager(dependencies, reader, wake)),
    verifications: resources.use(createVerificationManager(dependencies, reader)),
    jobs: resources.use(createExclusiveJobs(dependencies.log, dependencies.signal, onJobEnd)),
    ended: () => resources.disposeAsync(),
  };
};
type LongWork = ReturnType<typeof openLongWork>;

/** Work that outlasts this wait writes nothing: its transactions prove leases, which are then released. */
const waitForEnd = async (ended: Promise<unknown>, log: Log): Promise<void> => {
  const limit = new AbortController();
  const isEnded = await Promise.race([
    ended.then(() => true),
    pause(CUT_OFF_WAIT_MS, limit.signal).then(() => false),
  ]);
  limit.abort();
  if (!isEnded) log.warn({ waited_ms: CUT_OFF_WAIT_MS }, 'work of the ended session still running');
};

/** Cancels the statements of a session that ends; those of rebuilds would take up to 30 minutes. */
const cutOff = (work: LongWork, { building, log }: ProjectorDependencies): Promise<void> => {
  const closed = building.close();
  return waitForEnd(
    work.ended().then(() => closed),
    log,
  );
};

/**
 * Runs projections in cycles. A change to the followers of the log ends the cycle, so live tables have no writer
 * between cycles. Rebuilds, verifications and exclusive jobs continue across cycles and end with the session.
 */
export const runCycles = async (given: ProjectorDependencies, wakeSignal: WakeSignal): Promise<void> => {
  const session = new AbortController();
  const dependencies = { ...given, signal: AbortSignal.any([given.signal, session.signal]) };
  const owned = createProjectionAssignments(dependencies);
  const work = openLongWork(dependencies, wakeSignal.notify, (name) => {
    owned.close(name);
    wakeSignal.notify();
  });
  try {
    await runOwned(dependencies, wakeSignal, owned, work);
  } finally {
    session.abort();
    await cutOff(work, dependencies);
  }
};

const runOwned = async (
  dependencies: ProjectorDependencies,
  wakeSignal: WakeSignal,
  owned: ProjectionAssignments,
  { rebuilds, verifications, jobs }: LongWork,
): Promise<void> => {
  const { database, requests, eventStore, leases, log, signal } = dependencies;
  let counter: EventCounter | null = null;
  let sampledAtMs = 0;
  let droppedAtMs = 0;
  const triedToDrop = new Set<string>();

  const wantedJobs = (control: ReadonlyMap<string, Control>): WantedJobs => {
    const ready = rebuilds.ready();
    const wanted = new Map<string, JobKind>();
    for (const name of owned.names) {
      if (jobs.isPostponed(name)) continue;
      if (ready.includes(name)) wanted.set(name, 'swap');
      else if (control.get(name)?.hasRetries) wanted.set(name, 'retry');
    }
    return wanted;
  };

  /** Inputs of the current cycle. When one changes, the cycle stops and a new one begins. */
  const planKey = (
    control: ReadonlyMap<string, Control>,
    wanted: WantedJobs,
    working: Iterable<string>,
  ): string =>
    JSON.stringify([
      [...owned.names].map((name) => {
        const row = control.get(name);
        const isApart = row?.behind === 'apart';
        return [name, row?.version, row?.isPaused, String(row?.pauseAt), row?.wantedVersion, isApart];
      }),
      [...wanted],
      [...working].toSorted(),
    ]);

  const sampleProgress = async (): Promise<void> => {
    if (counter === null && (await leases.acquire(LOG_COUNTER))) counter = await openEventCounter(database);
    await counter?.store(true);
    if (counter === null || performance.now() - sampledAtMs < SAMPLE_EVERY_MS) return;
    sampledAtMs = performance.now();
    await sampleProjections(database, log);
  };

  /** Drops unused tables during a cycle, one schema per poll, because a drop delays the poll. */
  const dropTables = async (): Promise<void> => {
    if (counter === null || performance.now() - droppedAtMs < SAMPLE_EVERY_MS) return;
    if (await dropOneUnused(database, log, triedToDrop)) return;
    triedToDrop.clear();
    droppedAtMs = performance.now();
  };

  const poll = async (plan: string): Promise<boolean> => {
    jobs.check();
    const control = await readControl(requests);
    const hasAcquired = await owned.acquire(control);
    await rebuilds.reconcile(control, owned.names);
    await verifications.reconcile(control);
    await sampleProgress();
    await dropTables();
    return (
      hasAcquired ||
      owned.hasServedProbation() ||
      planKey(control, wantedJobs(control), jobs.running()) !== plan
    );
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

  const startJob = (name: string, kind: JobKind): void => {
    const row = owned.rowOf(name);
    const one = owned.running.get(name);
    if (row === null) return;
    if (kind === 'swap') jobs.start(name, () => rebuilds.finish(name, row));
    else if (one) jobs.start(name, () => retryParked(dependencies, one.target, row));
  };

  const runCycle = async (): Promise<void> => {
    // Read before tables are opened: a job that ends later closes tables that this cycle uses, and the next poll ends
    // the cycle.
    const working = new Set(jobs.running());
    const before = await readControl(requests);
    await owned.acquire(before);
    await owned.open(before);
    await sampleProgress();
    const control = await readControl(requests);
    const wanted = wantedJobs(control);
    const { following, cursor } = await owned.arrange(control, new Set([...working, ...wanted.keys()]));
    // Reads only the states that `arrange` has changed. A request that arrived meanwhile must end this cycle.
    const arranged = await readControl(requests);
    const head = counter === null ? 0n : await eventStore.head();
    for (const [name, kind] of wanted) if (!working.has(name)) startJob(name, kind);
    for (const name of jobs.running()) working.add(name);
    const plan = planKey(
      new Map(
        [...control].map(([name, row]) => [name, { ...row, behind: arranged.get(name)?.behind ?? null }]),
      ),
      wanted,
      working,
    );
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
        // Registered before the poll, so that a notification during the poll is not missed.
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
    ];
    // The first task to end aborts the cycle. Awaits all tasks, so that none writes in the next cycle. After a failure
    // it awaits none, because a statement may run until its timeout.
    const running = tasks.map((task) => task.finally(() => cycle.abort()));
    try {
      await Promise.all(running);
    } catch (error) {
      await waitForEnd(Promise.allSettled(running), log);
      throw error;
    }
    if (lost.aborted && !signal.aborted) throw new LeaseLost(PROJECTIONS);
  };

  while (!signal.aborted) await runCycle();
};
