import { pause } from '#platform/clock.ts';
import { openBuilds } from './rebuild/rebuild-manager.ts';
import { type Control, readControl } from './control/operator-requests.ts';
import { lanesOf, runLane, type Stop } from './subscription/reader-groups.ts';
import { openLogCounter, type LogCounter } from './subscription/event-counter.ts';
import { openOwned } from './control/projection-ownership.ts';
import { retryParked } from './dead-letters/retry-parked.ts';
import type { ProjectorDependencies } from './dependencies.ts';
import { dropReplaced, readLongReplaced } from './rebuild/swap-schema.ts';
import { openVerifications } from './verify/verification-manager.ts';
import { SAMPLE_EVERY_MS, watchProjections } from './control/stall-detector.ts';

/** How often a process looks for requests it was not told of, and for projections that lost their owner. */
const LOOK_EVERY_MS = 2_000;
/** Who counts the events of the log, and watches where projections stand. */
const COUNTER_LOCK = 'log-counter';

/** A bell that is rung from anywhere, and waited for in one place. */
export const openBell = () => {
  let rung = Promise.withResolvers<void>();
  return {
    ring: (): void => rung.resolve(),
    /** Until it is rung, or the time is over. */
    wait: async (ms: number, signal: AbortSignal): Promise<void> => {
      const waited = new AbortController();
      await Promise.race([rung.promise, pause(ms, AbortSignal.any([signal, waited.signal]))]);
      waited.abort();
      rung = Promise.withResolvers<void>();
    },
  };
};
export type Bell = ReturnType<typeof openBell>;

/**
 * Projects in turns. Within a turn, the owned projections follow the log, and jobs that want the tables of one for
 * themselves (a swap, a retry of parked events) run beside it. What changes who follows the log ends the turn: between
 * two turns nobody writes to live tables. Builds and verifications have tables of their own and go on across turns.
 */
export const runTurns = async (dependencies: ProjectorDependencies, bell: Bell): Promise<void> => {
  const { database, eventStore, ownership, log, signal } = dependencies;
  const owned = openOwned(dependencies);
  await using builds = openBuilds(dependencies, bell.ring);
  await using verifications = openVerifications(dependencies);
  let counter: LogCounter | null = null;
  let sampledAtMs = 0;

  /** What the coming turn follows from; when it changes, the turn is over. */
  const planOf = (control: ReadonlyMap<string, Control>): string =>
    JSON.stringify([
      [...owned.names].map((name) => {
        const row = control.get(name);
        return [name, row?.isPaused, String(row?.pauseAt), row?.wantedVersion, row?.hasRetries];
      }),
      builds.ready().filter((name) => owned.names.has(name)),
    ]);

  const keepWatch = async (): Promise<void> => {
    if (counter === null && (await ownership.acquire(COUNTER_LOCK))) counter = await openLogCounter(database);
    await counter?.store(true);
    if (counter === null || performance.now() - sampledAtMs < SAMPLE_EVERY_MS) return;
    sampledAtMs = performance.now();
    await watchProjections(database, log);
    for (const name of await readLongReplaced(database)) await dropReplaced(database, name);
  };

  /** Looks for requests; answers whether the turn is over. */
  const look = async (plan: string): Promise<boolean> => {
    const control = await readControl(database);
    const isMore = await owned.takeOver(control);
    await builds.look(control, owned.names);
    await verifications.look(control);
    await keepWatch();
    return isMore || planOf(control) !== plan;
  };

  const stopsOf = (control: ReadonlyMap<string, Control>, names: readonly string[]): Stop[] =>
    names.flatMap((name) => {
      const at = control.get(name)?.pauseAt ?? null;
      if (at === null) return [];
      const reached = async (): Promise<void> => {
        await database.query(
          'update projector.projection set is_paused = true where name = $1 and pause_at = $2',
          [name, at],
        );
      };
      return [{ at, reached }];
    });

  /** What wants the tables of a projection for itself. */
  const jobsOf = (control: ReadonlyMap<string, Control>): ReadonlyMap<string, () => Promise<void>> => {
    const jobs = new Map<string, () => Promise<void>>();
    for (const name of owned.names) {
      const one = owned.running.get(name);
      if (builds.ready().includes(name)) jobs.set(name, () => builds.finish(name));
      else if (one && control.get(name)?.hasRetries)
        jobs.set(name, () => retryParked(dependencies, one.target));
    }
    return jobs;
  };

  const runTurn = async (): Promise<void> => {
    await owned.giveUp(await readControl(database));
    await owned.takeOver(await readControl(database));
    await owned.open();
    await keepWatch();
    const control = await readControl(database);
    const plan = planOf(control);
    const jobs = jobsOf(control);
    const following = [...owned.running]
      .filter(([name]) => !jobs.has(name) && !control.get(name)?.isPaused)
      .map(([, one]) => one);
    const lanes = lanesOf(following, counter, counter === null ? 0n : await eventStore.head());
    const turn = new AbortController();
    const over = AbortSignal.any([signal, turn.signal]);
    let caughtUp = 0;
    const onCaughtUp = (): void => {
      caughtUp += 1;
      if (lanes.length > 1 && caughtUp > 1) turn.abort();
    };
    const watch = async (): Promise<void> => {
      while (!over.aborted) {
        if (await look(plan)) return;
        await bell.wait(LOOK_EVERY_MS, over);
      }
    };
    const tasks = [
      watch(),
      ...lanes.map((lane) => {
        const names = lane.running.map(({ target }) => target.projection.name);
        return runLane(dependencies, lane, stopsOf(control, names), over, onCaughtUp);
      }),
      ...[...jobs].map(([name, job]) => job().finally(() => owned.close(name))),
    ];
    // Whichever ends first ends the turn. All are awaited: none may still be writing when the next begins.
    const outcomes = await Promise.allSettled(tasks.map((task) => task.finally(() => turn.abort())));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  };

  while (!signal.aborted) await runTurn();
};
