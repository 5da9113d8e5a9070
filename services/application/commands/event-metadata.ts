import type { Actor, CommandMetadata } from '#contracts/events/event.ts';

/** For a process that acts on its own: `ingest`, `worker`, `delivery`. */
export const serviceActor = (id: string): Actor => ({ kind: 'service', id });

/** Only commands of API requests have a `requestId`; others are found by the correlation id. */
export const eventMetadata = (command: {
  readonly actor: Actor;
  /** Id of the request, scan or report that the command belongs to. */
  readonly correlationId: string;
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
