import type { Event } from '#contracts/events/event.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type {
  WorkspaceCommand,
  WorkspaceCommands,
  WorkspaceResult,
} from '#application/commands/workspace-commands.ts';

/** A command of a call. Workspace, actor, request and command ids are the call's own unless they are given. */
export type CallCommand<State, E extends Event> = Pick<
  WorkspaceCommand<State, E>,
  'stream' | 'decider' | 'decision' | 'shownIn' | 'isShared'
> & {
  /** For a second command of the same call: event ids follow from it, so it must be another than the call's. */
  readonly commandId?: string;
};

/** Runs a command of a call and waits until its outcome can be relied on. Throws the decision's refusals. */
export type ExecuteCommand = <State, E extends Event>(
  command: CallCommand<State, E>,
) => Promise<WorkspaceResult<State, E>>;

/** Creates the `execute` of one call. */
export const createExecute =
  (
    workspaceCommands: WorkspaceCommands,
    call: {
      readonly caller: Caller;
      readonly requestId: string;
      readonly commandId: string;
      readonly mayRepeat: boolean;
    },
  ): ExecuteCommand =>
  (command) =>
    workspaceCommands.execute({
      workspaceId: call.caller.workspaceId,
      actor: { kind: 'api_key', id: call.caller.keyId },
      requestId: call.requestId,
      commandId: call.commandId,
      mayRepeat: call.mayRepeat,
      ...command,
    });
