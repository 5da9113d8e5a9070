import { API_KEYS, type ApiKeyIssued, WORKSPACE } from '#contracts/events/workspace/workspace.ts';
import { CONNECTION } from '#contracts/events/workspace/connection.ts';
import { Refusal } from '#contracts/errors.ts';
import { type Actor, categoryOf, type Event } from '#contracts/events/event.ts';
import type { Decider } from '#domain/decider.ts';
import { pause } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { inSpan } from '#platform/telemetry/tracing.ts';
import { applyIssuedKey, applyRecorded } from '../access/access-tables.ts';
import { LEASE_PASSED_MS } from '../access/key-lease-cache.ts';
import { type CommandHandler, createCommandHandler, eventMetadata } from './command-handler.ts';
import type { ProjectionWait } from './projection-wait.ts';

/** The command replies only when every process has dropped the old right. */
const REVOKING: ReadonlySet<string> = new Set([
  'ApiKeyRevoked',
  'AppDisconnected',
  'MemberErased',
  'MemberRoleChanged',
  'PlanChanged',
]);

export const ACCESS_CATEGORIES: ReadonlySet<string> = new Set([API_KEYS, CONNECTION, WORKSPACE]);

/** A command may be repeated after this when its events are not applied yet. */
const RETRY_AFTER_SECONDS = 3;

const notApplied = (): Refusal =>
  new Refusal(
    'overloaded',
    'The change is recorded, but it does not apply to all requests yet. It takes effect soon. Repeat the request, a POST with the same `Idempotency-Key`, to be sure.',
    [],
    RETRY_AFTER_SECONDS,
  );

export type WorkspaceCommand<State, E extends Event> = {
  readonly workspaceId: string;
  readonly stream: string;
  readonly decider: Decider<State, E>;
  readonly decision: (state: State) => readonly E[];
  readonly actor: Actor;
  readonly requestId: string;
  readonly commandId: string;
  readonly mayRepeat: boolean;
  readonly isShared?: boolean;
  /** The reply waits for these projections. */
  readonly shownIn: readonly string[];
};

export type WorkspaceResult<State, E extends Event> = {
  readonly state: State;
  /** Empty when the state was already as the command asks for. */
  readonly events: readonly E[];
  /** `null` when the server does not tell. */
  readonly position: bigint | null;
  /** Id of the last event of the stream, if it is known. */
  readonly eventId: string | undefined;
  /** False when the wait timed out. */
  readonly isShown: boolean;
};

export type WorkspaceCommands = Pick<CommandHandler, 'load'> & {
  /** Throws the decision's refusals. */
  execute<State, E extends Event>(command: WorkspaceCommand<State, E>): Promise<WorkspaceResult<State, E>>;
};

/**
 * Complete when events are appended, key events applied to the access tables, revoked rights out of every cache, and
 * projections show the outcome. The last wait has a limit, which is not an error.
 */
export const createWorkspaceCommands = (dependencies: {
  readonly eventStore: EventStore;
  readonly pool: Database;
  readonly projectionWait: ProjectionWait;
}): WorkspaceCommands => {
  const { eventStore, pool, projectionWait } = dependencies;
  const handler = createCommandHandler(eventStore);

  /**
   * Also when nothing was recorded: the process that did so may have died before the fold. Throws `overloaded` when the
   * event store lags; the access subscription applies it later.
   */
  const foldAccess = async (stream: string, events: readonly Event[], revision: bigint): Promise<void> => {
    const [event] = events;
    const isFolded =
      events.length === 1 &&
      event?.type === 'ApiKeyIssued' &&
      (await applyIssuedKey(pool, stream, event as ApiKeyIssued, revision));
    if (!isFolded && !(await applyRecorded(pool, eventStore, stream, revision))) throw notApplied();
    if (events.length === 0 || events.some(({ type }) => REVOKING.has(type))) await pause(LEASE_PASSED_MS);
  };

  return {
    load: (stream, decider) => handler.load(stream, decider),
    execute: async (command) => {
      const { stream, workspaceId, actor, requestId, commandId, shownIn } = command;
      const metadata = eventMetadata({
        actor,
        correlationId: requestId,
        causationId: commandId,
        workspaceId,
      });
      const { state, events, position, revision, eventId } = await handler.execute({ ...command, metadata });
      const [isShown] = await Promise.all([
        position > 0n &&
          inSpan('wait for read models', { attributes: { projections: shownIn.join() } }, () =>
            projectionWait.wait(shownIn, position),
          ),
        ACCESS_CATEGORIES.has(categoryOf(stream)) && foldAccess(stream, events, revision),
      ]);
      return { state, events, position: position > 0n ? position : null, eventId, isShown };
    },
  };
};
