import { Cron } from 'croner';
import { type Clock, pause } from '#platform/clock.ts';
import { executeCommand, eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import type { ProjectionWait } from '#application/commands/projection-wait.ts';
import type { Event } from '#contracts/events/event.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Decider } from '#domain/decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { randomUUID } from 'node:crypto';

/** Jobs that read whole read models and append events to documents of workspaces. */

const BEHIND_STEP_MS = 1_000;
const BEHIND_STEPS_UNTIL_WARNED = 30;
const RETRY_MS = 60_000;

export type JobDependencies = {
  readonly db: ReadDatabase;
  readonly eventStore: EventStore;
  readonly projectionWait: ProjectionWait;
  readonly clock: Clock;
  readonly log: Log;
};

/** Waits until the read models have passed the end of the log, and returns it. Returns early on shutdown. */
export const waitUntilProjected = async (
  { eventStore, projectionWait, log }: JobDependencies,
  readModels: readonly string[],
  signal: AbortSignal,
): Promise<bigint> => {
  const head = await eventStore.head();
  for (let step = 1; !signal.aborted; step += 1) {
    if (await projectionWait.wait(readModels, head, BEHIND_STEP_MS)) break;
    if (step === BEHIND_STEPS_UNTIL_WARNED) log.warn({ readModels }, 'job delayed; read models lag behind');
  }
  return head;
};

/** Returns how many events were appended. */
export const appendDecided = async <State, E extends Event>(
  { eventStore }: Pick<JobDependencies, 'eventStore'>,
  workspaceId: string,
  command: {
    readonly stream: string;
    readonly decider: Decider<State, E>;
    readonly decision: (state: State) => readonly E[];
  },
): Promise<number> => {
  const commandId = randomUUID();
  const metadata = eventMetadata({
    actor: serviceActor('worker'),
    correlationId: commandId,
    causationId: commandId,
    workspaceId,
  });
  return (await executeCommand(eventStore, { ...command, metadata, commandId })).events.length;
};

/** Runs at the times of the cron expression (UTC), again after a failure, and never twice at once. */
export const scheduleRetried = (
  {
    cron,
    failure,
    log,
    signal,
  }: {
    readonly cron: string;
    /** Log message. */
    readonly failure: string;
    readonly log: Log;
    readonly signal: AbortSignal;
  },
  work: () => Promise<unknown>,
): AsyncDisposable & { readonly runNow: () => void } => {
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await work();
        return;
      } catch (error) {
        log.warn({ reason: (error as Error).message }, failure);
        await pause(RETRY_MS, signal);
      }
    }
  };
  const runNow = (): void => {
    running ??= run().finally(() => {
      running = undefined;
    });
  };
  const job = new Cron(cron, { timezone: 'UTC' }, runNow);
  return {
    runNow,
    [Symbol.asyncDispose]: async () => {
      job.stop();
      await running;
    },
  };
};
