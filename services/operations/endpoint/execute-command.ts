import type { Event } from '#contracts/events/event.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type {
  WorkspaceCommand,
  WorkspaceCommands,
  WorkspaceResult,
} from '#application/commands/workspace-commands.ts';

/** Actor, workspace, request id and command id default to those of the call. */
export type CallCommand<State, E extends Event> = Pick<
  WorkspaceCommand<State, E>,
  'stream' | 'decider' | 'decision' | 'shownIn' | 'isShared'
> & {
  /** Must be unique, because event ids are derived from it. Required for a second command of the same call. */
  readonly commandId?: string;
};

/** Runs a command and waits until the read models show its result. Throws the refusal of the decision. */
export type ExecuteCommand = <State, E extends Event>(
  command: CallCommand<State, E>,
) => Promise<WorkspaceResult<State, E>>;

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
      actor: { kind: call.caller.kind, id: call.caller.keyId },
      requestId: call.requestId,
      commandId: call.commandId,
      mayRepeat: call.mayRepeat,
      ...command,
    });
