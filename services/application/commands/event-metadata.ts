import type { Actor, CommandMetadata } from '#contracts/events/event.ts';

/** The actor of a process that acts on its own: `ingest`, `worker`, `delivery`. */
export const serviceActor = (id: string): Actor => ({ kind: 'service', id });

/**
 * Builds the metadata of the events of one command. Only commands of API requests have a `requestId`; others are found
 * by their correlation id, which is the default.
 */
export const eventMetadata = (command: {
  readonly actor: Actor;
  /** Id of the request, scan or report that the command belongs to. */
  readonly correlationId: string;
  /** Id of the cause of the events: as a rule the command's own. */
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
