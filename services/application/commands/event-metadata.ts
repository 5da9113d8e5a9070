import type { Actor, CommandMetadata } from '#contracts/events/event.ts';

/** The actor of a process that acts on its own: `ingest`, `worker`, `delivery`. */
export const serviceActor = (id: string): Actor => ({ kind: 'service', id });

/**
 * Builds the metadata of the events of one command. `requestId` defaults to the correlation id: a command without a
 * request of its own is found by what it belongs to.
 */
export const eventMetadata = (command: {
  readonly actor: Actor;
  /** What the command belongs to: the request, the scan, the report. */
  readonly correlationId: string;
  /** What caused the events: the command itself, as a rule. */
  readonly causationId: string;
  readonly requestId?: string;
  /** Absent for events of the corpus, which belong to no workspace. */
  readonly workspaceId?: string;
}): CommandMetadata => ({
  $correlationId: command.correlationId,
  $causationId: command.causationId,
  request_id: command.requestId ?? command.correlationId,
  actor: command.actor,
  ...(command.workspaceId === undefined ? {} : { workspace_id: command.workspaceId }),
});
